"""Comparison of single values: numbers by size, texts as texts, dates by the precision that both have.

Tools get values as text, because clients in JavaScript cannot tell 2 from 2.0. So a text that is a number also means
that number, and a date also means every date that is equal in the precision that both have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from kgnav_mcp.model import Literal, Node
from kgnav_mcp.values.scalars import Date, scalar

if TYPE_CHECKING:
    from kgnav_mcp.plan import Scalar

_DATE = re.compile(
    r"(?P<sign>-?)(?P<year>[0-9]{4,4000})(-(?P<month>[0-9]{2})(-(?P<day>[0-9]{2})"
    r"(T(?P<hour>[0-9]{2}):(?P<minute>[0-5][0-9])(:(?P<second>([0-5][0-9]|60)(\.[0-9]+)?))?)?)?)?"
    r"(Z|(?P<shift>[+-])(?P<hours>[01][0-9]|2[0-3]):?(?P<minutes>[0-5][0-9]))?"
    r"(\[[^]]*\])?(?P<before> BCE)?(?P<julian> \(Julian\))?"
)
_PARTS = ("month", "day", "hour", "minute")
_FIRST = (1, 1, 0, 0)
"""The values of parts that are not given."""
_GREGORIAN_CYCLE, _JULIAN_CYCLE = 400, 4
"""Years after which the lengths of the months repeat."""
_MICROSECOND = 1e-6
_DAY = 3
"""The number of parts of a day."""
Moment = tuple[float, ...]


@lru_cache(maxsize=50_000)
def date_parts(text: str) -> Moment | None:
    """The given parts of a date or time, year first; None if the text is not a valid date.

    A time with a zone is converted to UTC. Year 0 exists, as in ISO 8601; years BCE are negative and have none.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year = -int(match["year"]) if match["sign"] or match["before"] else int(match["year"])
    parts = [int(match[name]) for name in _PARTS if match[name] is not None]
    seconds = [float(match["second"])] if match["second"] else []
    if (*parts[2:], *seconds) > (24, 0, 0.0):  # 24:00 is the end of the day
        return None
    month, day, hour, minute = (*parts, *_FIRST[len(parts) :])
    # `datetime` has few years: a year at the same place of the cycle has the same months
    cycle = _JULIAN_CYCLE if match["julian"] else _GREGORIAN_CYCLE
    alike = 2000 + (year + 1 if match["before"] else year) % cycle
    try:
        time = datetime(alike, month, day, tzinfo=UTC) + timedelta(hours=hour, minutes=minute)
    except ValueError:
        return None
    if len(parts) > 2 and match["shift"]:
        shift = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
        time += shift if match["shift"] == "-" else -shift
    passed = time.year - alike
    year += passed
    if not year and match["before"]:
        year = passed
    return (year, *(time.month, time.day, time.hour, time.minute)[: len(parts)], *seconds)


