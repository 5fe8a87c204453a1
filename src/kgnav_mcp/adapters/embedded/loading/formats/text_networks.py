"""Reads networks in GML, as networkx, igraph, Gephi and yEd write it, and in Pajek's format.

Nodes of Pajek are named by their labels and have their numbers as ids.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import TypeAlias, cast

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import text
from kgnav_mcp.adapters.embedded.loading.guard import LONGEST_TEXT, MAX_DEPTH
from kgnav_mcp.adapters.embedded.loading.network import (
    Edge,
    EdgesAreUndirected,
    Node,
    network_format,
    number_or_text,
    typed,
)
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import NOT_UTF8, Source, SourceReader, blocks, lines
from kgnav_mcp.errors import BadLine
from kgnav_mcp.values.scalars import is_number

Values: TypeAlias = "dict[str, object]"

_TOKEN = re.compile(r'\s*(?:#[^\n]*\n\s*)*(?:"([^"]*)"|([^\s\[\]"]+)(?=[\s\[\]])|([\[\]]))')
_FOR_DRAWING = frozenset(("graphics", "LabelGraphics"))
_CORRECT = "Correct the line."
_CORRECT_ENCODING = "Correct the line, or give the encoding: --encoding NAME."


@dataclass(slots=True)
class _List:
    """A list of keys and values that is being read: `key [ ... ]`."""

    key: str
    line: int
    values: Values = field(default_factory=dict[str, object])


class _Gml:
    """Parses GML token by token. Nodes and edges are yielded at their closing bracket."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._open = [_List("", 1)]
        self._key: str | None = None
        self._directed = False
        self._line = 1

    def read_entries(self, reader: SourceReader) -> Iterator[tuple[int, Node | Edge | EdgesAreUndirected]]:
        rest, first = "", 1
        for block in blocks(self._source, reader):
            reader.entry_bytes += len(block)
            rest += self._decode(block, first)
            first += block.count(b"\n")
            end = 0
            # A token that may go on in the next block is left for it: a text without its end, a word at the end.
            for token in _TOKEN.finditer(rest):
                if token.start() != end:
                    break
                self._line += rest.count("\n", end, token.end())
                end = token.end()
                entry = self._take(*token.groups())
                if entry is not None:
                    yield entry
            rest = rest[end:]
            if len(rest) > LONGEST_TEXT:
                self._refuse(f"a text here is longer than {LONGEST_TEXT // 2**20} MB")
        if rest.strip() and not rest.lstrip().startswith("#"):
            self._refuse("this is not GML")
        if len(self._open) > 1:
            self._line = self._open[-1].line
            self._refuse(f"the list {self._open[-1].key} has no end; the file may be cut short")
        if not self._directed:
            yield self._line, EdgesAreUndirected()

    def _decode(self, block: bytes, first: int) -> str:
        try:
            return block.decode("utf-8-sig" if first == 1 else "utf-8")
        except UnicodeDecodeError as error:
            line = first + block.count(b"\n", 0, error.start)
            raise BadLine(self._source.name, line, NOT_UTF8, next_step=_CORRECT_ENCODING) from error

    def _take(self, quoted: str | None, word: str | None, bracket: str | None) -> tuple[int, Node | Edge] | None:
        if bracket == "]":
            if self._key is not None or len(self._open) == 1:
                self._refuse("unexpected closing bracket, or a key without a value")
            return self._close(self._open.pop())
        if self._key is None:
            if word is None:
                self._refuse("a key is expected")
            self._key = word
            return None
        key, self._key = self._key, None
        if bracket == "[":
            if len(self._open) > MAX_DEPTH:
                self._refuse(f"more than {MAX_DEPTH:,} lists are nested within each other")
            self._open.append(_List(key, self._line))
            return None
        value = html.unescape(quoted) if quoted is not None else number_or_text(cast("str", word))
        if key == "directed" and len(self._open) == 2:
            self._directed = value == 1
        else:
            _add(self._open[-1].values, key, value)
        return None

    def _close(self, closed: _List) -> tuple[int, Node | Edge] | None:
        values, is_entry = closed.values, len(self._open) == 2
        if is_entry and closed.key == "node":
            return closed.line, Node(values.pop("id", None), values)
        if is_entry and closed.key == "edge":
            return closed.line, Edge(values.pop("source", None), values.pop("target", None), values)
        if len(self._open) > 2 and closed.key not in _FOR_DRAWING:
            _add(self._open[-1].values, closed.key, values)
        return None

    def _refuse(self, reason: str) -> None:
        raise BadLine(self._source.name, self._line, reason, next_step=_CORRECT)


