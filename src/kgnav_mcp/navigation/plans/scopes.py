"""The kinds of a plan's variables, clause by clause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kgnav_mcp.plan import Match, NodePattern, Project, Unwind, Variable


@dataclass(frozen=True, slots=True)
class Node:
    """A node that has one label of each group, as far as the patterns say."""

    labels: tuple[tuple[str, ...], ...] = ()
    subclasses: bool = False
    """Whether instances of subclasses count."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of one of these relations (empty: any relation), or with `many` a list of such edges."""

    relations: tuple[str, ...] = ()
    many: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """Anything else: a value, a list, a path."""


Kind = Node | Edge | Value
Scope = Mapping[str, Kind]


def after_match(scope: Scope, match: Match) -> dict[str, Kind]:
    """The variables after a match: those before it, and those of its pattern."""
    found = dict(scope)
    for node in match.nodes:
        found[node.variable] = _with_labels(found.get(node.variable), node)
    for edge in match.edges:
        found[edge.variable] = Edge(edge.relations, edge.path is not None)
        for end in (edge.source, edge.target):
            found.setdefault(end, Node())
    found.update((path.variable, Value()) for path in match.paths)
    return found


def _with_labels(known: Kind | None, node: NodePattern) -> Node:
    before = known if isinstance(known, Node) else Node()
    labels = tuple(dict.fromkeys((*before.labels, *node.labels)))
    return Node(labels, before.subclasses or node.subclasses)


def after_project(scope: Scope, project: Project) -> dict[str, Kind]:
    """The variables after a projection: its columns. A renamed variable keeps its kind."""
    return {
        column.name: scope.get(column.value.name, Value()) if isinstance(column.value, Variable) else Value()
        for column in project.columns
    }


def after_unwind(scope: Scope, unwind: Unwind) -> dict[str, Kind]:
    """The variables after an UNWIND. The members of a list of edges are edges; other members are values."""
    listed = scope.get(unwind.of.name) if isinstance(unwind.of, Variable) else None
    return {**scope, unwind.variable: Edge(listed.relations) if isinstance(listed, Edge) else Value()}
