"""Reads JSON of any size value by value, so that memory holds one of its nodes or edges at a time."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeAlias

from kgnav_mcp.adapters.embedded.loading.guard import LONGEST_TEXT
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader
from kgnav_mcp.errors import BadLine

JsonPath: TypeAlias = tuple[str, ...]
"""The position of a value: the keys that lead to it, with ITEM for an item of an array."""

ITEM = "[]"
_BLOCK = 1 << 18
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class JsonStream:
    """The values of a JSON source."""

    def __init__(self, source: Source, reader: SourceReader) -> None:
        self._source = source
        self._reader = reader
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._place = 0
        self._counted = 0
        """Place in the text up to which line ends were counted."""
        self._line = 1
        self._ended = False

    def values(
        self, enter: Callable[[JsonPath], bool], *, several: bool = False
    ) -> Iterator[tuple[int, JsonPath, object]]:
        """Yields line, path and value of each value. A container for which `enter` is true is replaced by its members.

        `several`: the source may have one value after the other, such as one per line.

        Raises:
            BadLine: it is not valid JSON, or a value that is not entered is too long.
        """
        yield from self._value((), enter)
        while self._peek():
            if several:
                yield from self._value((), enter)
                continue
            self._refuse("a second value follows the first")

    def _value(self, path: JsonPath, enter: Callable[[JsonPath], bool]) -> Iterator[tuple[int, JsonPath, object]]:
        first = self._peek()
        if first in {"{", "["} and enter(path):
            self._place += 1
            yield from self._members(path, enter, "}" if first == "{" else "]")
        else:
            line = self.line
            yield line, path, self._whole_value()

    def _members(
        self, path: JsonPath, enter: Callable[[JsonPath], bool], closing: str
    ) -> Iterator[tuple[int, JsonPath, object]]:
        if self._peek() == closing:
            self._place += 1
            return
        while True:
            name = ITEM
            if closing == "}":
                key = self._whole_value()
                if not isinstance(key, str) or self._peek() != ":":
                    self._refuse("a key and a colon are expected")
                name = key
                self._place += 1
            yield from self._value((*path, name), enter)
            character = self._peek()
            self._place += 1
            if character == closing:
                return
            if character != ",":
                self._refuse(
                    f"a comma or {closing} is expected"
                    if character
                    else "the text ends too early; the file is truncated"
                )

    @property
    def line(self) -> int:
        """The line of the next value."""
        self._line += self._text.count("\n", self._counted, self._place)
        self._counted = self._place
        return self._line

    def _peek(self) -> str:
        """Passes white space, and returns the next character; empty at the end."""
        while True:
            text, place = self._text, self._place
            while place < len(text) and text[place] in _SPACE:
                place += 1
            self._place = place
            if place < len(text):
                return text[place]
            if not self._more():
                return ""

    def _whole_value(self) -> object:
        self._peek()
        size = 1
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                left = len(self._text) - self._place
                if left > LONGEST_TEXT:
                    self._refuse(f"a value is invalid JSON, or longer than {LONGEST_TEXT // 2**20} MB: {error.msg}")
                if not self._more(size):
                    self._refuse(
                        f"invalid JSON: {error.msg}" if left else "the text ends too early; the file is truncated"
                    )
            except RecursionError:
                self._refuse("a value is nested too deeply")
            else:
                if end < len(self._text) or not self._more():
                    self._check_surrogates(value, end)
                    self._place = end
                    return value
            size *= 2

    def _more(self, blocks: int = 1) -> bool:
        """Reads on, and forgets what was read before. Returns whether there was more."""
        if self._ended:
            return False
        block = self._reader.stream.read(_BLOCK * blocks)
        self._ended = not block
        self._reader.entry_bytes += len(block)
        try:
            text = self._decode.decode(block, final=not block)
        except UnicodeDecodeError:
            self._refuse("it is not UTF-8 after this line")
        if self._ended:
            return False
        self._line = self.line
        self._text = self._text[self._place :] + text
        self._place = self._counted = 0
        return True

    def _check_surrogates(self, value: object, end: int) -> None:
        if "\\u" in self._text[self._place : end]:
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                self._refuse("half a character is escaped (a lone surrogate)")

    def _refuse(self, reason: str) -> NoReturn:
        raise BadLine(self._source.name, self.line, reason, next_step="Correct the line, or write the file again.")
