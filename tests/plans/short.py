"""Short ways to write the algebra down in tests, with ids as a checked plan has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Clause,
    Column,
    Compare,
    Comparison,
    Connective,
    Constant,
    EdgePattern,
    Expression,
    Function,
    IsNull,
    Joined,
    ListOf,
    Match,
    NodePattern,
    Not,
    Order,
    PathKind,
    PathLength,
    PathPattern,
    Pipeline,
    Plan,
    Project,
    Property,
    Scalar,
    Variable,
)

Part = Expression | Scalar | tuple["Part", ...]
"""An expression; a text beginning with `.` is a variable, with a further `.` a property: `.n`, `.n.age`."""


def x(part: Part) -> Expression:
    """An expression of its short form."""
    if isinstance(part, tuple):
        return ListOf(tuple(x(each) for each in part))
    if isinstance(part, str) and part.startswith("."):
        owner, _, name = part[1:].partition(".")
        return Property(owner, name, (name,)) if name else Variable(owner)
    if part is None or isinstance(part, str | int | float | bool):
        return Constant(part)
    return part


def node(variable: str, *labels: str) -> NodePattern:
    """`(variable:A:B)`; `A|B` is one group."""
    return NodePattern(variable, tuple(tuple(label.split("|")) for label in labels))


def edge(ends: str, *relations: str, path: PathLength | None = None) -> EdgePattern:
    """`a-r->b`, or `a-r-b` in either direction."""
    source, variable, target = ends.split("-")
    return EdgePattern(variable, source, target.removeprefix(">"), relations, not target.startswith(">"), path)


def hops(shortest: int = 1, longest: int | None = None, kind: PathKind = PathKind.TRAILS) -> PathLength:
    return PathLength(kind, shortest, longest)


def matching(
    *parts: str | NodePattern | EdgePattern | PathPattern,
    where: Part | None = None,
    optional: bool = False,
    edges_differ: bool = True,
) -> Match:
    """A pattern; a text is an edge of any relation. Ends that are not told are nodes of any label."""
    edges = [edge(part) if isinstance(part, str) else part for part in parts if isinstance(part, str | EdgePattern)]
    nodes = {part.variable: part for part in parts if isinstance(part, NodePattern)}
    for each in edges:
        for end in (each.source, each.target):
            nodes.setdefault(end, NodePattern(end))
    paths = tuple(part for part in parts if isinstance(part, PathPattern))
    condition = None if where is None else x(where)
    return Match(tuple(nodes.values()), tuple(edges), paths, condition, optional, edges_differ)


def give(
    columns: Mapping[str, Part],
    *order: str,
    distinct: bool = False,
    skip: int = 0,
    limit: int | None = None,
    where: Part | None = None,
) -> Project:
    """What is projected, sorted by short expressions; `-.n` is descending."""
    orders = tuple(Order(x(by.removeprefix("-")), by.startswith("-")) for by in order)
    made = tuple(Column(name, x(value)) for name, value in columns.items())
    return Project(made, distinct, orders, skip, limit, None if where is None else x(where))


def plan(*clauses: Clause) -> Plan:
    return Plan((Pipeline(clauses),))


def union(*plans: Plan, keep: bool = False) -> Plan:
    return Plan(tuple(each.pipelines[0] for each in plans), keep)


def cmp(left: Part, comparison: str, right: Part) -> Compare:
    return Compare(x(left), Comparison(comparison), x(right))


def both(*conditions: Part) -> Joined:
    return Joined(Connective.AND, tuple(x(each) for each in conditions))


def either(*conditions: Part) -> Joined:
    return Joined(Connective.OR, tuple(x(each) for each in conditions))


def no(condition: Part) -> Not:
    return Not(x(condition))


def null(value: Part) -> IsNull:
    return IsNull(x(value))


def sum_up(left: Part, operator: str, right: Part) -> Arithmetic:
    return Arithmetic(x(left), ArithmeticOperator(operator), x(right))


def of(function: str, *values: Part) -> Call:
    return Call(Function(function), tuple(x(value) for value in values))


def all_of(function: str, value: Part | None = None, *, distinct: bool = False) -> Aggregate:
    """An aggregate; of nothing: `count(*)`."""
    return Aggregate(AggregateFunction(function), None if value is None else x(value), distinct)


P = TypeVar("P")


def with_ids(tree: P) -> P:
    """A plan, or a part of one, as it is after a check of a graph whose names are its ids."""
    if isinstance(tree, tuple):
        return cast("P", tuple(with_ids(each) for each in cast("tuple[object, ...]", tree)))
    if isinstance(tree, Property):
        return cast("P", Property(tree.owner, tree.name, (tree.name,)))
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    return replace(tree, **{field.name: with_ids(getattr(tree, field.name)) for field in fields(tree)})
