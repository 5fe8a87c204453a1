"""Graphs in memory that the oracle reads: nodes and edges in plain Python, parallel edges and loops among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property


class Date(str):
    """A date of the graph, or a date with a time: a text that compares with others by the precision of both."""

    __slots__ = ()


Plain = str | int | float | bool
"""A value of a property; dates are `Date`."""
Properties = tuple[tuple[str, Plain], ...]
"""Ids of properties with their values. One with several values is there several times."""


@dataclass(frozen=True)
class Node:
    """A node; `name` is what it is called, None where it has no name."""

    id: str
    labels: frozenset[str] = frozenset()
    properties: Properties = ()
    name: str | None = None


@dataclass(frozen=True)
class Edge:
    """An edge with its own properties. Its number tells it from its parallels."""

    number: int
    head: str
    relation: str
    tail: str
    properties: Properties = ()


@dataclass(frozen=True)
class Graph:
    """All of it. `below` are the subclasses of a label; `called` are the names of labels that are not their ids."""

    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    below: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    called: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def at(self) -> Mapping[str, list[Edge]]:
        """The edges at a node, whichever end it is, each once."""
        found: dict[str, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            for end in {edge.head, edge.tail}:
                found[end].append(edge)
        return found


def graph(nodes: Iterable[Node], edges: Iterable[tuple[str, str, str, Properties]]) -> Graph:
    """A graph of these nodes and (head, relation, tail, properties)."""
    return Graph({node.id: node for node in nodes}, tuple(Edge(number, *edge) for number, edge in enumerate(edges)))