def _add(values: Values, key: str, value: object) -> None:
    """Adds a value. A key that is there twice has a list of values."""
    if key not in values:
        values[key] = value
    elif isinstance(several := values[key], list):
        cast("list[object]", several).append(value)
    else:
        values[key] = [several, value]


def _gml_entries(
    source: Source, reader: SourceReader, _: LoadProblems
) -> Iterator[tuple[int, Node | Edge | EdgesAreUndirected]]:
    return _Gml(source).read_entries(reader)


GML = network_format(
    "gml",
    "GML",
    (".gml",),
    text(rb"(?:(?:#|Creator|Version|comment|directed)[^\n]*\n\s*)*graph\s*\["),
    _gml_entries,
    other_encoding="latin-1",  # of GML's definition, which knows no other
)


_FIELD = re.compile(r'"([^"]*)"|(\S+)')
_SECTION = re.compile(r'\*(\w+)\s*:?\s*(\d+)?\s*(?:"([^"]*)"|(\S+))?', re.IGNORECASE)
_COORDINATES = ("x", "y", "z")
_LABEL = "l"
"""The parameter with the label of an edge. It stays a text, even if it looks like a number: `007`."""


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
                yield from self._matrix_row(number, fields)
            case "network":
                pass
            case _:
                self._refuse(number, "a line of a network is expected below *Vertices, *Arcs or *Edges")

    def end(self) -> Iterator[Node]:
        """Yields the nodes that have no line."""
        return self._missing_nodes(self._nodes + 1)

    def _begin(self, number: int, line: str) -> None:
        section = _SECTION.match(line)
        self._section = section[1].lower() if section else ""
        if section is None or self._section not in _SECTIONS:
            self._refuse(
                number, f"the section {line.split(maxsplit=1)[0]} is not read; a network has {', '.join(_SECTIONS)}"
            )
            return
        if self._section == "vertices":
            if self._nodes:
                self._refuse(number, "a second network begins, and one is read")
            self._nodes = int(section[2] or 0)
        self._row = 0
        self._relation = (section[3] or section[4]) if self._section not in {"vertices", "network"} else None
        if self._relation is None and section[2] and self._section not in {"vertices", "network"}:
            self._relation = section[2]

    def _vertex(self, number: int, fields: list[str]) -> Iterator[Node]:
        key = fields[0]
        if not key.isdecimal() or not self._next_node <= int(key) <= self._nodes:
            self._refuse(number, f"a number from {self._next_node:,} to {self._nodes:,} is expected, not {key[:40]!r}")
        yield from self._missing_nodes(int(key))
        self._next_node += 1
        attributes: dict[str, object] = {"label": fields[1]} if len(fields) > 1 else {}
        rest = fields[2:]
        numbers = list(takewhile(is_number, rest[:3]))
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
        if rest and is_number(rest[0]):
            attributes["weight"] = number_or_text(rest[0])
            rest = rest[1:]
        parameters = _parameters(rest)
        relation = self._relation
        if _LABEL in parameters:
            label = str(parameters.pop(_LABEL))
            relation, attributes["label"] = (relation, label) if relation else (label, None)
        return Edge(start, end, attributes | parameters, self._section == "arcs", relation)

    def _matrix_row(self, number: int, fields: list[str]) -> Iterator[Edge]:
        self._row += 1
        for column, cell in enumerate(fields, 1):
            if not is_number(cell):
                self._refuse(number, f"a matrix has numbers only, not {cell[:40]!r}")
            if (weight := number_or_text(cell)) != 0:
                yield Edge(self._row, column, {"weight": weight}, relation=self._relation)

    def _refuse(self, number: int, reason: str) -> None:
        raise BadLine(self._source.name, number, reason, next_step="Correct the line.")


_SECTIONS = ("network", "vertices", "arcs", "edges", "arcslist", "edgeslist", "matrix")


def _parameters(fields: list[str]) -> dict[str, object]:
    """The pairs of names and values behind a node or an edge."""
    return {name: value if name == _LABEL else number_or_text(value) for name, value in [*pairwise(fields)][::2]}


def _pajek_entries(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, Node | Edge]]:
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
    _pajek_entries,
    other_encoding="cp1252",
)
