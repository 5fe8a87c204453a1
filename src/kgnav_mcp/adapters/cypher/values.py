"""Property values as readable text, and text parsed into the values that it may mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from kgnav_mcp.model import Literal
from kgnav_mcp.values.comparison import WantedValue

VECTOR_SIZE = 64
"""A list of at least this many floating point numbers is a vector (embedding): only its length is shown."""

_LANGUAGE = re.compile(r"(?P<name>.+)@(?P<language>[A-Za-z]{2,3}(-[A-Za-z0-9]+)*)")
"""`name@nl`: a key for values in a language, as in the headers of files for `kgnav load`."""

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_INTEGER_BOUND = 2**63

Writer = tuple[type | tuple[type, ...], Callable[[Any], str], str | Callable[[Any], str]]
"""For values of some Python types: how to write them as text, and their datatype."""
Reader = Callable[[str], object | None]
"""Parses a text. Returns None, or raises ValueError or OverflowError, if the text is not a value of its kind."""


@lru_cache(maxsize=10_000)
def split_key(key: str) -> tuple[str, str | None]:
    """The property and the language of a key: `name@nl` is `name` in Dutch."""
    match = _LANGUAGE.fullmatch(key)
    return (match["name"], match["language"]) if match else (key, None)


def whole_number(text: str) -> int | None:
    """The integer that a text stands for; None if it is not one, or does not fit into 64 bits."""
    return int(text) if _INTEGER.fullmatch(text) and -_INTEGER_BOUND <= int(text) < _INTEGER_BOUND else None


def number(value: float) -> str:
    """A floating point number as text."""
    return str(value) if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")


def vector(length: int) -> Literal:
    """A vector as it is shown: by its length only."""
    return Literal(f"vector of {length:,} numbers", "vector")


def _numbers(number: float) -> list[object]:
    """A number as Cypher has it: a larger integer than 64 bits is a float there."""
    if isinstance(number, int) and not -_INTEGER_BOUND <= number < _INTEGER_BOUND:
        return [float(number)] if int(float(number)) == number else []
    return [number]


_WRITERS: tuple[Writer, ...] = (
    (bool, lambda value: str(value).lower(), "boolean"),
    (int, str, "integer"),
    (float, number, "float"),
    ((bytes, bytearray), lambda value: f"{len(value):,} bytes", "bytes"),
)
"""Tried in this order, because True is also an int in Python."""


@dataclass(frozen=True, slots=True)
class ValueFormats:
    """How values of a driver's own types are written and parsed. Python's types are built in."""

    writers: tuple[Writer, ...] = ()
    readers: tuple[Reader, ...] = ()

    def literal(self, value: object, language: str | None = None, index: int | None = None) -> Literal:
        """One value with its datatype. `index`: its place if it is an item of a list."""
        if isinstance(value, str):
            return Literal(value, None, language, index)
        for kinds, write, datatype in (*_WRITERS, *self.writers):
            if isinstance(value, kinds):
                return Literal(write(value), datatype(value) if callable(datatype) else datatype, index=index)
        return Literal(str(value), type(value).__name__.lower(), index=index)

    def literals(self, key: str, value: object, length: int | None = None) -> list[Literal]:
        """The values under a key; each item of a list is one, with its index. Of a vector only the length is shown.

        `length` is given if the query left out a vector's numbers.
        """
        if length is not None:
            return [vector(length)]
        language = split_key(key)[1]
        if not isinstance(value, list):
            return [self.literal(value, language)]
        items = cast("Sequence[object]", value)
        if len(items) >= VECTOR_SIZE and all(isinstance(item, float) for item in items):
            return [vector(len(items))]
        return [self.literal(item, language, index) for index, item in enumerate(items)]

    def possible_values(self, text: str) -> list[object]:
        """All values that a printed text may stand for: first the text itself, then a number, then others."""
        found: list[object] = [text]
        if text.lower() in {"true", "false"}:
            found.append(text.lower() == "true")
        number = WantedValue.read(text).number
        if number is not None:
            found += _numbers(number)
        for read in self.readers:
            try:
                value = read(text)
            except (ValueError, OverflowError):
                continue  # The text is not a value of this kind.
            if value is not None:
                found.append(value)
        return found
