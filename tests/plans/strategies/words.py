"""What a graph has for a plan to name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.plans.graph import Graph, Plain


@dataclass(frozen=True)
class Words:
    """What a graph has for a plan to name."""

    labels: Sequence[str]
    relations: Sequence[str]
    of_nodes: dict[str, list[Plain]]
    of_edges: dict[str, list[Plain]]
    ids: Sequence[str]
    longest: int = 3
    """The most edges of a path whose edges are told."""
    most_edges: int = 3
    """Of a pattern."""
    properties: dict[str, list[Plain]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "properties", {**self.of_nodes, **self.of_edges})


def words_of(graph: Graph, relations: Sequence[str] | None = None, longest: int = 3, most_edges: int = 3) -> Words:
    """What a graph has; of some relations only."""
    of_nodes: dict[str, list[Plain]] = {}
    for node in graph.nodes.values():
        for name, value in node.properties:
            of_nodes.setdefault(name, []).append(value)
    of_edges: dict[str, list[Plain]] = {}
    for edge in graph.edges:
        for name, value in edge.properties:
            of_edges.setdefault(name, []).append(value)
    labels = sorted({label for node in graph.nodes.values() for label in node.labels})
    own = sorted({edge.relation for edge in graph.edges}) if relations is None else list(relations)
    return Words(labels, own, of_nodes, of_edges, sorted(graph.nodes), longest, most_edges)
