"""Plans that only ask whether an edge leads from a label to a label: read page by page up to the first match.

Edges that exist are mostly found in the first pages. A store that runs plans counts the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Direction, Entity, Link, Stop
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.paging import pages
from kgnav_mcp.navigation.plans.evaluate.start_nodes import start_of
from kgnav_mcp.navigation.plans.evaluate.values import Table
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Column,
    Constant,
    EdgePattern,
    Match,
    NodePattern,
    Pipeline,
    Plan,
    Project,
)
from kgnav_mcp.port import Capability, FarEndKind, GraphAdapter

_NODES = 500
"""Nodes of one page."""
_EDGES = 1_000
"""Edges of one page."""


_PAGES = 1
"""Pages of nodes that are read before a store that runs plans is asked for the number of edges instead."""
_COUNT_SECONDS = 5.0
"""Seconds for that count; after them, more pages are read."""


async def any_edge_answer(
    graph: GraphAdapter, reader: Reader, pipeline: Pipeline, *, by_store: bool = True
) -> Table | None:
    """The answer of a plan that asks for any edge between two labels; None for any other plan.

    `by_store`: a store that runs plans may count the edges.

    Raises:
        PlanTooLarge: no match among as many nodes and edges as may be held.
    """
    match pipeline.clauses:
        case (Match(edges=(edge,)) as match, Project() as project) if _only_asks(match, project):
            pass
        case _:
            return None
    if await reader.two_hops(edge.relations):
        return None
    nodes = {node.variable: node for node in match.nodes}
    ends = [nodes.get(name, NodePattern(name)) for name in (edge.source, edge.target)]
    names = tuple(column.name for column in project.columns)
    search = _Search(graph, reader, edge, ends, forward=await _starts_at_source(ends, reader))
    if await search.any_match(match if by_store and Capability.PLANS in graph.capabilities else None):
        return Table(names, [tuple(each.value.value for each in project.columns if isinstance(each.value, Constant))])
    reader.budget.record_size(edge, 0)
    return Table(names, [])


async def _starts_at_source(ends: Sequence[NodePattern], reader: Reader) -> bool:
    """Whether the source has no more nodes than the target. All nodes of a graph are not counted: that takes long."""
    source, target = (start_of(end, ()) for end in ends)
    if source.is_everything or target.is_everything:
        return target.is_everything
    return (await source.count(reader)).value <= (await target.count(reader)).value


def _only_asks(match: Match, project: Project) -> bool:
    """Whether a plan wants one row of constants, and its pattern is one edge between two nodes given by labels only."""
    (edge,) = match.edges
    return (
        project.limit == 1
        and not project.skip
        and project.where is None
        and all(isinstance(column.value, Constant) for column in project.columns)
        and not (match.optional or match.paths or match.where or edge.path)
        and edge.source != edge.target
        and len({edge.source, edge.target, *(node.variable for node in match.nodes)}) == 2
        and len({node.variable for node in match.nodes}) == len(match.nodes)
        and all(len(node.labels) <= 1 and not node.subclasses for node in match.nodes)
    )


class _Search:
    """Looks for the first matching edge, starting from the nodes at one end."""

    def __init__(
        self, graph: GraphAdapter, reader: Reader, edge: EdgePattern, ends: Sequence[NodePattern], *, forward: bool
    ) -> None:
        self._graph, self._reader, self._edge = graph, reader, edge
        self._near, self._far = ends if forward else reversed(ends)
        side = Direction.OUTGOING if forward else Direction.INCOMING
        self._side = None if edge.either else side
        self._examined = 0

    async def any_match(self, counted: Match | None) -> bool:
        """Whether there is a matching edge. `counted`: the pattern, if the store may count its matches."""
        read = 0
        await self._reader.classes.read_names(label for group in self._far.labels for label in group)
        for label in self._near.labels[0] if self._near.labels else (None,):
            try:
                async for page in pages(
                    lambda after, label=label: self._graph.node_ids(label, None, None, limit=_NODES, after=after),
                    self._reader.budget,
                ):
                    self._count_examined(len(page.items))
                    if page.items and await self._any_at([node.id for node in page.items]):
                        return True
                    read += 1
                    if counted is not None and read == _PAGES:
                        number = await self._counted(counted)
                        if number is not None:
                            return number > 0
            except UnknownName:  # no node has this label
                continue
        return False

    async def _counted(self, match: Match) -> int | None:
        """The number of matches of the pattern, by one question; None if the store cannot tell it soon."""
        count = Project((Column("n", Aggregate(AggregateFunction.COUNT, None)),))
        plan = Plan((Pipeline((match, count)),), in_any_order=True)
        with suppress(Unsupported, StoreTimeout, TimeoutError):
            async with asyncio.timeout(_COUNT_SECONDS):
                page = await self._graph.run(plan, limit=2)
            numbers = [cell for row in page.items for cell in row.cells if isinstance(cell, int)]
            return numbers[0] if numbers and (page.stop is Stop.COMPLETE or numbers[0]) else None
        return None

    async def _any_at(self, ids: Sequence[str]) -> bool:
        relation_paths = [(relation,) for relation in self._edge.relations] or None
        limit = _EDGES if self._far.labels else 1
        async for page in pages(
            lambda after: self._graph.neighbour_ids(
                ids, self._side, relation_paths=relation_paths, far_end_kind=FarEndKind.ENTITY, limit=limit, after=after
            ),
            self._reader.budget,
        ):
            self._count_examined(len(page.items))
            if page.items and await self._any_matches(page.items):
                return True
        return False

    async def _any_matches(self, links: Sequence[Link]) -> bool:
        """Whether one of these edges ends at a node with the label."""
        if not self._far.labels:
            return True
        ends = await self._reader.nodes_by_id(link.far_end.id for link in links if isinstance(link.far_end, Entity))
        return any(self._reader.has_label(end, self._far.labels[0]) for end in ends)

    def _count_examined(self, more: int) -> None:
        self._examined += more
        self._reader.budget.check(self._examined, self._edge)
