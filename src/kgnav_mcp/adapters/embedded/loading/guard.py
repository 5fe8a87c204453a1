"""Guards: check a source before its parser reads it, to limit the length of texts and the depth of nesting.

The parsers are native code. They keep a text in memory until it ends, and an entry for each open bracket. In some of
them, time or memory grows with the square of the depth, and very deep nesting crashes the process. A guard reads a
block of the source, then refuses it or passes it on. It counts lines, so that an error can name one.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from contextlib import suppress
from itertools import accumulate, islice
from typing import NoReturn, cast

from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader
from kgnav_mcp.errors import BadLine

LONGEST_TEXT = 16 * 1024 * 1024
"""Bytes of a literal, comment or tag, at most. This is the limit of pyoxigraph's Turtle parser."""

DEEPEST = 1000
"""Levels of nesting, at most. An `rdf:List` of 500 items written in full has as many; nothing else comes near."""

MOST_PREFIXES = 10_000
"""Prefixes that are kept of those that the sources of a load declare, at most."""

_BLOCK = 1 << 18
"""Bytes checked at a time."""


class Tokens:
    """The tokens of a language within which brackets have no meaning, as pyoxigraph's lenient mode reads them.

    `inert` is a pattern for these tokens; `begin` has the bytes that such a token may start with.
    """

    def __init__(self, inert: bytes, begin: bytes) -> None:
        self._inert = re.compile(inert, re.DOTALL)
        self._or_quoted = re.compile(inert + b"|(<<)", re.DOTALL)
        self._complete = re.compile(b"(?:[^" + begin + b"]++|<<|" + inert + b")*+", re.DOTALL)
        self.with_brackets = re.compile(inert + rb"|([\[({]|<<)|([\])}]|>>)", re.DOTALL)

    def end(self, text: bytes) -> int:
        """Returns the start of the last token if it is incomplete, else the length of the text."""
        found = self._complete.match(text)
        return found.end() if found else 0

    def depths(self, text: bytes) -> tuple[int, int, int]:
        """Returns the number of opening and closing brackets in a text of complete tokens, and its maximum depth."""
        if b"<<" in text:
            code = self._or_quoted.sub(lambda token: b"(" if token[1] else b" ", text)
        else:
            code = self._inert.sub(b" ", text)
        brackets = code.replace(b">>", b")").translate(None, _NO_BRACKETS)
        opened = sum(map(brackets.count, b"([{"))
        return opened, len(brackets) - opened, max(accumulate(map(_STEPS.__getitem__, brackets), initial=0))


def depth(line: bytes) -> int:
    """Returns the maximum depth in a line of N-Triples or N-Quads, where only quoted triples nest."""
    return TURTLE.depths(line)[2]


