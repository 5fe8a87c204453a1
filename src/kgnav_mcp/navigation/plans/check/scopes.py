"""The kinds of a plan's variables, clause by clause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Case,
    Comprehension,
    Constant,
    Element,
    Expression,
    Function,
    ListOf,
    Match,
    NodePattern,
    Project,
    Quantified,
    Reduction,
    Slice,
    Unwind,
    Variable,
)


@dataclass(frozen=True, slots=True)
class Node:
    """A node that has one label of each group, as far as the patterns say."""

    labels: tuple[tuple[str, ...], ...] = ()
    subclasses: bool = False
    """Whether instances of subclasses count."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of one of these relations (empty: any relation)."""

    relations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Members:
    """A list of nodes or of edges."""

    each: Node | Edge


@dataclass(frozen=True, slots=True)
class Value:
    """Anything else: a value, a list of values, a path."""


Kind = Node | Edge | Members | Value
Scope = Mapping[str, Kind]


def after_match(scope: Scope, match: Match) -> dict[str, Kind]:
    """The variables after a match: those before it, and those of its pattern."""
    found = dict(scope)
    for node in match.nodes:
        found[node.variable] = _with_labels(found.get(node.variable), node)
    for edge in match.edges:
        one = Edge(edge.relations)
        found[edge.variable] = one if edge.path is None else Members(one)
        for end in (edge.source, edge.target):
            found.setdefault(end, Node())
    found.update((path.variable, Value()) for path in match.paths)
    return found


def _with_labels(known: Kind | None, node: NodePattern) -> Node:
    before = known if isinstance(known, Node) else Node()
    labels = tuple(dict.fromkeys((*before.labels, *node.labels)))
    return Node(labels, before.subclasses or node.subclasses)


def after_project(scope: Scope, project: Project) -> dict[str, Kind]:
    """The variables after a projection: its columns."""
    return {column.name: kind_of(column.value, scope) for column in project.columns}


def after_unwind(scope: Scope, unwind: Unwind) -> dict[str, Kind]:
    """The variables after an UNWIND: also the members of its list."""
    return {**scope, unwind.variable: _member_of(unwind.of, scope)}


def within(scope: Scope, expression: Comprehension | Quantified | Reduction) -> dict[str, Kind]:
    """The variables where an expression says something of the members of a list."""
    own = {expression.variable: _member_of(expression.of, scope)}
    if isinstance(expression, Reduction):
        own[expression.accumulator] = Value()
    return {**scope, **own}


def _member_of(of: Expression, scope: Scope) -> Kind:
    """The kind of the members of a list."""
    listed = kind_of(of, scope)
    return listed.each if isinstance(listed, Members) else Value()


def kind_of(expression: Expression, scope: Scope) -> Kind:  # noqa: C901, PLR0912 - a case each
    """The kind of an expression's value, if it is not null."""
    kind: Kind = Value()
    match expression:
        case Variable(name):
            kind = scope.get(name, kind)
        case Call(Function.NODES):
            kind = Members(Node())
        case Call(Function.EDGES):
            kind = Members(Edge())
        case Call(Function.START | Function.END):
            kind = Node()
        case Call(Function.HEAD | Function.LAST, (of,)) | Element(of):
            kind = _member_of(of, scope)
        case Call(Function.TAIL | Function.REVERSE, (of,)) | Slice(of) | Comprehension(_, of, _, None):
            kind = kind_of(of, scope)
            kind = kind if isinstance(kind, Members) else Value()
        case Comprehension(_, _, _, value) if value is not None:
            kind = _list_of(kind_of(value, within(scope, expression)))
        case Case(branches, otherwise):
            kind = _common_kind((*(value for _, value in branches), otherwise), scope)
        case Call(Function.COALESCE, choices):
            kind = _common_kind(choices, scope)
        case ListOf(items):
            kind = _list_of(_common_kind(items, scope))
        case Aggregate(AggregateFunction.COLLECT, of) if of is not None:
            kind = _list_of(kind_of(of, scope))
        case Aggregate(AggregateFunction.MINIMUM | AggregateFunction.MAXIMUM, of) if of is not None:
            kind = kind_of(of, scope)
        case _:
            pass
    return kind


def _common_kind(choices: Iterable[Expression], scope: Scope) -> Kind:
    """The kind that all choices have. Of nodes with different labels, any node; of edges, any edge."""
    kinds = {kind_of(choice, scope) for choice in choices if choice != Constant(None)}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds and all(isinstance(kind, Node) for kind in kinds):
        return Node()
    return Edge() if kinds and all(isinstance(kind, Edge) for kind in kinds) else Value()


def _list_of(kind: Kind) -> Kind:
    return Members(kind) if isinstance(kind, Node | Edge) else Value()
