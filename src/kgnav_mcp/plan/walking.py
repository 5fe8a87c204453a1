"""Traverses plans as trees of frozen values: their parts, changed copies, and the variables that they use.

A part is a clause, a pattern or an expression. Parts within EXISTS and COUNT are visited only with `patterns`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Generator, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from typing import Any, Final, TypeVar, cast

from kgnav_mcp.plan.clauses import Clause, EdgePattern, Match, NodePattern, PathPattern, Project
from kgnav_mcp.plan.expressions import (
    Aggregate,
    AggregateFunction,
    Call,
    Compare,
    Comparison,
    Comprehension,
    Connective,
    Constant,
    CountOf,
    During,
    Exists,
    Expression,
    Function,
    HasLabel,
    Joined,
    ListOf,
    Property,
    Quantified,
    Reduction,
    Variable,
)

P = TypeVar("P")

_PLAIN: Final = (str, int, float, type(None))
"""Types of values without parts. They are tested first, because most members have them."""
_WITH_PATTERN: Final = (Exists, CountOf)
_OVER_MEMBERS: Final = (Comprehension, Quantified, Reduction)
_OF_FACTS: Final = (Property, HasLabel, Exists, CountOf)
READ_BEFORE: Final = frozenset((Function.LABELS, Function.PROPERTIES, Function.KEYS))
"""Functions whose facts are read before an expression is evaluated."""


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """The field names of a type of parts; None if values of the type are not parts."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def members_in(tree: object) -> tuple[object, ...]:
    """The direct members of a part or tuple: parts, tuples and plain values."""
    if isinstance(tree, tuple):
        return cast("tuple[object, ...]", tree)
    return tuple([getattr(tree, name) for name in _fields(type(tree)) or ()])


def parts(tree: object, *, patterns: bool = False, members: bool = True) -> Iterator[object]:
    """A part of a plan and all parts within it, outer ones first, in the order of writing.

    Without `members`, expressions about single members of lists are omitted.
    """
    pending = [tree]
    while pending:
        each = pending.pop()
        if _fields(type(each)) is not None:
            yield each
        if not members and isinstance(each, _OVER_MEMBERS):
            pending += [one for one in (each.of, getattr(each, "initial", None)) if one is not None]
        elif patterns or not isinstance(each, _WITH_PATTERN):
            pending += [member for member in reversed(members_in(each)) if not isinstance(member, _PLAIN)]


def members_of(expression: Comprehension | Quantified | Reduction) -> tuple[Expression, ...]:
    """The expressions within one that are evaluated for each member of its list."""
    match expression:
        case Comprehension(_, _, where, value):
            return tuple(one for one in (where, value) if one is not None)
        case Quantified():
            return (expression.where,)
        case Reduction():
            return (expression.value,)


def needs_facts(part: object) -> bool:
    """Whether facts of the graph are read before this part of an expression is evaluated."""
    return isinstance(part, _OF_FACTS) or (isinstance(part, Call) and part.function in READ_BEFORE)


def facts_of_result(reduction: Reduction) -> Expression | None:
    """A part that needs facts of the result so far, which cannot be read before it is known; None if none does."""
    changing = {reduction.accumulator}
    for part in parts(reduction.value):
        if isinstance(part, _OVER_MEMBERS):
            if changing.isdisjoint(variables_of(part.of)):
                continue
            changing.add(part.variable)
            of_facts = any(map(needs_facts, (each for one in members_of(part) for each in parts(one))))
        else:
            of_facts = needs_facts(part) and not changing.isdisjoint(variables_of(cast("Expression", part)))
        if of_facts:
            return cast("Expression", part)
    return None


def rewritten(tree: P, change: Callable[[Any], object | None], *, patterns: bool = False) -> P:
    """A copy with each part replaced by the result of `change`; if that is None, the parts within it are visited."""
    walk = _rewrite_steps(tree, patterns=patterns)
    try:
        part = next(walk)
        while True:
            part = walk.send(change(part))
    except StopIteration as done:
        return cast("P", done.value)


async def rewritten_in_turn(tree: P, change: Callable[[Any], Awaitable[object | None]]) -> P:
    """As `rewritten`, with an asynchronous `change`. Parts are changed one after the other."""
    walk = _rewrite_steps(tree, patterns=False)
    try:
        part = next(walk)
        while True:
            part = walk.send(await change(part))
    except StopIteration as done:
        return cast("P", done.value)


def _rewrite_steps(tree: object, *, patterns: bool) -> Generator[object, object | None, object]:
    """Yields each part, and is sent its replacement, or None to visit the parts within it.

    Returns the copy. Parts without a change stay the same objects.
    """
    names = _fields(type(tree))
    if names is not None:
        changed = yield tree
        if changed is not None:
            return changed
        if not patterns and isinstance(tree, _WITH_PATTERN):
            return tree
    old = members_in(tree)
    new: list[object] = []
    for each in old:
        new += (each if isinstance(each, _PLAIN) else (yield from _rewrite_steps(each, patterns=patterns)),)
    if all(map(is_, old, new)):
        return tree
    return tuple(new) if names is None else replace(cast("Any", tree), **dict(zip(names, new, strict=True)))


