"""Paths of any length between sets of nodes, searched over what the evaluator reads."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.plans.reading import Reader
from kgnav_mcp.navigation.plans.values import Edge, Node, Value, rank
from kgnav_mcp.plan import EdgePattern
from kgnav_mcp.port.searching import PathSearch

Link = tuple[Node, Value, Node]
"""Where a path begins, its edges, where it ends."""


class Paths:
    """The paths that one edge of a pattern stands for."""

    def __init__(self, reader: Reader, edge: EdgePattern, *, proof: bool) -> None:
        if edge.path is None:
            raise TypeError("an edge without a length is no path")
        self._reader, self._edge = reader, edge
        self._search = PathSearch[Node, Edge](
            edge.path,
            node_order=lambda node: node.id,
            edge_order=rank,
            bound=reader.budget.bound,
            check=lambda rows: reader.budget.check(rows, edge),
            ways=proof,
        )

    async def between(self, sources: Sequence[Node] | None, targets: Sequence[Node] | None) -> list[Link]:
        """The paths from some nodes to some nodes; one side may be any (None). They are searched from the fewer.

        Raises:
            PlanTooLarge: more than may be held are on the way.
        """
        forward = targets is None or (sources is not None and len(sources) <= len(targets))
        starts, ends = (sources, targets) if forward else (targets, sources)
        side = None if self._edge.either else Direction.OUTGOING if forward else Direction.INCOMING
        search, found = self._search, list[Link]()
        links = search.links(starts or (), None if ends is None else frozenset(ends), forward=forward)

        def go_on() -> Sequence[Node] | None:
            """The nodes whose edges are needed next; None: all paths are found."""
            try:
                return next(links)
            except StopIteration as done:
                found.extend(done.value)
                return None

        while (nodes := await in_thread(search.size, go_on)) is not None:
            steps = await self._reader.expanded(nodes, side, self._edge.relations, self._edge)
            await in_thread(len(nodes) + len(steps), lambda nodes=nodes, steps=steps: search.keep(nodes, steps))
        return found if forward else [(end, edges, start) for start, edges, end in found]
