"""Functions and arithmetic over the values of rows. The result is null if a value is of the wrong kind."""

from __future__ import annotations

from collections.abc import Callable

from kgnav_mcp.navigation.plans.evaluate.values import Edge, Node, PathValue, PropertyList, Value
from kgnav_mcp.plan import ArithmeticOperator, Function
from kgnav_mcp.values import arithmetic
from kgnav_mcp.values.functions import FUNCTIONS, compute


def apply_function(function: Function, values: tuple[Value, ...]) -> Value:
    """The result of a function. One of a single value is applied to each value of a property's list."""
    if None in values:
        return None
    entry, (first, *others) = FUNCTIONS[function], values
    if isinstance(first, PropertyList) and entry.of_each_value:
        return PropertyList(apply_function(function, (one, *others)) for one in first)
    if entry.compute is not None:
        return compute(function, values)
    return _OF_GRAPH[function](first)


def apply_operator(left: Value, operator: ArithmeticOperator, right: Value) -> Value:
    """The result of an arithmetic operator; `+` also joins lists and texts."""
    if left is None or right is None:
        return None
    if operator is ArithmeticOperator.ADD and (isinstance(left, tuple) or isinstance(right, tuple)):
        return (*as_list(left), *as_list(right))
    if isinstance(left, str | int | float) and isinstance(right, str | int | float):
        return arithmetic.calculate(left, operator, right)
    return None


def as_list(value: Value) -> tuple[Value, ...]:
    """The members of a list; a single value is a list of itself."""
    return value if isinstance(value, tuple) else (value,)


def _id(value: Value) -> str | None:
    return value.id if isinstance(value, Node | Edge) else None


_OF_GRAPH: dict[Function, Callable[[Value], Value]] = {
    Function.ID: _id,
    Function.TYPE: lambda value: value.triple.relation.id if isinstance(value, Edge) else None,
    Function.START: lambda value: value.head if isinstance(value, Edge) else None,
    Function.END: lambda value: value.tail if isinstance(value, Edge) else None,
    Function.LENGTH: lambda value: len(value.edges) if isinstance(value, PathValue) else None,
    Function.NODES: lambda value: value.nodes if isinstance(value, PathValue) else None,
    Function.EDGES: lambda value: value.edges if isinstance(value, PathValue) else None,
}
"""Functions of nodes, edges and paths whose facts need not be read."""
