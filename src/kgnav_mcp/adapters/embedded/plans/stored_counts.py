"""Answers plans that only count the nodes of a label or the edges of a relation from the catalogue."""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.plan import Aggregate, AggregateFunction, EdgePattern, Match, NodePattern, Pipeline, Project, Variable


def count_from_catalogue(words: NameResolver, pipeline: Pipeline) -> int | None:
    """Returns the count that such a pipeline asks for in all its columns; None for any other pipeline."""
    if len(pipeline.clauses) != 2:
        return None
    match, project = pipeline.clauses
    if not isinstance(match, Match) or not isinstance(project, Project):
        return None
    if match.where is not None or match.optional or match.paths:
        return None
    if not match.edges:
        nodes = match.nodes
        return node_size(words, nodes[0]) if len(nodes) == 1 and _only_counts(project, nodes[0].variable) else None
    edge = match.edges[0]
    if len(match.edges) > 1 or not _only_counts(project, edge.variable):
        return None
    ends = edge.source, edge.target
    return None if any(node.labels or node.variable not in ends for node in match.nodes) else edge_size(words, edge)


def _only_counts(project: Project, variable: str) -> bool:
    if project.where is not None or project.skip or project.limit == 0 or not project.columns:
        return False
    return all(
        isinstance(value := column.value, Aggregate)
        and value.function is AggregateFunction.COUNT
        and (value.of == Variable(variable) or (value.of is None and not value.distinct))
        for column in project.columns
    )


def node_size(words: NameResolver, node: NodePattern) -> int | None:
    """Returns the number of nodes with one label, or of all nodes; None if the catalogue does not have it."""
    if node.subclasses:
        return None
    if not node.labels:
        return words.entities
    group, *others = node.labels
    return None if others or len(group) != 1 else sum(entry.size for entry in words.labels(group))


def edge_size(words: NameResolver, edge: EdgePattern) -> int | None:
    """Returns the number of edges of these relations, or of all; None if the catalogue does not have it."""
    if edge.either or edge.path is not None or edge.source == edge.target:
        return None
    return words.edges(words.relations(edge))
