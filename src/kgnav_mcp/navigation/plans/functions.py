"""Functions and arithmetic over the values of rows. The result is null if a value is of the wrong kind."""

from __future__ import annotations

from collections.abc import Callable

from kgnav_mcp.navigation.plans.values import Edge, Node, PathValue, PropertyList, Value
from kgnav_mcp.plan import ArithmeticOperator, Function
from kgnav_mcp.values import calculating


def called(function: Function, values: tuple[Value, ...]) -> Value:
    """The result of a function. A function of a single value is applied to each value of a property's list."""
    if function is Function.COALESCE:
        return next((value for value in values if value is not None), None)
    (value,) = values
    if isinstance(value, str | int | float):
        of_single = calculating.FUNCTIONS.get(function)
        return value if function in _ENDS else None if of_single is None else of_single(value)
    if isinstance(value, PropertyList) and function in calculating.FUNCTIONS and function is not Function.SIZE:
        return PropertyList(called(function, (one,)) for one in value)
    of_other = _FUNCTIONS.get(function)
    return None if value is None or of_other is None else of_other(value)


def calculated(left: Value, operator: ArithmeticOperator, right: Value) -> Value:
    """The result of an arithmetic operator; `+` also joins lists and texts."""
    if left is None or right is None:
        return None
    if operator is ArithmeticOperator.ADD and (isinstance(left, tuple) or isinstance(right, tuple)):
        return (*_as_list(left), *_as_list(right))
    if isinstance(left, str | int | float) and isinstance(right, str | int | float):
        return calculating.calculate(left, operator, right)
    return None


def _as_list(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


def _id(value: Value) -> str | None:
    return value.id if isinstance(value, Node | Edge) else None


_ENDS = frozenset((Function.FIRST, Function.LAST))
_FUNCTIONS: dict[Function, Callable[[Value], Value]] = {
    Function.ID: _id,
    Function.TYPE: lambda value: value.triple.relation.id if isinstance(value, Edge) else None,
    Function.START: lambda value: value.head if isinstance(value, Edge) else None,
    Function.END: lambda value: value.tail if isinstance(value, Edge) else None,
    Function.LENGTH: lambda value: len(value.edges) if isinstance(value, PathValue) else None,
    Function.NODES: lambda value: value.nodes if isinstance(value, PathValue) else None,
    Function.EDGES: lambda value: value.edges if isinstance(value, PathValue) else None,
    Function.SIZE: lambda value: len(value) if isinstance(value, tuple) else None,
    Function.FIRST: lambda value: value[0] if isinstance(value, tuple) and value else None,
    Function.LAST: lambda value: value[-1] if isinstance(value, tuple) and value else None,
}
