"""Converts literals to Python values, orders them, and counts the bytes that a plan creates, for every store alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kgnav_mcp.model import Literal

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""The syntax of a number: a portable regular expression, to be matched with the whole text."""

is_number = re.compile(NUMBER).fullmatch
is_integer = re.compile(r"[+-]?[0-9]{1,4000}").fullmatch  # Python reads no more than 4,300 digits


def value_order(text: str) -> tuple[bool, float, str]:
    """A sort key: numbers first, by size however they are written, then texts.

    Dates are texts; ISO 8601 dates sort correctly as such.
    """
    numeric = is_number(text) is not None
    return not numeric, float(text) if numeric else 0.0, text


_SIZED = frozenset(("int", "long", "short", "byte"))
_SIGNED = frozenset(("negative", "nonNegative", "positive", "nonPositive"))
_WHOLE = {
    "integer",
    *_SIZED,
    *(f"unsigned{kind.capitalize()}" for kind in _SIZED),
    *(f"{sign}Integer" for sign in _SIGNED),
}
_FRACTIONS = frozenset(("decimal", "double", "float", "quantity"))
WHOLE_NUMBERS = frozenset(_WHOLE)
"""The datatypes of XML Schema whose values are integers."""
NUMBERS = frozenset((*_WHOLE, *(_FRACTIONS - {"quantity"})))
"""The datatypes of XML Schema whose values are numbers."""
DATES = frozenset(("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth", "datetime", "localdatetime", "time"))
"""Wikidata calls a date a time."""
DATATYPES = tuple(
    prefix + kind
    for kind in sorted((*NUMBERS, *DATES, "quantity", "boolean"))
    for prefix in ("", "xsd:", "http://www.w3.org/2001/XMLSchema#")
)
"""The datatypes whose values are not texts, in the spellings of all stores."""
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
"""The spellings of booleans."""
SPECIAL_NUMBERS = {
    "INF": "inf",
    "+INF": "inf",
    "-INF": "-inf",
    "Infinity": "inf",
    "-Infinity": "-inf",
    "NaN": "nan",
}
"""The spellings of numbers without digits."""
_EXACT = 2.0**53
"""Integers below this are exact as floats."""


class Date(str):
    """A date of the graph, with or without a time. It is compared with other dates by the precision that both have."""

    __slots__ = ()


def scalar(literal: Literal) -> str | int | float | bool:
    """A literal as a Python value, by its datatype: a number, a boolean, a date, otherwise its text.

    Integers become int, and decimals written as integers that no float has: Virtuoso returns large integers as
    decimals. Other numbers become float; a malformed number stays text. Datatypes are those of RDF (`xsd:integer`,
    in full or with a prefix), of property graphs (`integer`, `float`, `boolean`) and of Wikidata (`quantity`, an int
    if it is written as one).
    """
    text, kind = literal.text, _kind(literal.datatype)
    if kind == "boolean":
        return BOOLEANS.get(text, text)
    if kind in _WHOLE or kind == "quantity":
        if is_integer(text):
            return int(text)
    elif kind not in _FRACTIONS:
        return Date(text) if kind in DATES else text
    if is_number(text):
        number = float(text)
        return int(text) if kind == "decimal" and is_integer(text) and abs(number) >= _EXACT else number
    return float(SPECIAL_NUMBERS[text]) if text in SPECIAL_NUMBERS else text


def is_always_text(text: str) -> bool:
    """Whether literals with this text are texts or dates for every datatype."""
    return is_number(text) is None and text not in SPECIAL_NUMBERS and text not in BOOLEANS


def is_always_text_from(text: str) -> bool:
    """Whether literals whose text starts so are texts or dates for every datatype."""
    return text[:1] not in {*"+-.0123456789", ""} and not any(
        one.startswith(text) for one in (*SPECIAL_NUMBERS, *BOOLEANS)
    )


@lru_cache(maxsize=1_000)
def _kind(datatype: str | None) -> str:
    """The datatype without the namespace or prefix of XML Schema."""
    return "" if datatype is None else datatype.removeprefix("http://www.w3.org/2001/XMLSchema#").removeprefix("xsd:")


MAX_BYTES = 128 * 1024**2
"""Maximum bytes that one plan may read and create: concatenating a text with itself 60 times would make 2^60 times as
many. With what SQLite and other copies take, a plan takes at most 256 MB."""


@dataclass(slots=True, eq=False)
class Growth:
    """Counts the bytes of read and created values, if possible before they exist. Discarded copies count, too."""

    limit: int = MAX_BYTES
    made: int = 0

    def add(self, size: int) -> bool:
        """Add the bytes of a text or list. Returns False if the plan exceeds its limit."""
        self.made += size
        return self.made <= self.limit
