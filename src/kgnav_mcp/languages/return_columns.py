"""Parses what patterns and steps return: variables, properties, and aggregates over distinct rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from kgnav_mcp.languages.json_conditions import InvalidCondition
from kgnav_mcp.plan import (
    UNNAMED,
    Aggregate,
    AggregateFunction,
    Column,
    Expression,
    Order,
    PlanProblem,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.values.functions import AGGREGATES

_FORM = re.compile(r"\s*(?:(\w+)\s*\(\s*)?([^().\s]+)(?:\.([^()]+?))?\s*(\))?\s*")
_FUNCTIONS = {function.value: function for function, entry in AGGREGATES.items() if not entry.takes_share}


def parse_value(text: str, known: Collection[str], only_counted: Collection[str] = ()) -> tuple[Expression, str]:
    """The value of `v`, `v.property` or `count(v)`, and its variable.

    Raises:
        InvalidCondition: the text has none of these forms, or the variable is unknown or `only_counted`.
    """
    form = _FORM.fullmatch(text)
    if form is None or bool(form[1]) is not bool(form[4]):
        raise InvalidCondition(text, "it is not understood", ["v", "v.property", "count(v)", "sum(v.property)"])
    function, variable, name = form[1], form[2], form[3]
    if variable in only_counted:
        reason = f"{variable} is only counted, by at_least or at_most, and no part of a row: without these it is"
        raise InvalidCondition(text, reason, sorted(known))
    if variable not in known:
        raise InvalidCondition(text, f"nothing is called {variable}", sorted(known))
    value: Expression = Property(variable, name) if name else Variable(variable)
    if not function:
        return value, variable
    if function not in _FUNCTIONS:
        raise InvalidCondition(text, f"there is no function {function}", sorted(_FUNCTIONS))
    counted = _FUNCTIONS[function]
    distinct = counted in (AggregateFunction.COUNT, AggregateFunction.COLLECT)
    return Aggregate(counted, value, distinct), variable


def projections(
    texts: Sequence[str],
    order: Sequence[str],
    limit: int | None,
    known: Collection[str],
    problems: list[PlanProblem],
    *,
    only_counted: Collection[str] = (),
) -> tuple[Project, ...]:
    """The clauses that return these values: distinct rows of the named variables, then aggregates over them.

    A row is one choice for each variable that is returned or counted. In `order` a minus sign means descending.
    Invalid values are added to `problems` and left out.
    """

    def read_all(written: Iterable[str], sign: str = "") -> Iterator[tuple[str, Expression, str]]:
        for text in map(str.strip, written):
            try:
                yield text, *parse_value(text.removeprefix(sign), known, only_counted)
            except InvalidCondition as error:
                problems.append(error.at("return "))

    read = [*read_all(texts)]
    keys = [(value, variable, text.startswith("-")) for text, value, variable in read_all(order, "-")]
    variables = dict.fromkeys(variable for *_, variable in read) | dict.fromkeys(variable for _, variable, _ in keys)
    names = {value: name for name, value, _ in read}
    hidden = {value: f"{UNNAMED}{n}" for n, (value, *_) in enumerate(keys) if value not in names}
    by = tuple(Order(Variable({**names, **hidden}[value]), descending) for value, _, descending in keys)
    rows = Project(tuple(Column(name, Variable(name)) for name in variables), distinct=True)
    shown = tuple(Column(name, value) for name, value, _ in read)
    if not hidden:
        if all(column.value == Variable(column.name) for column in shown):
            return (Project(shown, distinct=True, order=by, limit=limit),)
        return rows, Project(shown, order=by, limit=limit)
    values = Project((*shown, *(Column(name, value) for value, name in hidden.items())))
    return rows, values, Project(tuple(Column(name, Variable(name)) for name, _, _ in read), order=by, limit=limit)
