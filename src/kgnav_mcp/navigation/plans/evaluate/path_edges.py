"""The edges that a search for paths asks for: those of some nodes at first, those of all nodes if it goes on and on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.interning import Step
from kgnav_mcp.navigation.plans.evaluate.values import Node
from kgnav_mcp.plan import EdgePattern

_EDGES_PER_QUESTION = 200
"""A relation of 20,000 edges is read whole at question 100. One question takes as long as reading 50 to 100 edges."""
_SHARE_READ = 0.01
"""Share of the rows that may be held up to which edges are read without counting them: one question is enough."""
_NODES_PER_QUESTION = 100
"""Nodes that add as much time to a question as a further question."""
_FIRST_QUESTIONS = 16
"""Questions before the number of all edges is looked at: most searches need fewer."""


class PathEdges:
    """Reads the edges of one edge of a pattern that stands for paths."""

    def __init__(self, reader: Reader, edge: EdgePattern) -> None:
        self._reader, self._edge = reader, edge
        self._questions = 0
        self._all_at: int | None = None
        """The number of questions at which all edges are read; None: not known, or never."""
        self._all: dict[Direction, dict[Node, list[Step]]] | None = None
        """All edges, as they are followed from their heads and from their tails."""

    async def steps(self, nodes: Sequence[Node], direction: Direction | None) -> list[Step]:
        """The edges of nodes in a direction (None: both), each as it is followed from one of the nodes.

        Raises:
            PlanTooLarge: there are more than may be held.
        """
        await self._begin_question(len(nodes))
        if self._all is None:
            return await self._reader.read_edges(nodes, direction, self._edge.relations, self._edge)
        return self._known(self._all, nodes, direction)

    async def steps_or_number(self, nodes: Sequence[Node], direction: Direction | None) -> list[Step] | int:
        """As `steps`, but if there are many, only their number."""
        await self._begin_question(len(nodes))
        if self._all is not None:
            return self._known(self._all, nodes, direction)
        reader, edge = self._reader, self._edge
        most = max(int(reader.budget.bound * _SHARE_READ), 1)
        steps = await reader.read_few_edges(nodes, direction, edge.relations, edge, most)
        if steps is not None:
            return steps
        degrees, _ = await reader.degrees(nodes, direction, edge.relations)
        return degrees.total()

    @staticmethod
    def _known(
        edges: Mapping[Direction, Mapping[Node, list[Step]]], nodes: Sequence[Node], direction: Direction | None
    ) -> list[Step]:
        """The edges of nodes among all edges."""
        steps: list[Step] = []
        for node in nodes:
            if direction is not Direction.INCOMING:
                steps += edges[Direction.OUTGOING].get(node, ())
            if direction is not Direction.OUTGOING:
                loops = direction is not None
                steps += [step for step in edges[Direction.INCOMING].get(node, ()) if loops or step[0] is not step[2]]
        return steps

    async def _begin_question(self, nodes: int) -> None:
        """Count a question on nodes to the store. All edges are read if the questions take about as long as that.

        If the store does not list them all, the search goes on with the edges of some nodes at a time.
        """
        if self._all is not None:
            return
        before = self._questions
        self._questions += 1 + nodes // _NODES_PER_QUESTION
        if before < _FIRST_QUESTIONS <= self._questions:
            self._all_at = await self._questions_for_all()
        if self._all_at is None or self._questions < self._all_at:
            return
        self._all_at = None
        with suppress(Unsupported, StoreTimeout):
            steps = await self._reader.read_relations(self._edge.relations, self._edge)
            if steps is not None:
                self._all = await in_thread(len(steps), lambda: _by_near_end(steps))

    async def _questions_for_all(self) -> int | None:
        """The number of questions that take as long as all edges; None if these cannot be read, or are too many."""
        count = await self._reader.number_of_edges(self._edge.relations)
        return None if count is None or count > self._reader.budget.bound else count // _EDGES_PER_QUESTION


def _by_near_end(steps: Sequence[Step]) -> dict[Direction, dict[Node, list[Step]]]:
    outgoing, incoming = defaultdict[Node, list[Step]](list), defaultdict[Node, list[Step]](list)
    for head, edge, tail in steps:
        outgoing[head].append((head, edge, tail))
        incoming[tail].append((tail, edge, head))
    return {Direction.OUTGOING: dict(outgoing), Direction.INCOMING: dict(incoming)}
