"""Comparison of single values in plans: numbers by size, texts as texts, dates by the precision that both have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from kgnav_mcp.plan import Scalar
from kgnav_mcp.port.scalars import Date

_DATE = re.compile(
    r"(?P<sign>-?)(?P<year>[0-9]{4,})(-(?P<month>[0-9]{2})(-(?P<day>[0-9]{2})"
    r"(T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(:(?P<second>[0-9]{2}(\.[0-9]+)?))?)?)?)?"
    r"(?P<zone>Z|(?P<offset>[+-][0-9]{2}:?[0-9]{2})?)(\[[^]]*\])?(?P<before> BCE)?( \(Julian\))?"
)
Moment = tuple[float, ...]


@lru_cache(maxsize=50_000)
def date_parts(text: str) -> Moment | None:
    """The parts of a date or time, year first, as far as they are given; None if the text is not a date.

    A time with a zone is converted to UTC.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year = -int(match["year"]) if match["sign"] or match["before"] else int(match["year"])
    parts: list[float] = [year]
    for name in ("month", "day", "hour", "minute", "second"):
        if match[name] is None:
            break
        parts.append(float(match[name]))
    if len(parts) > 3 and match["offset"]:
        sign, digits = match["offset"][0], match["offset"][1:].replace(":", "")
        minutes = parts[3] * 60 + parts[4] - (1 if sign == "+" else -1) * (int(digits[:2]) * 60 + int(digits[2:]))
        days, minutes = divmod(minutes, 24 * 60)
        parts[2:5] = [parts[2] + days, minutes // 60, minutes % 60]
    return tuple(parts)


def comparable_dates(left: str, right: str) -> tuple[Moment, Moment] | None:
    """Two texts as dates, cut to the precision that both have; None if they are to be compared as texts.

    They are dates if one is a date of the graph and the other is written as a date.
    """
    if not isinstance(left, Date) and not isinstance(right, Date):
        return None
    one, other = date_parts(left), date_parts(right)
    if one is None or other is None:
        return None
    shared = min(len(one), len(other))
    return one[:shared], other[:shared]


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
    texts = (f"{one:04}" if type(one) is int else one for one in values)
    return [found for text in texts if isinstance(text, str) and (found := date_parts(text)) is not None]


def _before(first: list[Moment], last: list[Moment]) -> bool:
    """Whether the earliest date of `first` is not after the latest of `last`; true if either list is empty.

    They are compared by the precision that both have.
    """
    if not first or not last:
        return True
    earliest, latest = min(first), max(last)
    shared = min(len(earliest), len(latest))
    return earliest[:shared] <= latest[:shared]
