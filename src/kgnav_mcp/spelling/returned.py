"""What patterns and steps return: variables, properties, and counts over distinct rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from kgnav_mcp.plan import Aggregate, AggregateFunction, Column, Expression, Order, Project, Property, Variable
from kgnav_mcp.spelling.json_conditions import WrongCondition

_FORM = re.compile(r"\s*(?:(\w+)\s*\(\s*)?([^().\s]+)(?:\.([^()]+?))?\s*(\))?\s*")
_FUNCTIONS = {function.value: function for function in AggregateFunction}


def value_of(text: str, known: Collection[str]) -> tuple[Expression, str]:
    """The value that `v`, `v.property` or `count(v)` stands for, and its variable.

    Raises:
        WrongCondition: it is none of these, or the variable is unknown.
    """
    form = _FORM.fullmatch(text)
    if form is None or bool(form[1]) is not bool(form[4]):
        raise WrongCondition(text, "it is not understood", ["v", "v.property", "count(v)", "sum(v.property)"])
    function, variable, name = form[1], form[2], form[3]
    if variable not in known:
        raise WrongCondition(text, f"nothing is called {variable}", sorted(known))
    value: Expression = Property(variable, name) if name else Variable(variable)
    if not function:
        return value, variable
    if function not in _FUNCTIONS:
        raise WrongCondition(text, f"there is no function {function}", sorted(_FUNCTIONS))
    counted = _FUNCTIONS[function]
    distinct = counted in (AggregateFunction.COUNT, AggregateFunction.COLLECT)
    return Aggregate(counted, value, distinct), variable


def projections(
    texts: Sequence[str], order: Sequence[str], limit: int | None, known: Collection[str]
) -> tuple[Project, ...]:
    """The clauses that return these values: distinct rows of what is named, then counts over them.

    A row is one choice for each variable that is returned or counted. In `order` a minus sign is for descending.

    Raises:
        WrongCondition: as `value_of`.
    """
    read = [(text, *value_of(text, known)) for text in texts]
    sorted_by = [(text.lstrip("-").strip(), text.startswith("-")) for text in order]
    keys = [(*value_of(text, known), descending) for text, descending in sorted_by]
    variables = dict.fromkeys([variable for _, _, variable in read] + [variable for _, variable, _ in keys])
    rows = Project(tuple(Column(name, Variable(name)) for name in variables), distinct=True)
    columns = tuple(Column(text.strip(), value) for text, value, _ in read)
    names = {column.value: column.name for column in columns}
    by = tuple(Order(Variable(names[value]) if value in names else value, descending) for value, _, descending in keys)
    return rows, Project(columns, order=by, limit=limit)
