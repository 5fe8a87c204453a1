"""The aggregates of plans, one entry each: names, meaning and evaluation, as `functions` has those of single values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import pstdev, stdev
from typing import Final

from kgnav_mcp.plan import AggregateFunction
from kgnav_mcp.values.arithmetic import average, to_float, total


@dataclass(frozen=True, slots=True)
class AggregateEntry:
    """An aggregate: its meaning, and its implementation for numbers."""

    meaning: str
    of_numbers: Callable[..., float | None] | None = None
    """Computes the result from the numbers among the values (and the percentile); None: it takes values of any kind."""
    names: tuple[str, ...] = ()
    """Other names, in lower case."""
    takes_share: bool = False
    """Whether it takes a second argument, a constant from 0 to 1."""


def _deviation(numbers: Sequence[float], deviation: Callable[[Sequence[float]], float] = stdev) -> float | None:
    if len(numbers) < 2:
        return 0.0 if numbers else None
    if not all(-math.inf < number < math.inf for number in numbers):
        return math.nan
    try:
        return deviation(numbers)  # exact: sums of floats would say that equal numbers differ
    except OverflowError:
        return math.inf


def _deviation_of_all(numbers: Sequence[float]) -> float | None:
    return _deviation(numbers, pstdev)


def _in_order(numbers: Sequence[float]) -> list[float]:
    """The numbers sorted, NaN last."""
    return sorted(numbers, key=lambda number: (number != number, number))  # noqa: PLR0124 - see `isNaN`


def _percentile(numbers: Sequence[float], share: float) -> float | None:
    if not numbers:
        return None
    ordered = _in_order(numbers)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    if below == place:
        return ordered[below]
    low, high = map(to_float, ordered[below : below + 2])
    return low if low == high else low * (1 - (place - below)) + high * (place - below)


def _percentile_of_values(numbers: Sequence[float], share: float) -> float | None:
    return _in_order(numbers)[max(math.ceil(share * len(numbers)) - 1, 0)] if numbers else None


AGGREGATES: Final[Mapping[AggregateFunction, AggregateEntry]] = {
    AggregateFunction.COUNT: AggregateEntry("The number of values that are not null; `count(*)`: of rows."),
    AggregateFunction.SUM: AggregateEntry("The sum of the numbers.", total),
    AggregateFunction.AVERAGE: AggregateEntry("The mean of the numbers.", average),
    AggregateFunction.MINIMUM: AggregateEntry("The smallest value in the order of plans."),
    AggregateFunction.MAXIMUM: AggregateEntry("The largest value in the order of plans."),
    AggregateFunction.COLLECT: AggregateEntry(
        "A list of the values, sorted, or in the order of the rows if the previous clause sorts them.",
        names=("collect_list",),
    ),
    AggregateFunction.DEVIATION: AggregateEntry(
        "The standard deviation of a sample; 0 for a single number.", _deviation, names=("stddev_samp",)
    ),
    AggregateFunction.DEVIATION_OF_ALL: AggregateEntry(
        "The standard deviation of a population.", _deviation_of_all, names=("stddev_pop",)
    ),
    AggregateFunction.PERCENTILE: AggregateEntry(
        "The percentile (0 to 1) of the numbers: one of them, or interpolated between two.",
        _percentile,
        names=("percentile_cont",),
        takes_share=True,
    ),
    AggregateFunction.PERCENTILE_OF_VALUES: AggregateEntry(
        "The percentile (0 to 1) of the numbers, always one of them.",
        _percentile_of_values,
        names=("percentile_disc",),
        takes_share=True,
    ),
}


def aggregate(function: AggregateFunction, numbers: Sequence[float], share: float | None) -> float | None:
    """The result of an aggregate of numbers.

    Raises:
        TypeError: it is not one of numbers.
    """
    of_numbers = AGGREGATES[function].of_numbers
    if of_numbers is None:
        raise TypeError(f"{function} is not an aggregate of numbers")
    return of_numbers(numbers) if share is None else of_numbers(numbers, share)


AGGREGATE_NAMES: Final[Mapping[str, AggregateFunction]] = {
    name: function for function, entry in AGGREGATES.items() for name in (function.value.lower(), *entry.names)
}
"""Aggregates by their names in lower case."""
