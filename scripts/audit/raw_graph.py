"""A graph as its raw files have it: nodes with properties, and edges with properties of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property


class Day(str):
    """A date, with or without its day, month and time: compared by the precision that both sides have."""

    __slots__ = ()


Scalar = str | int | float | bool
Value = Scalar | tuple[Scalar, ...]
"""One value; or several, or a declared array, in the order of the file."""

Properties = Mapping[str, Value]


@dataclass(frozen=True)
class Node:
    """A node with the key that identifies it in the raw files."""

    key: str
    labels: frozenset[str] = frozenset()
    properties: Properties = field(default_factory=dict[str, Value])
    blank: bool = False
    """Whether it is a blank node, whose key differs in each store."""


@dataclass(frozen=True)
class Edge:
    """A directed edge between the keys of two nodes."""

    head: str
    relation: str
    tail: str
    properties: Properties = field(default_factory=dict[str, Value])


@dataclass(frozen=True)
class RawGraph:
    """All nodes by key, all edges, and how plans and tools call what is in them."""

    name: str
    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    key: str | None
    """The property of each named node that has its key; None if printed ids are the keys."""
    names: frozenset[str]
    """Properties that are names or aliases."""
    arrays: frozenset[str] = frozenset()
    """Properties declared as arrays: lists on every node, in the order of the file, with duplicates."""
    rdf: bool = False
    """Whether several values of a property are a set: RDF has no order and no duplicates."""

    @cached_property
    def by_label(self) -> Mapping[str, tuple[Node, ...]]:
        """The nodes of each label, in the order of the file."""
        nodes: defaultdict[str, list[Node]] = defaultdict(list)
        for node in self.nodes.values():
            for label in node.labels:
                nodes[label].append(node)
        return {label: tuple(members) for label, members in sorted(nodes.items())}

    @cached_property
    def by_relation(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges of each relation, in the order of the file."""
        return {name: tuple(edges) for name, edges in sorted(_grouped(self.edges, "relation").items())}

    @cached_property
    def outgoing(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges that leave each node."""
        return {key: tuple(edges) for key, edges in _grouped(self.edges, "head").items()}

    @cached_property
    def incoming(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges that point at each node."""
        return {key: tuple(edges) for key, edges in _grouped(self.edges, "tail").items()}


def values_of(properties: Properties, name: str) -> tuple[Scalar, ...]:
    """The values of a property, none if it is missing."""
    value = properties.get(name)
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _grouped(edges: Iterable[Edge], attribute: str) -> Mapping[str, list[Edge]]:
    groups: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        groups[getattr(edge, attribute)].append(edge)
    return groups
