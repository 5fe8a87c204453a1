"""What kinds of values the properties of a graph have, so that questions can be generated for any graph."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .raw_graph import Day, Properties, RawGraph, Scalar, values_of

BLANK = "nodes of a class of blank nodes"
"""The kind of all questions about them."""
_MIN = 5
"""Fewest nodes or edges with a property about which questions are asked, where there are labels and keys."""


@dataclass(frozen=True)
class Property:
    """One property of the nodes of a label, or of the edges of a relation."""

    owner: str
    name: str
    type: str
    """text, number, day or boolean."""
    several: bool
    """Whether some have several values, or it is a declared array."""
    array: bool
    blank: bool
    """Whether it is one of blank nodes."""
    values: tuple[Scalar, ...]
    """All values, in the order of the file."""

    def kind(self, usual: str) -> str:
        """The kind of a question about it: those about blank nodes are a kind of their own."""
        return BLANK if self.blank else usual

    def value(self, made: random.Random) -> Scalar:
        """Any of its values."""
        return made.choice(self.values)

    def number(self, made: random.Random) -> float:
        """Any of its values, which are numbers."""
        return made.choice(self.numbers)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Those of its values that are numbers."""
        return tuple(value for value in self.values if isinstance(value, int | float))


class Survey:
    """The properties of a graph by their owners: labels of nodes and relations of edges."""

    def __init__(self, graph: RawGraph) -> None:
        self.graph = graph

    @cached_property
    def of_nodes(self) -> Sequence[Property]:
        """The properties of nodes by label."""
        members = {label: [n.properties for n in nodes] for label, nodes in self.graph.by_label.items()}
        blank = {label for label, nodes in self.graph.by_label.items() if any(node.blank for node in nodes)}
        return self._properties(members or {"": [node.properties for node in self.graph.nodes.values()]}, blank)

    @cached_property
    def of_edges(self) -> Sequence[Property]:
        """The properties of edges by relation."""
        return self._properties({k: [e.properties for e in edges] for k, edges in self.graph.by_relation.items()})

    @cached_property
    def named_relations(self) -> Sequence[str]:
        """The relations between nodes that have keys."""
        key, nodes = self.graph.key, self.graph.nodes
        return [
            name
            for name, edges in self.graph.by_relation.items()
            if all(key in nodes[end].properties for edge in edges for end in (edge.head, edge.tail))
        ]

    @cached_property
    def sides(self) -> Counter[tuple[str, str, str]]:
        """The number of named neighbours of each node along each relation and direction."""
        nodes = self.graph.nodes
        named = (edge for edge in self.graph.edges if not nodes[edge.head].blank and not nodes[edge.tail].blank)
        return Counter(
            (key, edge.relation, direction)
            for edge in named
            for key, direction in ((edge.head, "outgoing"), (edge.tail, "incoming"))
            if self.graph.key in nodes[key].properties
        )

    def _properties(
        self, members: Mapping[str, Sequence[Properties]], blank: Container[str] = ()
    ) -> Sequence[Property]:
        found: list[Property] = []
        for owner, each in members.items():
            for name in sorted({name for properties in each for name in properties}):
                holders = [values for properties in each if (values := values_of(properties, name))]
                kinds = {_kind(value) for values in holders for value in values}
                if len(holders) < (1 if self.graph.key is None else _MIN) or len(kinds) > 1:
                    continue
                array = name in self.graph.arrays
                several = array or any(len(values) > 1 for values in holders)
                flat = tuple(value for values in holders for value in values)
                found.append(Property(owner, name, kinds.pop(), several, array, owner in blank, flat))
        return found


def only(properties: Iterable[Property], **wanted: object) -> list[Property]:
    """The properties whose attributes have these values."""
    return [each for each in properties if all(getattr(each, name) == value for name, value in wanted.items())]


def _kind(value: Scalar) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Day):
        return "day"
    return "text" if isinstance(value, str) else "number"
