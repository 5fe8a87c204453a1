"""Finds the stored values of a property that equal a wanted one: texts, and numbers and dates however written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from itertools import product

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import RelationEntry
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.adapters.wikibase_values import QUANTITY
from kgnav_mcp.model import Literal
from kgnav_mcp.port.wanted_values import WantedValue
from kgnav_mcp.values.comparison import Period
from kgnav_mcp.values.scalars import DATATYPES

_INDEXED_LENGTH = 64
_LAST_CHARACTER = "\U0010ffff"
_MAX_DIGITS = 15
"""Digits that all texts of a float share: further ones may be rounded differently."""
_MAX_ZEROS = 20
"""Superfluous zeros at either end of a number, at most."""
_KINDS = ("double", "integer", "date", "boolean")
"""A value that is not a text is one of these, too, whatever its datatype."""
_BOOLEANS = {"true": "1", "false": "0"}
_ZEROS = ["0" * count for count in range(_MAX_ZEROS + 1)]


def equal_values(builder: Builder, property_: RelationEntry, value: str) -> list[tuple[str, str]]:
    """Returns the stored values that equal a wanted one but have another text, each with its possible datatypes.

    Datatypes are separated and enclosed by blanks. A quantity of a Wikibase is compared without its unit.
    """
    wanted = WantedValue.read(value)
    ranges: set[tuple[str, str]] = set()
    if wanted.number is not None:
        signs = ["-"] if wanted.number < 0 else ["", "+"] if wanted.number > 0 else ["", "+", "-"]
        starts = [(sign + start, prefix) for sign, (start, prefix) in product(signs, _texts_of_number(wanted.number))]
        if builder.session.one(queries.lists.LIKE_NUMBERS, property_.id):
            ranges |= {(start, _end(start, prefix=prefix)) for start, prefix in starts}
        if (QUANTITY,) in builder.session.all(queries.lists.DATATYPES_OF, property_.id):
            with_blank = [f"{start} " for start, prefix in starts if not prefix]
            ranges |= {(start, _end(start, prefix=True)) for start in with_blank}
    if wanted.period is not None:
        ranges |= {(start, _end(start, prefix=True)) for start in _years(wanted.period)}
    if value in _BOOLEANS:
        ranges.add((_BOOLEANS[value], _end(_BOOLEANS[value], prefix=False)))
    if not ranges:
        return []
    beginnings = builder.session.all(queries.lists.TEXTS_BETWEEN, property_.id, json.dumps(sorted(ranges)))
    return [
        (text, f" {' '.join(datatypes)} ")
        for text in _whole_texts(builder, property_, [text for (text,) in beginnings])
        if text != encodable(value) and (datatypes := _datatypes(wanted, text))
    ]


def _datatypes(wanted: WantedValue, text: str) -> list[str]:
    """Returns the datatypes with which a stored text equals a wanted value."""
    number, _, unit = text.partition(" ")
    found = [QUANTITY] if unit and wanted.equals(Literal(number, QUANTITY)) else []
    if any(wanted.equals(Literal(text, kind)) for kind in _KINDS):
        found += [datatype for datatype in DATATYPES if wanted.equals(Literal(text, datatype))]
    return found


def _end(start: str, *, prefix: bool) -> str:
    """Returns the end of the range of texts that begin so, or of this one text, as the index has them."""
    return start[:_INDEXED_LENGTH] + (_LAST_CHARACTER if prefix else "\1")


def _whole_texts(builder: Builder, property_: RelationEntry, beginnings: list[str]) -> Iterator[str]:
    for text in beginnings:
        if len(text) < _INDEXED_LENGTH:
            yield text
        else:
            rows = builder.session.all(queries.lists.VALUES_BEGINNING, property_.id, text, -1, None)
            yield from dict.fromkeys(row[0] for row in rows)


def _texts_of_number(number: float) -> Iterator[tuple[str, bool]]:
    """Yields the texts that may be a number, without a sign; or, with True, beginnings of them.

    They are not all equal to the number: what follows a beginning decides, such as an exponent.
    """
    whole, _, fraction = f"{abs(Decimal(repr(number))):f}".partition(".")
    fraction = fraction.rstrip("0")
    for zeros in _ZEROS:
        yield f"{whole}.{fraction}{zeros}", False
        if whole == "0":
            yield f".{fraction}{zeros}", False
    if not fraction:
        yield whole, False
    digits = (whole + fraction).strip("0")[:_MAX_DIGITS]
    if not digits:
        yield from ((f"{zeros}{tail}", True) for zeros, tail in product(_ZEROS[1:], ("0", "e", "E", ".0e", ".0E")))
        return
    # Leading zeros, or a long number whose last digits may be rounded
    yield from ((f"{zeros}{mantissa}", True) for zeros, mantissa in product(_ZEROS[1:], _with_point(digits)))
    yield from ((f"{point}{zeros}{digits}", True) for point, zeros in product(("0.", "."), _ZEROS))
    if len(digits) == _MAX_DIGITS:
        yield from ((mantissa, True) for mantissa in _with_point(digits))
        return
    # An exponent
    for mantissa, zeros, mark in product(_with_point(digits), _ZEROS, "eE"):
        yield f"{mantissa}{zeros}{mark}", True
        if mantissa == digits:
            yield f"{mantissa}.{zeros}{mark}", True
            yield f"{mantissa}{zeros}.0{mark}", True


def _with_point(digits: str) -> list[str]:
    return [digits, *(f"{digits[:place]}.{digits[place:]}" for place in range(1, len(digits)))]


def _years(period: Period) -> Iterator[str]:
    """Yields the years with which an equal date may begin: a zone may move it by a day."""
    for year in range(int(period.first[0]) - 1, int(period.after[0]) + 2):
        yield f"{abs(year):04}"
        if year < 0:
            yield f"-{-year:04}"
