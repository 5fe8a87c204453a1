"""Expressions inside of expressions, and conditions joined to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import cast, get_args

from kgnav_mcp.plan import Aggregate, Connective, Expression, Joined

_KINDS = get_args(Expression)


def parts(expression: Expression) -> Iterator[Expression]:
    """What an expression is made of; the patterns of EXISTS and COUNT are not looked into."""
    for field in fields(expression):
        value: object = getattr(expression, field.name)
        for each in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
            if isinstance(each, _KINDS):
                yield cast("Expression", each)


def all_parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all in it."""
    yield expression
    for part in parts(expression):
        yield from all_parts(part)


def aggregates(expression: Expression) -> bool:
    """Whether there is an aggregate in it."""
    return any(isinstance(part, Aggregate) for part in all_parts(expression))


def changed(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with each part replaced for which there is something else, outermost first."""
    found = change(expression)
    if found is not None:
        return found
    new: dict[str, object] = {}
    for field in fields(expression):
        value: object = getattr(expression, field.name)
        if isinstance(value, _KINDS):
            new[field.name] = changed(cast("Expression", value), change)
        elif isinstance(value, tuple) and any(isinstance(each, _KINDS) for each in cast("tuple[object, ...]", value)):
            new[field.name] = tuple([changed(each, change) for each in cast("tuple[Expression, ...]", value)])
    return replace(expression, **new) if new else expression


def all_hold(conditions: Sequence[Expression]) -> Expression | None:
    """All of these conditions in one; those that are joined by AND already are taken apart."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    flat: list[Expression] = []
    for condition in conditions:
        if isinstance(condition, Joined) and condition.connective is Connective.AND:
            flat.extend(condition.parts)
        else:
            flat.append(condition)
    return Joined(Connective.AND, tuple(flat))