def aggregates(expression: Expression) -> list[Aggregate]:
    """The aggregates in an expression."""
    return [part for part in parts(expression) if isinstance(part, Aggregate)]


def variables_of(tree: Expression | Clause) -> frozenset[str]:
    """The variables that an expression or clause uses, also in patterns within it.

    Those that stand for members of a list are not among them: each is used in its own expression only.
    """
    found: set[str] = set()
    own: set[str] = set()
    for part in parts(tree, patterns=True):
        match part:
            case Variable(name) | Property(name) | HasLabel(name) | During(name) | NodePattern(name):
                found.add(name)
            case EdgePattern(variable, source, target):
                found |= {variable, source, target}
            case PathPattern(variable, elements):
                found |= {variable, *elements}
            case Comprehension(variable) | Quantified(_, variable):
                own.add(variable)
            case Reduction(accumulator, _, variable):
                own |= {accumulator, variable}
            case _:
                pass
    return frozenset(found - own)


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The parts of a condition that are joined by AND; empty for None."""
    if condition is None:
        return ()
    if isinstance(condition, Joined) and condition.connective is Connective.AND:
        return tuple(one for part in condition.parts for one in conjuncts(part))
    return (condition,)


def conjunction(conditions: Sequence[Expression]) -> Expression | None:
    """The conditions joined by AND, without nested ANDs; None if there are none."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return Joined(Connective.AND, tuple(one for condition in conditions for one in conjuncts(condition)))


def id_condition(condition: Expression) -> tuple[str, tuple[str, ...]] | None:
    """The node and the ids of a condition `id(node) = id` or `id(node) IN [ids]`; None for any other condition."""
    match condition:
        case Compare(Call(Function.ID, (Variable(name),)), Comparison.EQUAL, Constant(str() as text)) | Compare(
            Constant(str() as text), Comparison.EQUAL, Call(Function.ID, (Variable(name),))
        ):
            return name, (text,)
        case Compare(Call(Function.ID, (Variable(name),)), Comparison.IN, ListOf(items)):
            ids = tuple(item.value for item in items if isinstance(item, Constant) and isinstance(item.value, str))
            return (name, ids) if len(ids) == len(items) else None
        case _:
            return None


def only_counts_rows(project: Project, never_null: Collection[str], *, each_once: bool = False) -> bool:
    """Whether each column of a projection is the number of rows: `count(*)`, or that of a variable that is never null.

    `each_once`: each row has another value of these variables, so that distinct ones may be counted as well.
    """
    counts = {
        Aggregate(AggregateFunction.COUNT, Variable(name), distinct=distinct)
        for name in never_null
        for distinct in {False, each_once}
    } | {Aggregate(AggregateFunction.COUNT, None)}
    return (
        bool(project.columns)
        and all(column.value in counts for column in project.columns)
        and project.where is None
        and not project.skip
        and project.limit != 0
    )


def by_columns(project: Project, expression: Expression) -> Expression:
    """A sort expression with columns in place of the expressions that they compute."""
    own = {column.value: Variable(column.name) for column in project.columns}
    names = {column.name for column in project.columns}

    def change(part: Expression) -> Expression | None:
        if isinstance(part, Variable) and part.name in names:
            return part
        return own.get(part)

    return rewritten(expression, change)


def without_columns(project: Project, expression: Expression) -> Expression:
    """A sort expression with what columns compute in place of their names; a property of a column's node is its own."""
    values = {column.name: column.value for column in project.columns}

    def change(part: Expression) -> Expression | None:
        match part:
            case Variable(name):
                return values.get(name)
            case Property(owner) if isinstance(value := values.get(owner), Variable):
                return replace(part, owner=value.name)
            case HasLabel(owner) if isinstance(value := values.get(owner), Variable):
                return replace(part, variable=value.name)
            case _:
                return None

    return rewritten(expression, change)


def node_patterns(match: Match) -> dict[str, NodePattern]:
    """One pattern for each node variable, with all labels that it has anywhere in the match."""
    found: dict[str, NodePattern] = {}
    for node in match.nodes:
        previous = found.get(node.variable)
        found[node.variable] = node if previous is None else replace(previous, labels=previous.labels + node.labels)
    for edge in match.edges:
        for name in (edge.source, edge.target):
            found.setdefault(name, NodePattern(name))
    return found


def equality_sides(
    condition: Expression, names: Collection[str], other_names: Collection[str]
) -> tuple[Expression, Expression] | None:
    """The sides of an equality of values of two tables, that of the first table first; None for other conditions."""
    match condition:
        case Compare(left, Comparison.EQUAL, right):
            pass
        case _:
            return None
    for one, other in ((left, right), (right, left)):
        used, other_used = variables_of(one), variables_of(other)
        if used and other_used and used <= {*names} and other_used <= {*other_names}:
            return one, other
    return None
