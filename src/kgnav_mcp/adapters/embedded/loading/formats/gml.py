"""GML, as networkx, igraph, Gephi and yEd write it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import text
from kgnav_mcp.adapters.embedded.loading.guard import LONGEST_TEXT, MAX_DEPTH
from kgnav_mcp.adapters.embedded.loading.network import Edge, EdgesAreUndirected, Node, network_format
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import NOT_UTF8, Source, SourceReader, blocks
from kgnav_mcp.errors import BadLine

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
            reader.given += len(block)
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
            self._refuse("this is no GML")
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
        value = html.unescape(quoted) if quoted is not None else _number(cast("str", word))
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


def _number(word: str) -> object:
    for convert in (int, float):
        try:
            return convert(word)
        except ValueError:
            continue
    return word


def _entries(
    source: Source, reader: SourceReader, _: LoadProblems
) -> Iterator[tuple[int, Node | Edge | EdgesAreUndirected]]:
    return _Gml(source).read_entries(reader)


GML = network_format(
    "gml",
    "GML",
    (".gml",),
    text(rb"(?:(?:#|Creator|Version|comment|directed)[^\n]*\n\s*)*graph\s*\["),
    _entries,
    other_encoding="latin-1",  # of GML's definition, which knows no other
)
