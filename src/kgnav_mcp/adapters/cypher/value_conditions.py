"""Conditions in Cypher that a property of a node has a wanted value: as numbers, dates, texts, or items of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.builder import Builder, quoted
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.port.wanted_values import WantedValue
from kgnav_mcp.values.comparison import Moment, Period

_MAX_YEAR = 999_999_999
"""The last year that dates have in Cypher."""
_FOUR_DIGITS = 9999


@dataclass(frozen=True, slots=True)
class ValueCondition:
    """A condition on `n`, with its parameters."""

    text: str
    parameters: Mapping[str, object]


def value_condition(builder: Builder, keys: Sequence[str], value: str, *, indexed: bool) -> ValueCondition:
    """The condition that one of the properties has a value, or a list with it as an item.

    With an index (of the only key) the ranges of the index are read that may have the value: the value itself, dates
    of its period, and lists of its type, which the index contains as a whole.
    """
    text = encodable(value)
    wanted = WantedValue.read(text)
    values = builder.dialect.values.possible_values(text)
    period = wanted.period if wanted.period is not None and _is_in_range(wanted.period) else None
    parameters: dict[str, object] = {"keys": keys, "values": values, "texts": [text, f"{text}[UTC]"]}
    dates = ""
    if period is not None:
        parameters |= _ends(period)
        dates = f" OR {builder.fill(queries.IN_PERIOD, x='value')}"
    condition = builder.fill(queries.WITH_VALUE, in_period=dates)
    if not indexed or not all(isinstance(each, str | int | float) or period is not None for each in values):
        return ValueCondition(condition, parameters)
    ranges = [queries.INDEXED_VALUE, queries.INDEXED_TEXTS]
    if wanted.number is not None:
        ranges.append(queries.INDEXED_NUMBERS)
        parameters["least_numbers"] = [float("-inf")]
    if any(isinstance(each, bool) for each in values):
        ranges.append(queries.INDEXED_BOOLEANS)
    if period is not None:
        ranges += [queries.IN_PERIOD, queries.INDEXED_DATES]
    by_index = " OR ".join(builder.fill(each, x=f"n.{quoted(keys[0])}") for each in ranges)
    return ValueCondition(f"({by_index}) AND {condition}", parameters)


def _is_in_range(period: Period) -> bool:
    return all(abs(end[0]) < _MAX_YEAR for end in (period.first, period.after))


def _ends(period: Period) -> Mapping[str, str]:
    days = period.days
    return {
        "first_day": _date(days.first),
        "day_after": _date(days.after),
        "first": _date_time(period.first),
        "after": _date_time(period.after),
    }


def _date(moment: Moment) -> str:
    """The day of a moment in ISO 8601; a year of other than four digits has a sign."""
    year, month, day = map(int, moment[:3])
    sign = "-" if year < 0 else "+" if year > _FOUR_DIGITS else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def _date_time(moment: Moment) -> str:
    hour, minute = map(int, moment[3:5])
    return f"{_date(moment)}T{hour:02}:{minute:02}:{moment[5]:012.9f}"
