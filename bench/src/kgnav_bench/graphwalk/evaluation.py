"""Evaluates the twelve templates in plain Python, by scanning the generated graph.

Nothing here parses Cypher or queries a store: Neo4j's answers are compared with these. Rows are as the queries of
GraphWalk's table 6 return them, duplicates included.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from kgnav_bench.graphwalk.graphs import Graph, Relationship, Value

Row = tuple[Value, ...]


class Evaluator:
    """Answers questions about one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.members: dict[str, list[int]] = defaultdict(list)
        for place, node in enumerate(graph.nodes):
            self.members[node.label].append(place)
        self.of_type: dict[str, list[Relationship]] = defaultdict(list)
        self._leaving: dict[int, list[int]] = defaultdict(list)
        for place, each in enumerate(graph.relationships):
            self.of_type[each.type].append(each)
            self._leaving[each.source].append(place)

    def node_count(self, source: str, target: str) -> list[Row]:
        """Number of nodes with a relationship to a node of the target class."""
        return [(sum(target in self._reached_labels(node) for node in self.members[source]),)]

    def relationship_count(self, kind: str) -> list[Row]:
        """Number of relationships of a type."""
        return [(len(self.of_type[kind]),)]

    def most_relationships(self, source: str, kind: str) -> list[Row]:
        """Every node with the most outgoing relationships of a type, and their number."""
        counts = Counter(each.source for each in self.of_type[kind] if self.nodes[each.source].label == source)
        most = max(counts.values(), default=0)
        return [(self.nodes[node].key, count) for node, count in counts.items() if count == most]

    def node_by_property(self, label: str, name: str, value: Value) -> list[Row]:
        """Nodes of a class with a value."""
        return [(self.nodes[node].key,) for node in self._with_value(label, name, value)]

    def relationship_by_property(self, kind: str, name: str, value: Value) -> list[Row]:
        """Relationships of a type with a value: both ends, then all properties in the order of the schema."""
        (pools,) = [each.pools for each in self.graph.schema.relationship_classes if each.type == kind]
        return [
            (
                self.nodes[each.source].key,
                self.nodes[each.target].key,
                *(each.properties[pool.name] for pool in pools),
            )
            for each in self.of_type[kind]
            if each.properties[name] == value
        ]

    def path_finding(self, source: str, middle: str, target: str) -> list[Row]:
        """The ends of every path of two relationships through a node of the middle class."""
        return [
            (self.nodes[first.source].key, self.nodes[second.target].key)
            for node in self.members[source]
            for first in self._outgoing(node)
            if self.nodes[first.target].label == middle
            for second in self._outgoing(first.target)
            if second is not first and self.nodes[second.target].label == target
        ]

    def variable_hops(self, source: str, target: str, hops: int) -> list[Row]:
        """Distinct ends of paths of one to `hops` relationships, from which one more relationship leads on."""
        return [
            (self.nodes[node].key, self.nodes[end].key)
            for node in self.members[source]
            for end in {
                end
                for end, used in self._trails(node, hops)
                if self.nodes[end].label == target and any(place not in used for place in self._leaving[end])
            }
        ]

    def path_from_node(self, source: str, key: str, target: str, hops: int) -> list[Row]:
        """Distinct nodes of a class within `hops` relationships of a node."""
        start = self._by_key(source, key)
        ends = {end for end, _ in self._trails(start, hops) if self.nodes[end].label == target}
        return [(self.nodes[end].key,) for end in ends]

    def remote_property(self, source: str, key: str, target: str, name: str, hops: int) -> list[Row]:
        """Distinct values of the nodes of a class that two to `hops` relationships lead to, but none directly."""
        start = self._by_key(source, key)
        near = {each.target for each in self._outgoing(start)}
        values = {
            self.nodes[end].properties[name]
            for end, used in self._trails(start, hops)
            if len(used) > 1 and end not in near and self.nodes[end].label == target
        }
        return [(value,) for value in values]

    def intersection(self, source: str, first: str, second: str) -> list[Row]:
        """Nodes with relationships to nodes of both classes."""
        return [(self.nodes[n].key,) for n in self.members[source] if {first, second} <= self._reached_labels(n)]

    def negation_with_connection(self, source: str, positive: str, negative: str) -> list[Row]:
        """Nodes with a relationship to a node of the one class and none to the other."""
        return [
            (self.nodes[node].key,)
            for node in self.members[source]
            if positive in (labels := self._reached_labels(node)) and negative not in labels
        ]

    def negation_on_relationship(
        self, *, source: str, source_name: str, source_value: Value, kind: str, target: str, name: str, value: Value
    ) -> list[Row]:
        """Nodes with a value from which a relationship with another value leads to a node of the target class."""
        return [
            (self.nodes[node].key,)
            for node in self._with_value(source, source_name, source_value)
            if any(
                each.type == kind and self.nodes[each.target].label == target and each.properties[name] != value
                for each in self._outgoing(node)
            )
        ]

    def _with_value(self, label: str, name: str, value: Value) -> Iterator[int]:
        return (node for node in self.members[label] if self.nodes[node].properties[name] == value)

    def _outgoing(self, node: int) -> Iterator[Relationship]:
        return (self.graph.relationships[place] for place in self._leaving[node])

    def _reached_labels(self, node: int) -> set[str]:
        return {self.nodes[each.target].label for each in self._outgoing(node)}

    def _by_key(self, label: str, key: str) -> int:
        (found,) = [node for node in self.members[label] if self.nodes[node].key == key]
        return found

    def _trails(self, start: int, hops: int) -> Iterator[tuple[int, Sequence[int]]]:
        """The end of every path of one to `hops` relationships, with these. As in Cypher none of them repeats."""
        ends: list[tuple[int, tuple[int, ...]]] = [(start, ())]
        for _ in range(hops):
            ends = [
                (self.graph.relationships[place].target, (*used, place))
                for node, used in ends
                for place in self._leaving[node]
                if place not in used
            ]
            yield from ends