_STEPS = {ord("("): 1, ord("["): 1, ord("{"): 1, ord(")"): -1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS = bytes(set(range(256)).difference(_STEPS))

TURTLE = Tokens(
    rb'"""(?:[^"\\]++|\\.|"(?!""))*+"""|\'\'\'(?:[^\'\\]++|\\.|\'(?!\'\'))*+\'\'\''
    rb'|"(?:[^"\\]++|\\.)++"|""(?=[^"])|\'(?:[^\'\\]++|\\.)++\'|\'\'(?=[^\'])'
    rb"|<(?!<)[^>\\]*+(?:\\.[^>\\]*+)*+>|#[^\n\r]*+[\n\r]|\\.",
    rb"\"'<#\\",
)
JSON = Tokens(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', b'"')


class Guard(ABC):
    """The checked bytes of a source, as a stream for its parser. `line`: where the part being checked starts."""

    longest = LONGEST_TEXT

    def __init__(self, source: Source, reader: SourceReader) -> None:
        self.prefixes: dict[str, str] = {}
        """Declared prefixes, for formats whose parser does not report them."""
        self.line = 1
        self._source = source
        self._reader = reader
        self._checked: bytes = b""
        self._offset = 0

    def read(self, size: int) -> bytes:
        """Returns the next bytes, at most `size`; empty at the end.

        Raises:
            BadLine: something is too long or too deep.
            OSError, EOFError, zlib.error: the source cannot be read.
        """
        if self._offset == len(self._checked):
            self._checked, self._offset = self.block(), 0
        part = self._checked[self._offset : self._offset + size]
        self._offset += len(part)
        return part

    @abstractmethod
    def block(self) -> bytes:
        """Returns the next checked bytes; empty at the end."""

    def _next(self, size: int = _BLOCK) -> bytes:
        return self._reader.stream.read(size)

    def too_long(self) -> NoReturn:
        """Raises the error for a text that is longer than the limit."""
        self.refuse(
            f"a text here is longer than {self.longest // 2**20} MB",
            next_step="Shorten it or leave it out. In N-Triples, a line may have 64 MB.",
        )

    def too_deep(self, deepest: int) -> NoReturn:
        """Raises the error for too deep nesting."""
        self.refuse(
            f"more than {deepest:,} levels are nested within each other here",
            next_step="Convert the file to N-Triples, which nests nothing.",
        )

    def refuse(self, reason: str, *, next_step: str) -> NoReturn:
        """Raises an error at the current line."""
        raise BadLine(self._source.name, self.line, reason, next_step=next_step)


class BracketGuard(Guard):
    """Counts brackets outside of strings, IRIs and comments. By default those of Turtle, TriG and N3."""

    tokens = TURTLE
    deepest = DEEPEST

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._depth = 0
        self._rest = b""

    def block(self) -> bytes:
        rest_length = len(self._rest)
        # An incomplete token is checked again when there is twice as much of it, or too much.
        text = self._rest + self._next(min(max(_BLOCK, rest_length), self.longest + 1 - rest_length))
        if len(text) == rest_length:
            return b""
        complete = text[: self.tokens.end(text)]
        opened, closed, deepest = self.tokens.depths(complete)
        if self._depth + deepest > self.deepest:
            self._refuse_too_deep(complete)
        self.look_at(complete)
        self._depth += opened - closed
        self.line += complete.count(b"\n")
        self._rest = text[len(complete) :]
        if len(self._rest) > self.longest:
            self.too_long()
        return text[rest_length:]

    def look_at(self, text: bytes) -> None:
        """Checks more than the brackets in a text of complete tokens. For subclasses."""

    def _refuse_too_deep(self, text: bytes) -> None:
        """Raises the error for the first bracket that is too deep, at its line."""
        depth = self._depth
        for token in self.tokens.with_brackets.finditer(text):
            opens, closes = token.groups()
            depth += (opens is not None) - (closes is not None)
            if depth > self.deepest:
                self.line += text.count(b"\n", 0, token.start())
                self.too_deep(self.deepest)


MOST_CONTEXTS = 100
"""JSON-LD contexts that are searched for prefixes, at most. If every item of a list has one, they are all alike."""
_CONTEXT = re.compile(rb'"@context"\s*:\s*(?=[{\[])')
_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S*[/#]")


class JsonLdGuard(BracketGuard):
    """The checked bytes of a JSON-LD source, with prefixes. The parser reports only contexts still open at the end."""

    tokens = JSON
    longest = LONGEST_TEXT // 2  # the limit of its parser
    deepest = 200  # every level may copy a context, however large

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._contexts_left = MOST_CONTEXTS

    def look_at(self, text: bytes) -> None:
        for place in islice(_CONTEXT.finditer(text), self._contexts_left):
            self._contexts_left -= 1
            with suppress(ValueError):  # incomplete, or invalid JSON, for which the parser has a better message
                self._add_prefixes(json.JSONDecoder().raw_decode(text[place.end() :].decode(errors="replace"))[0])

    def _add_prefixes(self, context: object) -> None:
        """Takes the terms of a context that are prefixes. The first definition of a prefix counts."""
        for part in cast("list[object]", context) if isinstance(context, list) else (context,):
            terms = cast("dict[str, object]", part) if isinstance(part, dict) else {}
            for term, iri in terms.items():
                if isinstance(iri, str) and _NAMESPACE.fullmatch(iri) and not term.startswith("@"):
                    self.prefixes.setdefault(term, iri)
