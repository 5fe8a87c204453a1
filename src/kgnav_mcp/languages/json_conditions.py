"""Parses conditions on property values from JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from kgnav_mcp.plan import (
    Compare,
    Comparison,
    ComparisonChain,
    Constant,
    Expression,
    IsNull,
    ListOf,
    Not,
    PlanProblem,
    Property,
    Scalar,
)

_COMPARISONS = {
    "=": Comparison.EQUAL,
    "!=": Comparison.UNEQUAL,
    "<>": Comparison.UNEQUAL,
    "<": Comparison.LESS,
    "<=": Comparison.AT_MOST,
    ">": Comparison.GREATER,
    ">=": Comparison.AT_LEAST,
    "contains": Comparison.CONTAINS,
    "starts_with": Comparison.STARTS_WITH,
    "ends_with": Comparison.ENDS_WITH,
    "in": Comparison.IN,
}
_LOWER = {Comparison.GREATER: Comparison.LESS, Comparison.AT_LEAST: Comparison.AT_MOST}
"""Comparisons with a lower bound, and the same with the bound on the left."""
_UPPER = frozenset({Comparison.LESS, Comparison.AT_MOST})
EXISTS = "exists"
OPERATORS = (*_COMPARISONS, EXISTS)


class InvalidCondition(ValueError):
    """An invalid condition, with the place within the condition and the reason."""

    def __init__(self, place: str, reason: str, alternatives: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason
        self.alternatives = tuple(alternatives)

    def at(self, place: str) -> PlanProblem:
        """The problem to report, with the condition's place in the plan."""
        return PlanProblem(f"{place}{self.place}", self.reason, self.alternatives)


def parse_conditions(
    owner: str, where: Mapping[str, object], place: str, problems: list[PlanProblem]
) -> Iterator[Expression]:
    """Parse conditions on a node or an edge: `{"year": 1999}` or `{"year": {">=": 1990, "<": 2000}}`.

    Two bounds in one object are a range, which one of several values must be in.

    Invalid ones, with an unknown operator or a value of the wrong form, are added to `problems`.
    """
    for name, wanted in where.items():
        operators = cast("Mapping[str, object]", wanted) if isinstance(wanted, dict) else {"=": wanted}
        found: list[Expression] = []
        for operator, value in operators.items():
            try:
                found.append(_condition(Property(owner, name), operator, value))
            except InvalidCondition as error:
                problems.append(error.at(f"{place}."))
        yield from _with_range(found)


def _with_range(conditions: list[Expression]) -> list[Expression]:
    """Conditions on one property, with a lower and an upper bound as one range, in the place of the first of them."""
    bounds = [one for one in conditions if isinstance(one, Compare) and one.comparison in _LOWER.keys() | _UPPER]
    lower = [one for one in bounds if one.comparison in _LOWER]
    if len(bounds) != 2 or len(lower) != 1:
        return conditions
    (upper,) = (one for one in bounds if one not in lower)
    signs = _LOWER[lower[0].comparison], upper.comparison
    both = ComparisonChain((lower[0].right, upper.left, upper.right), signs)
    return [both if one is bounds[0] else one for one in conditions if one is not bounds[1]]


def _condition(value: Property, operator: str, wanted: object) -> Expression:
    if operator == EXISTS:
        if not isinstance(wanted, bool):
            raise InvalidCondition(f"{value.name}.{operator}", "it is true or false")
        return Not(IsNull(value)) if wanted else IsNull(value)
    if operator not in _COMPARISONS:
        raise InvalidCondition(f"{value.name}.{operator}", "there is no such comparison", OPERATORS)
    if isinstance(wanted, list):
        comparison = Comparison.IN if operator == "=" else _COMPARISONS[operator]
        if comparison is not Comparison.IN:
            raise InvalidCondition(f"{value.name}.{operator}", "a list is for `in` alone", ["in"])
        items = [Constant(_scalar(value, operator, each)) for each in cast("list[object]", wanted)]
        return Compare(value, comparison, ListOf(tuple(items)))
    return Compare(value, _COMPARISONS[operator], Constant(_scalar(value, operator, wanted)))


def _scalar(value: Property, operator: str, wanted: object) -> Scalar:
    if wanted is None or isinstance(wanted, str | int | float | bool):
        return wanted
    raise InvalidCondition(f"{value.name}.{operator}", "its value is a text, a number, true or false")
