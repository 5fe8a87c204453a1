"""Reads TriX, which pyoxigraph does not support: triples in XML, grouped by graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NoReturn

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader
from kgnav_mcp.adapters.embedded.loading.xml_guard import XmlGuard

_TERMS = frozenset(("uri", "id", "plainLiteral", "typedLiteral"))
_ALLOWED_CHILDREN = {
    "": frozenset(("TriX", "trix")),
    "TriX": frozenset(("graph",)),
    "trix": frozenset(("graph",)),
    "graph": frozenset(("uri", "id", "triple")),
    "triple": _TERMS,
}
"""Allowed child elements by element."""

Term = ox.NamedNode | ox.BlankNode | ox.Literal


class TriX(XmlGuard):
    """Parses the triples of a TriX source. Names of graphs are ignored."""

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._parser.CharacterDataHandler = self.text
        self._open_elements = [""]
        self._attributes: Mapping[str, str] = {}
        self._parts: list[str] = []
        self._terms: list[Term] = []
        self._quads: list[ox.Quad] = []

    def quads(self) -> Iterator[ox.Quad]:
        """Yields all triples in source order.

        Raises:
            BadLine: the source is no TriX, or a text in it is too long.
        """
        while self.block():
            yield from self._quads
            self._quads.clear()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        super().opened(name, attributes)
        local = name.rpartition(":")[2]
        if local not in _ALLOWED_CHILDREN.get(self._open_elements[-1], ()):
            self._refuse_trix(f"an element {local} cannot stand here")
        self._open_elements.append(local)
        self._attributes = attributes
        self._parts.clear()

    def closed(self, name: str) -> None:
        element = self._open_elements.pop()
        if element in _TERMS and self._open_elements[-1] == "triple":
            try:
                self._terms.append(self._term(element, "".join(self._parts)))
            except ValueError as error:
                self._refuse_trix(str(error))
        elif element == "triple":
            self._add_triple()
        super().closed(name)

    def text(self, text: str) -> None:
        super().text(text)
        self._parts.append(text)

    def _term(self, element: str, text: str) -> Term:
        match element:
            case "uri":
                return ox.NamedNode(text.strip())
            case "id":
                return ox.BlankNode(text.strip())
            case "plainLiteral":
                return ox.Literal(text, language=self._attributes.get("xml:lang"))
            case _:
                return ox.Literal(text, datatype=ox.NamedNode(self._attributes.get("datatype", "")))

    def _add_triple(self) -> None:
        match self._terms:
            case [ox.NamedNode() | ox.BlankNode() as head, ox.NamedNode() as relation, tail]:
                self._quads.append(ox.Quad(head, relation, tail))
            case _:
                self._refuse_trix("these are not the three terms of a triple")
        self._terms.clear()

    def _refuse_trix(self, reason: str) -> NoReturn:
        self._set_line()
        self.refuse(f"this is no TriX: {reason}", next_step="Mend the line.")