@dataclass(frozen=True, slots=True)
class Period:
    """The period in UTC that a date denotes: a year, a month, a day, a minute or a moment.

    Both ends have all parts, from the year to the second.
    """

    parts: Moment
    """The date's parts, as far as they are given."""
    first: Moment
    after: Moment
    """The first moment after the period; after a moment, a microsecond later."""

    @classmethod
    def of(cls, parts: Moment) -> Period:
        """The period of a date with these parts."""
        first = (*parts, *(*_FIRST, 0.0)[len(parts) - 1 :])
        year, month, day, hour, minute, second = first
        match len(parts):
            case 1:
                after = (year + 1, *first[1:])
            case 2:
                after = (year + month // 12, month % 12 + 1, *first[2:])
            case 3 | 5:
                alike = int(2000 + year % _GREGORIAN_CYCLE)
                start = datetime(alike, int(month), int(day), int(hour), int(minute), tzinfo=UTC)
                end = start + (timedelta(days=1) if len(parts) == _DAY else timedelta(minutes=1))
                after = (year + end.year - alike, end.month, end.day, end.hour, end.minute, 0.0)
            case _:
                after = (*first[:-1], second + _MICROSECOND)
        return cls(parts, first, after)

    @property
    def days(self) -> Period:
        """The period in whole days, as a date without a time sees it."""
        return self if len(self.parts) <= _DAY else Period.of(self.parts[:_DAY])


def period_of(text: str) -> Period | None:
    """The period of a date or time; None if the text is not a possible date of the Gregorian calendar."""
    parts = date_parts(text)
    try:
        return None if parts is None else Period.of(parts)
    except ValueError:  # a leap day of the Julian calendar only
        return None


def comparable_dates(left: str, right: str) -> tuple[Moment, Moment] | None:
    """Two texts as dates, cut to the precision that both have; None if they are to be compared as texts.

    They are dates if one is a date of the graph and the other is written as a date.
    """
    if not isinstance(left, Date) and not isinstance(right, Date):
        return None
    first, second = date_parts(left), date_parts(right)
    if first is None or second is None:
        return None
    shared = min(len(first), len(second))
    return first[:shared], second[:shared]


def equal(left: Scalar, right: Scalar) -> bool | None:
    """Whether two values are equal; None if one is null, False if they are of different kinds."""
    if left is None or right is None:
        return None
    if isinstance(left, str) and isinstance(right, str):
        as_dates = comparable_dates(left, right)
        return left == right if as_dates is None else as_dates[0] == as_dates[1]
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def less(left: Scalar, right: Scalar) -> bool | None:
    """Whether a value comes before another; None if values of their kinds have no order."""
    if isinstance(left, str) and isinstance(right, str):
        as_dates = comparable_dates(left, right)
        return left < right if as_dates is None else as_dates[0] < as_dates[1]
    if isinstance(left, bool) and isinstance(right, bool):
        return left < right
    if isinstance(left, bool) or isinstance(right, bool):
        return None
    return left < right if isinstance(left, int | float) and isinstance(right, int | float) else None


def overlaps_period(since: Iterable[object], until: Iterable[object], begin: str | None, end: str | None) -> bool:
    """Whether a period with these start and end dates overlaps the time from `begin` to `end`; None is open.

    Without a start date the period has no beginning, without an end date it still lasts. An integer is a year.
    """
    return _before(_moments(since), _moments((end,))) and _before(_moments((begin,)), _moments(until))


def _moments(values: Iterable[object]) -> list[Moment]:
    """The values that are dates."""
    texts = (f"{value:04}" if type(value) is int else value for value in values)
    return [moment for text in texts if isinstance(text, str) and (moment := date_parts(text)) is not None]


def _before(first: list[Moment], last: list[Moment]) -> bool:
    """Whether the earliest date of `first` is not after the latest of `last`; true if either list is empty.

    They are compared by the precision that both have.
    """
    if not first or not last:
        return True
    earliest, latest = min(first), max(last)
    shared = min(len(earliest), len(latest))
    return earliest[:shared] <= latest[:shared]


_NUMBER = re.compile(
    r"(?P<whole>[+-]?(0|[1-9][0-9]{0,299}))(\.0*)?|[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]{1,4})?"
)
"""A number without leading zeros: `007` is only a text. Whole numbers stay exact: a float would confuse 2**53 + 1."""


@dataclass(frozen=True, slots=True)
class WantedValue:
    """A text, and the number or the date that it may also mean."""

    text: str
    number: int | float | None = None
    period: Period | None = None
    """The time that the date covers."""

    @classmethod
    def read(cls, text: str) -> WantedValue:
        """Parse a text."""
        number = _number(text)
        # A year is also a number: `1815` finds the number as well as dates of that year.
        return cls(text, number, period_of(text))

    def equals(self, node: Node) -> bool:
        """Whether a literal has this text, or is an equal number or date. Texts are compared as texts only."""
        if not isinstance(node, Literal):
            return False
        if node.text == self.text:
            return True
        value = scalar(node)
        if isinstance(value, bool):
            return self.text == str(value).lower()
        if isinstance(value, str):
            return isinstance(value, Date) and self.period is not None and equal(value, self.text) is True
        return self.number is not None and value == self.number


def _number(text: str) -> int | float | None:
    match = _NUMBER.fullmatch(text)
    if match is None or not any(map(str.isdigit, text)):
        return None
    if match["whole"] is not None:
        return int(match["whole"])
    try:
        number = float(text)
    except ValueError:  # an exponent without a number before it
        return None
    return number if math.isfinite(number) else None
