"""Comparisons as in Cypher: true, false, or null if undefined. A condition on a property's list is one on its values.

The rule for properties with several values is in `kgnav_mcp.plan.expressions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod

from kgnav_mcp.navigation.plans.evaluate.values import Node, PropertyList, Value
from kgnav_mcp.plan import Comparison
from kgnav_mcp.values import comparison
from kgnav_mcp.values.texts import matches_whole


def equal(left: Value, right: Value) -> bool | None:
    """Whether two values are equal; null if one is null, false if they are of different kinds.

    A node (the value of a qualifier may be one) equals a text that is its id or its label.
    """
    if left is None or right is None:
        return None
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and logical_and(
            equal(one, other) for one, other in zip(left, right, strict=True)
        )
    if isinstance(left, str | int | float) and isinstance(right, str | int | float):
        return comparison.equal(left, right)
    if isinstance(left, Node) and isinstance(right, str):
        return right in {left.id, left.label}
    return equal(right, left) if isinstance(left, str) and isinstance(right, Node) else left == right


def less(left: Value, right: Value) -> bool | None:
    """Whether a value comes before another; null if values of their kinds have no order."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        for one, other in zip(left, right, strict=False):
            same = equal(one, other)
            if same is not True:
                return None if same is None else less(one, other)
        return len(left) < len(right)
    if isinstance(left, str | int | float) and isinstance(right, str | int | float):
        return comparison.less(left, right)
    return None


def logical_and(conditions: Iterable[bool | None]) -> bool | None:
    """AND: false if one is false, otherwise null if one is null."""
    result: bool | None = True
    for condition in conditions:
        if condition is False:
            return False
        if condition is None:
            result = None
    return result


def logical_or(conditions: Iterable[bool | None]) -> bool | None:
    """OR: true if one is true, otherwise null if one is null."""
    result: bool | None = False
    for condition in conditions:
        if condition:
            return True
        if condition is None:
            result = None
    return result


def logical_not(condition: bool | None) -> bool | None:
    """NOT."""
    return None if condition is None else not condition


def compare(left: Value, comparison: Comparison, right: Value) -> bool | None:
    """The result of a comparison; null if a value is null, but IN an empty list is false even for null."""
    if comparison is Comparison.IN:
        if isinstance(right, tuple):
            return logical_or(compare(left, Comparison.EQUAL, member) for member in right)
        return compare(left, Comparison.EQUAL, right) if isinstance(right, str | int | float) else None
    if left is None or right is None:
        return None
    if comparison is Comparison.UNEQUAL:
        return logical_not(compare(left, Comparison.EQUAL, right))
    if compares_list_with_value(left, right):
        return logical_or(_TESTS[comparison](one, other) for one in _choices(left) for other in _choices(right))
    return _TESTS[comparison](left, right)


def compares_list_with_value(left: Value, right: Value) -> bool:
    """Whether a comparison is one of the values of a property's list with a value that is no list."""
    if isinstance(left, PropertyList):
        return not isinstance(right, tuple)
    return isinstance(right, PropertyList) and not isinstance(left, tuple)


def comparison_count(*values: Value) -> int:
    """The number of comparisons of single values that a comparison of values may take: one for each combination."""
    return prod(len(value) for value in values if isinstance(value, tuple))


class MemberSet:
    """Finds texts and numbers in lists of texts and integers without comparing them one by one.

    Rows mostly share their list, so that its set is made once.
    """

    __slots__ = ("_list", "_set")

    def __init__(self) -> None:
        self._list: Value = None
        self._set: frozenset[Value] | None = None

    def has(self, value: Value, members: Value) -> bool | None:
        """Whether a value is a member; None if they must be compared, as a date, a node or a null must."""
        if type(value) not in _EXACT or not isinstance(members, tuple):
            return None
        if members is not self._list:
            plain = all(type(member) in _EXACT for member in members)
            self._list, self._set = members, frozenset(members) if plain else None
        return None if self._set is None else value in self._set


_EXACT = frozenset((str, int))
"""Types of values that are equal to values of these types only if Python says so: neither dates nor truth values."""


def compare_chain(values: Sequence[Value], comparisons: Sequence[Comparison]) -> bool | None:
    """The result of a chain of comparisons: true if it is true for one choice of the values of property lists."""
    lists = [isinstance(value, tuple) for value in values]
    beside_list = [before or after for before, after in zip([False, *lists], [*lists[1:], False], strict=False)]
    choices = [(value,) if other else _choices(value) for value, other in zip(values, beside_list, strict=True)]
    return logical_or(
        logical_and(compare(*link) for link in zip(chosen, comparisons, chosen[1:], strict=False))
        for chosen in product(*choices)
    )


def _choices(value: Value) -> tuple[Value, ...]:
    """The values that a comparison is tried for."""
    return value if isinstance(value, PropertyList) else (value,)


def _not_less(left: Value, right: Value) -> bool | None:
    """Greater or equal. With NaN, neither `less` nor this is true."""
    return logical_or((less(right, left), equal(left, right) if less(right, left) is not None else None))


def _texts(test: Callable[[str, str], bool | None]) -> Callable[[Value, Value], bool | None]:
    return lambda left, right: test(left, right) if isinstance(left, str) and isinstance(right, str) else None


_TESTS: dict[Comparison, Callable[[Value, Value], bool | None]] = {
    Comparison.EQUAL: equal,
    Comparison.LESS: less,
    Comparison.AT_MOST: lambda left, right: _not_less(right, left),
    Comparison.GREATER: lambda left, right: less(right, left),
    Comparison.AT_LEAST: _not_less,
    Comparison.CONTAINS: _texts(lambda text, part: part in text),
    Comparison.STARTS_WITH: _texts(str.startswith),
    Comparison.ENDS_WITH: _texts(str.endswith),
    Comparison.MATCHES: _texts(matches_whole),
}
