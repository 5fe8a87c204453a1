"""What a graph has for a plan to name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.plans.graph import Graph, Plain


@dataclass(frozen=True)
class Words:
    """What a graph has for a plan to name."""

    labels: Sequence[str]
    relations: Sequence[str]
    of_nodes: dict[str, list[Plain]]
    of_edges: dict[str, list[Plain]]
    hubs: bool
    """Whether an edge of any relation may lead to a hub, so that edges name their relations."""
    paths: bool = True
    """Whether plans have paths. On a graph of hundreds of nodes the oracle needs minutes for some."""

    @property
    def properties(self) -> dict[str, list[Plain]]:
        """Of nodes and of edges."""
        return {**self.of_nodes, **self.of_edges}


def words_of(graph: Graph, relations: Sequence[str] | None = None) -> Words:
    """What a graph has; of these relations only, as the others have hubs."""
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
    return Words(labels, own, of_nodes, of_edges, relations is not None)
