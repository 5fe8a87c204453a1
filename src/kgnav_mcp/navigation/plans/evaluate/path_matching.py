"""Paths of any length between sets of nodes, searched with edges that the evaluator reads."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.path_edges import PathEdges
from kgnav_mcp.navigation.plans.evaluate.values import Edge, Node, Value, rank
from kgnav_mcp.plan import EdgePattern
from kgnav_mcp.port.path_search import CountRequest, EdgeRequest, PathSearch, Request

_COUNTED = 50
"""Nodes whose edges are counted at most before they are read. Counting those of more takes as long as reading them."""
MatchedPath = tuple[Node, Value, Node]
"""A path: its first node, its edges, its last node."""


class Paths:
    """Searches for the paths that match one edge of a pattern."""

    def __init__(self, reader: Reader, edge: EdgePattern, *, proof: bool) -> None:
        if edge.path is None:
            raise TypeError("an edge without a length is not a path")
        self._reader, self._edge = reader, edge
        self._edges = PathEdges(reader, edge)
        self._search = PathSearch[Node, Edge](
            edge.path,
            node_order=lambda node: node.id,
            edge_order=rank,
            bound=reader.budget.bound,
            check=lambda rows, edges: reader.budget.check_paths(rows, edges, edge),
            keep_edges=proof,
            either=edge.either,
        )

    async def between(self, sources: Sequence[Node] | None, targets: Sequence[Node] | None) -> list[MatchedPath]:
        """The paths from sources to targets. One side may be None (any node). The search starts at the smaller set.

        Raises:
            PlanTooLarge: the search would hold more than the bound.
        """
        forward = targets is None or (sources is not None and len(sources) <= len(targets))
        starts, ends = (sources, targets) if forward else (targets, sources)
        search, found = self._search, list[MatchedPath]()
        paths = search.paths(starts or (), None if ends is None else frozenset(ends), forward=forward)

        def resume(count: int | None) -> Request[Node] | None:
            """What is needed next; None when all paths are found."""
            try:
                return paths.send(count)
            except StopIteration as done:
                found.extend(done.value)
                return None

        count: int | None = None
        while (request := await in_thread(search.size, lambda count=count: resume(count))) is not None:
            side = None if self._edge.either else Direction.INCOMING if request.incoming else Direction.OUTGOING
            count = None
            if isinstance(request, CountRequest):
                if len(request.nodes) <= _COUNTED:
                    count = await self._read_or_count(request, side)
                continue
            steps = await self._edges.steps(request.nodes, side)
            size = len(request.nodes) + len(steps)
            await in_thread(size, lambda request=request, steps=steps: search.add_edges(request, steps))
        return found if forward else [(end, edges, start) for start, edges, end in found]

    async def _read_or_count(self, request: CountRequest[Node], side: Direction | None) -> int:
        """The number of edges of a request. They are read if they are few."""
        found = await self._edges.steps_or_number(request.nodes, side)
        if isinstance(found, int):
            return found
        self._search.add_edges(EdgeRequest(request.nodes, request.incoming), found)
        return len(found)
