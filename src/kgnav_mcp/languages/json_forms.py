"""The parts that patterns and steps in JSON share: conditions, projections, and errors for unknown keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import cast

from pydantic import BaseModel, ConfigDict, ValidationError

from kgnav_mcp.plan import (
    UNNAMED,
    Aggregate,
    AggregateFunction,
    Column,
    Compare,
    Comparison,
    ComparisonChain,
    Constant,
    Expression,
    IsNull,
    ListOf,
    Not,
    Order,
    PlanProblem,
    Project,
    Property,
    Scalar,
    Variable,
)
from kgnav_mcp.values.aggregates import AGGREGATES


class Strict(BaseModel):
    """Base class of the objects in a plan. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def form_problems(
    error: ValidationError, place: str, whole: type[Strict], parts: Mapping[str, type[Strict]]
) -> Iterator[PlanProblem]:
    """The problems in the form of a plan or of its part at `place`. For an unknown key they list the valid ones.

    `parts` has the form of the objects under each key of the plan.
    """
    for details in error.errors(include_url=False, include_context=False, include_input=False):
        where = " ".join(filter(None, (place, ".".join(map(str, details["loc"]))))) or "the plan"
        if details["type"] != "extra_forbidden":
            is_own_message = details["type"] == "value_error"
            yield PlanProblem(
                where, details["msg"].removeprefix("Value error, ") if is_own_message else details["msg"].lower()
            )
            continue
        form = parts.get(str(details["loc"][0]), whole)
        keys = [field.alias or name for name, field in form.model_fields.items()]
        yield PlanProblem(where, "unknown key", tuple(keys))


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
    for name, operand in where.items():
        operators = cast("Mapping[str, object]", operand) if isinstance(operand, dict) else {"=": operand}
        conditions: list[Expression] = []
        for operator, value in operators.items():
            try:
                conditions.append(_condition(Property(owner, name), operator, value))
            except InvalidCondition as error:
                problems.append(error.at(f"{place}."))
        yield from _with_range(conditions)


def _with_range(conditions: list[Expression]) -> list[Expression]:
    """Conditions on one property, with a lower and an upper bound as one range, in the place of the first of them."""
    bounds = [
        condition
        for condition in conditions
        if isinstance(condition, Compare) and condition.comparison in _LOWER.keys() | _UPPER
    ]
    lower = [condition for condition in bounds if condition.comparison in _LOWER]
    if len(bounds) != 2 or len(lower) != 1:
        return conditions
    (upper,) = (condition for condition in bounds if condition not in lower)
    signs = _LOWER[lower[0].comparison], upper.comparison
    both = ComparisonChain((lower[0].right, upper.left, upper.right), signs)
    return [both if condition is bounds[0] else condition for condition in conditions if condition is not bounds[1]]


def _condition(value: Property, operator: str, operand: object) -> Expression:
    if operator == EXISTS:
        if not isinstance(operand, bool):
            raise InvalidCondition(f"{value.name}.{operator}", "it must be true or false")
        return Not(IsNull(value)) if operand else IsNull(value)
    if operator not in _COMPARISONS:
        raise InvalidCondition(f"{value.name}.{operator}", "unknown comparison", OPERATORS)
    if isinstance(operand, list):
        comparison = Comparison.IN if operator == "=" else _COMPARISONS[operator]
        if comparison is not Comparison.IN:
            raise InvalidCondition(f"{value.name}.{operator}", "only `in` takes a list", ["in"])
        items = [Constant(_scalar(value, operator, member)) for member in cast("list[object]", operand)]
        return Compare(value, comparison, ListOf(tuple(items)))
    return Compare(value, _COMPARISONS[operator], Constant(_scalar(value, operator, operand)))


def _scalar(value: Property, operator: str, operand: object) -> Scalar:
    if operand is None or isinstance(operand, str | int | float | bool):
        return operand
    raise InvalidCondition(f"{value.name}.{operator}", "its value must be a text, a number, true or false")


_FORM = re.compile(r"\s*(?:(\w+)\s*\(\s*)?([^().\s]+)(?:\.([^()]+?))?\s*(\))?\s*")
_FUNCTIONS = {function.value: function for function, entry in AGGREGATES.items() if not entry.takes_share}


def parse_value(text: str, variables: Collection[str], only_counted: Collection[str] = ()) -> tuple[Expression, str]:
    """The value of `v`, `v.property` or `count(v)`, and its variable.

    Raises:
        InvalidCondition: the text has none of these forms, or the variable is unknown or `only_counted`.
    """
    form = _FORM.fullmatch(text)
    if form is None or bool(form[1]) is not bool(form[4]):
        raise InvalidCondition(text, "invalid value", ["v", "v.property", "count(v)", "sum(v.property)"])
    function, variable, name = form[1], form[2], form[3]
    if variable in only_counted:
        reason = (
            f"{variable} is only counted by at_least or at_most, so it is not part of a row; remove these to return it"
        )
        raise InvalidCondition(text, reason, sorted(variables))
    if variable not in variables:
        raise InvalidCondition(text, f"unknown variable {variable}", sorted(variables))
    value: Expression = Property(variable, name) if name else Variable(variable)
    if not function:
        return value, variable
    if function not in _FUNCTIONS:
        raise InvalidCondition(text, f"unknown function {function}", sorted(_FUNCTIONS))
    counted = _FUNCTIONS[function]
    distinct = counted in (AggregateFunction.COUNT, AggregateFunction.COLLECT)
    return Aggregate(counted, value, distinct), variable


def projections(
    texts: Sequence[str],
    order: Sequence[str],
    limit: int | None,
    bound: Collection[str],
    problems: list[PlanProblem],
    *,
    only_counted: Collection[str] = (),
) -> tuple[Project, ...]:
    """The clauses that return these values: distinct rows of the named variables, then aggregates over them.

    A row is one assignment of each variable that is returned or counted. In `order` a minus sign means descending.
    Invalid values are added to `problems` and left out.
    """

    def read_all(written: Iterable[str], sign: str = "") -> Iterator[tuple[str, Expression, str]]:
        for text in map(str.strip, written):
            try:
                yield text, *parse_value(text.removeprefix(sign), bound, only_counted)
            except InvalidCondition as error:
                problems.append(error.at("return "))

    expressions = [*read_all(texts)]
    keys = [(value, variable, text.startswith("-")) for text, value, variable in read_all(order, "-")]
    variables = dict.fromkeys(variable for *_, variable in expressions) | dict.fromkeys(
        variable for _, variable, _ in keys
    )
    names = {value: name for name, value, _ in expressions}
    hidden = {value: f"{UNNAMED}{n}" for n, (value, *_) in enumerate(keys) if value not in names}
    by = tuple(Order(Variable({**names, **hidden}[value]), descending) for value, _, descending in keys)
    rows = Project(tuple(Column(name, Variable(name)) for name in variables), distinct=True)
    shown = tuple(Column(name, value) for name, value, _ in expressions)
    if not hidden:
        if all(column.value == Variable(column.name) for column in shown):
            return (Project(shown, distinct=True, order=by, limit=limit),)
        return rows, Project(shown, order=by, limit=limit)
    values = Project((*shown, *(Column(name, value) for value, name in hidden.items())))
    return (
        rows,
        values,
        Project(tuple(Column(name, Variable(name)) for name, _, _ in expressions), order=by, limit=limit),
    )
