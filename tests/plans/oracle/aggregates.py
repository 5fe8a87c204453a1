"""One value of many."""

from __future__ import annotations

from statistics import pstdev, stdev

from kgnav_mcp.plan import AggregateFunction
from tests.plans.oracle.values import Several, Value, key, same


def aggregated(  # noqa: C901, PLR0911 - one for each
    function: AggregateFunction, values: list[Value], *, distinct: bool, in_order: bool, share: float | None = None
) -> Value:
    """What a function makes of the values that are not null, of several each; `in_order` keeps a list as it comes."""
    spread = [one for value in values for one in (value if isinstance(value, Several) else (value,))]
    left = [value for value in spread if value is not None]
    if distinct:
        first = {same(value): place for place, value in reversed(list(enumerate(left)))}
        left = [left[place] for place in sorted(first.values())]
    numbers = [value for value in left if isinstance(value, int | float) and not isinstance(value, bool)]
    match function:
        case AggregateFunction.COUNT:
            return len(left)
        case AggregateFunction.SUM:
            return sum(numbers)
        case AggregateFunction.AVERAGE:
            return sum(numbers) / len(numbers) if numbers else None
        case AggregateFunction.MINIMUM:
            return min(left, key=key, default=None)
        case AggregateFunction.MAXIMUM:
            return max(left, key=key, default=None)
        case AggregateFunction.COLLECT:
            return tuple(left if in_order else sorted(left, key=key))
        case AggregateFunction.DEVIATION:
            return stdev(map(float, numbers)) if len(numbers) > 1 else 0.0 if numbers else None
        case AggregateFunction.DEVIATION_OF_ALL:
            return pstdev(map(float, numbers)) if numbers else None
        case AggregateFunction.PERCENTILE:
            return _between(sorted(numbers), share or 0.0)
        case AggregateFunction.PERCENTILE_OF_VALUES:
            ranked = sorted(numbers)
            return next((one for place, one in enumerate(ranked, 1) if place >= (share or 0) * len(ranked)), None)


def _between(numbers: list[int | float], share: float) -> float | None:
    if not numbers:
        return None
    whole, rest = divmod(share * (len(numbers) - 1), 1)
    low = numbers[int(whole)]
    return float(low + rest * (numbers[min(int(whole) + 1, len(numbers) - 1)] - low))
