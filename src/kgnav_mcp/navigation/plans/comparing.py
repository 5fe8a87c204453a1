"""Comparisons as Cypher has them: true, false, or null where it cannot be said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from kgnav_mcp.navigation.plans.regular import fits
from kgnav_mcp.navigation.plans.values import Node, Value
from kgnav_mcp.plan import Comparison
from kgnav_mcp.port.scalars import Date

_DATE = re.compile(
    r"(?P<sign>-?)(?P<year>[0-9]{4,})(-(?P<month>[0-9]{2})(-(?P<day>[0-9]{2})"
    r"(T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(:(?P<second>[0-9]{2}(\.[0-9]+)?))?)?)?)?"
    r"(?P<zone>Z|(?P<offset>[+-][0-9]{2}:?[0-9]{2})?)(\[[^]]*\])?(?P<before> BCE)?( \(Julian\))?"
)
Moment = tuple[float, ...]


@lru_cache(maxsize=50_000)
def moment(text: str) -> Moment | None:
    """A date or a time as its parts, the year first, as far as it is given; None: the text is none.

    A time with a zone is taken to UTC.
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


def dates(left: str, right: str) -> tuple[Moment, Moment] | None:
    """Two texts as dates of the precision that both have; None where they are compared as texts.

    They are dates where one is a date of the graph, and the other is written as one.
    """
    if not isinstance(left, Date) and not isinstance(right, Date):
        return None
    one, other = moment(left), moment(right)
    if one is None or other is None:
        return None
    shared = min(len(one), len(other))
    return one[:shared], other[:shared]


def equal(left: Value, right: Value) -> bool | None:
    """Whether two values are equal; null where one is null, false where they are of different kinds.

    A node, which a qualifier may have as its value, equals a text that is its id or its label.
    """
    if left is None or right is None:
        return None
    if isinstance(left, str) and isinstance(right, str):
        both = dates(left, right)
        return left == right if both is None else both[0] == both[1]
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and every(equal(one, other) for one, other in zip(left, right, strict=True))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Node) and isinstance(right, str):
        return right in {left.id, left.label}
    return equal(right, left) if isinstance(left, str) and isinstance(right, Node) else left == right


def less(left: Value, right: Value) -> bool | None:  # noqa: PLR0911 - one for each kind
    """Whether a value comes before another; null where they are of kinds that have no order between them."""
    if isinstance(left, str) and isinstance(right, str):
        both = dates(left, right)
        return left < right if both is None else both[0] < both[1]
    if isinstance(left, bool) and isinstance(right, bool):
        return left < right
    if isinstance(left, bool) or isinstance(right, bool):
        return None
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left < right
    if isinstance(left, tuple) and isinstance(right, tuple):
        for one, other in zip(left, right, strict=False):
            same = equal(one, other)
            if same is not True:
                return None if same is None else less(one, other)
        return len(left) < len(right)
    return None


def every(conditions: Iterable[bool | None]) -> bool | None:
    """AND: false where one is false, else null where one is null."""
    result: bool | None = True
    for condition in conditions:
        if condition is False:
            return False
        if condition is None:
            result = None
    return result


def some(conditions: Iterable[bool | None]) -> bool | None:
    """OR: true where one is true, else null where one is null."""
    result: bool | None = False
    for condition in conditions:
        if condition:
            return True
        if condition is None:
            result = None
    return result


def opposite(condition: bool | None) -> bool | None:
    """NOT."""
    return None if condition is None else not condition


def compare(left: Value, comparison: Comparison, right: Value) -> bool | None:
    """A comparison of two values; null where one of them is, but nothing is a member of an empty list."""
    if comparison is Comparison.IN:
        return some(equal(left, member) for member in right) if isinstance(right, tuple) else None
    return None if left is None or right is None else _TESTS[comparison](left, right)


def _not_less(left: Value, right: Value) -> bool | None:
    """At least as large; two numbers of which one is none (NaN) are neither less nor not less."""
    return some((less(right, left), equal(left, right) if less(right, left) is not None else None))


def _texts(test: Callable[[str, str], bool | None]) -> Callable[[Value, Value], bool | None]:
    return lambda left, right: test(left, right) if isinstance(left, str) and isinstance(right, str) else None


_TESTS: dict[Comparison, Callable[[Value, Value], bool | None]] = {
    Comparison.EQUAL: equal,
    Comparison.UNEQUAL: lambda left, right: opposite(equal(left, right)),
    Comparison.LESS: less,
    Comparison.AT_MOST: lambda left, right: _not_less(right, left),
    Comparison.GREATER: lambda left, right: less(right, left),
    Comparison.AT_LEAST: _not_less,
    Comparison.CONTAINS: _texts(lambda text, part: part in text),
    Comparison.STARTS_WITH: _texts(str.startswith),
    Comparison.ENDS_WITH: _texts(str.endswith),
    Comparison.MATCHES: _texts(fits),
}
