"""Pajek's networks. Nodes are named by their labels and have their numbers as ids.

Coordinates, shapes and other parameters for drawing are properties, under the names that Pajek and networkx give them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import text
from kgnav_mcp.adapters.embedded.loading.headers import NUMBER
from kgnav_mcp.adapters.embedded.loading.network import Edge, Node, network_format, typed
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader, lines
from kgnav_mcp.errors import BadLine

_FIELD = re.compile(r'"([^"]*)"|(\S+)')
_SECTION = re.compile(r'\*(\w+)\s*:?\s*(\d+)?\s*(?:"([^"]*)"|(\S+))?', re.IGNORECASE)
_COORDINATES = ("x", "y", "z")


class _Pajek:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._section = ""
        self._relation: str | None = None
        self._nodes = 0
        self._next_node = 1
        self._row = 0

    def line(self, number: int, line: str) -> Iterator[Node | Edge]:
        """Yields the nodes or edges of a line."""
        if line.startswith("*"):
            yield from self._missing_nodes(self._nodes + 1)
            self._begin(number, line)
            return
        fields = [quoted or word for quoted, word in _FIELD.findall(line)]
        match self._section:
            case "vertices":
                yield from self._vertex(number, fields)
            case "arcs" | "edges":
                yield self._edge(fields)
            case "arcslist" | "edgeslist":
                for end in fields[1:]:
                    yield Edge(fields[0], end, {}, self._section == "arcslist", self._relation)
            case "matrix":
                self._row += 1
                for column, field in enumerate(fields, 1):
                    if (weight := _value(field)) != 0:
                        yield Edge(self._row, column, {"weight": weight}, relation=self._relation)
            case "network":
                pass
            case _:
                self._refuse(number, "a line of a network is expected below *Vertices, *Arcs or *Edges")

    def end(self) -> Iterator[Node]:
        """Yields the nodes that have no line."""
        return self._missing_nodes(self._nodes + 1)

    def _begin(self, number: int, line: str) -> None:
        found = _SECTION.match(line)
        self._section = found[1].lower() if found else ""
        if found is None or self._section not in _SECTIONS:
            self._refuse(
                number, f"the section {line.split(maxsplit=1)[0]} is not read; a network has {', '.join(_SECTIONS)}"
            )
            return
        if self._section == "vertices":
            if self._nodes:
                self._refuse(number, "a second network begins, and one is read")
            self._nodes = int(found[2] or 0)
        self._row = 0
        self._relation = (found[3] or found[4]) if self._section not in {"vertices", "network"} else None
        if self._relation is None and found[2] and self._section not in {"vertices", "network"}:
            self._relation = found[2]

    def _vertex(self, number: int, fields: list[str]) -> Iterator[Node]:
        key = fields[0]
        if not key.isdecimal() or not self._next_node <= int(key) <= self._nodes:
            self._refuse(number, f"a number from {self._next_node:,} to {self._nodes:,} is expected, not {key[:40]!r}")
        yield from self._missing_nodes(int(key))
        self._next_node += 1
        attributes: dict[str, object] = {"label": fields[1]} if len(fields) > 1 else {}
        rest = fields[2:]
        numbers = list(takewhile(NUMBER.fullmatch, rest[:3]))
        attributes |= {name: typed(number, "float") for name, number in zip(_COORDINATES, numbers, strict=False)}
        rest = rest[len(numbers) :]
        if len(rest) % 2:
            attributes["shape"], *rest = rest
        yield Node(key, attributes | _parameters(rest))

    def _missing_nodes(self, end: int) -> Iterator[Node]:
        for key in range(self._next_node, end):
            yield Node(str(key))
        self._next_node = max(end, self._next_node)

    def _edge(self, fields: list[str]) -> Edge:
        if len(fields) < 2:
            raise ValueError("two nodes are expected")
        start, end, *rest = fields
        attributes: dict[str, object] = {}
        if rest and NUMBER.fullmatch(rest[0]):
            attributes["weight"] = _value(rest[0])
            rest = rest[1:]
        given = _parameters(rest)
        relation = self._relation
        if "l" in given:  # the label of the line
            label = str(given.pop("l"))
            relation, attributes["label"] = (relation, label) if relation else (label, None)
        return Edge(start, end, attributes | given, self._section == "arcs", relation)

    def _refuse(self, number: int, reason: str) -> None:
        raise BadLine(self._source.name, number, reason, next_step="Correct the line.")


_SECTIONS = ("network", "vertices", "arcs", "edges", "arcslist", "edgeslist", "matrix")


def _parameters(fields: list[str]) -> dict[str, object]:
    """The pairs of names and values behind a node or an edge."""
    return {name: _value(value) for name, value in [*pairwise(fields)][::2]}


def _value(field: str) -> object:
    whole = typed(field, "int")
    return whole if isinstance(whole, int) else typed(field, "float")


def _entries(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, Node | Edge]]:
    network = _Pajek(source)
    number = 0
    for number, line in lines(source, reader, problems):
        if line.strip() and not line.startswith("%"):
            for entry in network.line(number, line.strip()):
                yield number, entry
    for entry in network.end():
        yield number, entry


PAJEK = network_format(
    "pajek",
    "a Pajek network",
    (".net", ".paj"),
    text(rb"(?:%[^\n]*\n\s*)*\*(?:Vertices|Network)\b"),
    _entries,
    other_encoding="cp1252",
)
