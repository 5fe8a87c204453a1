"""Plans are trees of frozen values: their parts, copies with other parts, and the variables that they name.

A part is a clause, a pattern or an expression. The patterns of EXISTS and COUNT are looked into where that is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

from kgnav_mcp.plan.clauses import Clause, EdgePattern, NodePattern, PathPattern
from kgnav_mcp.plan.expressions import (
    Aggregate,
    Connective,
    CountOf,
    During,
    Exists,
    Expression,
    HasLabel,
    Joined,
    Property,
    Variable,
)

P = TypeVar("P")


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """The names of what parts of a type are made of; None: values of that type are no parts."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def members(tree: object) -> tuple[object, ...]:
    """What a part, or a tuple of parts, is directly made of: parts, tuples and plain values."""
    if isinstance(tree, tuple):
        return cast("tuple[object, ...]", tree)
    return tuple([getattr(tree, name) for name in _fields(type(tree)) or ()])


def parts(tree: object, *, patterns: bool = False) -> Iterator[object]:
    """A part of a plan and all parts within it, outer ones first, in the order in which they are written."""
    left = [tree]
    while left:
        each = left.pop()
        if _fields(type(each)) is not None:
            yield each
        if patterns or not isinstance(each, Exists | CountOf):
            left += reversed(members(each))


def rewritten(tree: P, change: Callable[[Any], object | None], *, patterns: bool = False) -> P:
    """A copy in which each part is what `change` makes of it; where that is None, the parts within it are asked."""
    walk = _rewriting(tree, patterns=patterns)
    try:
        part = next(walk)
        while True:
            part = walk.send(change(part))
    except StopIteration as done:
        return cast("P", done.value)


async def rewritten_in_turn(tree: P, change: Callable[[Any], Awaitable[object | None]]) -> P:
    """The same where a change must wait for what it asks of a graph."""
    walk = _rewriting(tree, patterns=False)
    try:
        part = next(walk)
        while True:
            part = walk.send(await change(part))
    except StopIteration as done:
        return cast("P", done.value)


def _rewriting(tree: object, *, patterns: bool) -> Generator[object, object | None, object]:
    """Gives each part in turn, and is sent what stands in its place, or None to look inside it.

    What nothing is changed in stays the same object.
    """
    names = _fields(type(tree))
    if names is not None:
        changed = yield tree
        if changed is not None:
            return changed
        if not patterns and isinstance(tree, Exists | CountOf):
            return tree
    old = members(tree)
    new: list[object] = []
    for each in old:
        new += ((yield from _rewriting(each, patterns=patterns)),)
    if all(one is other for one, other in zip(old, new, strict=True)):
        return tree
    return tuple(new) if names is None else replace(cast("Any", tree), **dict(zip(names, new, strict=True)))


def aggregates(expression: Expression) -> list[Aggregate]:
    """The aggregates in it."""
    return [part for part in parts(expression) if isinstance(part, Aggregate)]


def variables_of(tree: Expression | Clause) -> frozenset[str]:
    """The variables that an expression or a clause names, those of patterns within it included."""
    found: set[str] = set()
    for part in parts(tree, patterns=True):
        match part:
            case Variable(name) | Property(name) | HasLabel(name) | During(name) | NodePattern(name):
                found.add(name)
            case EdgePattern(variable, source, target):
                found |= {variable, source, target}
            case PathPattern(variable, elements):
                found |= {variable, *elements}
            case _:
                pass
    return frozenset(found)


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all hold for one to hold."""
    if condition is None:
        return ()
    if isinstance(condition, Joined) and condition.connective is Connective.AND:
        return tuple(one for part in condition.parts for one in conjuncts(part))
    return (condition,)


def all_hold(conditions: Sequence[Expression]) -> Expression | None:
    """All of these conditions in one, those that are joined by AND already taken apart; None where there is none."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return Joined(Connective.AND, tuple(one for condition in conditions for one in conjuncts(condition)))
