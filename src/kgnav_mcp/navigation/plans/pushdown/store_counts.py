"""Plans that only count the nodes of a label or the edges of a relation: the store counts, no row is read."""

from __future__ import annotations

from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Certainty, Count
from kgnav_mcp.navigation.plans.budget import Budget
from kgnav_mcp.navigation.plans.evaluate.start_nodes import start_of
from kgnav_mcp.navigation.plans.evaluate.values import Table
from kgnav_mcp.plan import (
    EdgePattern,
    Match,
    NodePattern,
    Pipeline,
    Project,
)
from kgnav_mcp.plan.walking import only_counts_rows
from kgnav_mcp.port import GraphAdapter


async def count_in_store(graph: GraphAdapter, pipeline: Pipeline, budget: Budget) -> Table | None:
    """The answer of a plan that only counts; None if it does more, or if the store has no exact count."""
    match pipeline.clauses:
        case (Match(optional=False, paths=()) as match, Project() as project) if _only_counts(match, project):
            pass
        case _:
            return None
    part = match.edges[0] if match.edges else match.nodes[0]
    count = await (edges_of(graph, part) if isinstance(part, EdgePattern) else _nodes(graph, part))
    if count is None or count.certainty is not Certainty.EXACT:
        return None
    budget.record_size(part, count.value)
    return Table(tuple(column.name for column in project.columns), [tuple(count.value for _ in project.columns)])


def _only_counts(match: Match, project: Project) -> bool:
    """Whether all columns are the number of rows, and the pattern is a single node or edge without conditions."""
    parts = match.edges or match.nodes
    if len(parts) != 1 or match.where is not None:
        return False
    ends = {end for edge in match.edges for end in (edge.source, edge.target)}
    if match.edges and any(node.labels or node.variable not in ends for node in match.nodes):
        return False
    return only_counts_rows(project, [parts[0].variable], each_once=True)


async def _nodes(graph: GraphAdapter, node: NodePattern) -> Count | None:
    """The number of nodes with the pattern's label, or of all nodes; None if it is not a single look-up."""
    start = start_of(node, ())
    if len(start.scans) != 1 or not start.labelled or node.subclasses:
        return None
    try:
        return (await graph.nodes(start.scans[0].label, None, None, limit=0)).total
    except UnknownName:
        return Count(0)


async def edges_of(graph: GraphAdapter, edge: EdgePattern) -> Count | None:
    """The number of edges of a relation; None if the schema does not state it for this pattern."""
    if len(edge.relations) != 1 or edge.either or edge.path is not None or edge.source == edge.target:
        return None
    try:
        facts = (await graph.schema(edge.relations[0], limit=1)).relations
    except UnknownName:
        return None  # the schema of this store has no relations through mediators
    return next((each.count for each in facts if each.relation.id == edge.relations[0]), None)
