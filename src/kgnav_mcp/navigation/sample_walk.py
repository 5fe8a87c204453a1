"""Finds a short walk in a graph, so that the examples in prompts work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kgnav_mcp.model import Direction, Entity, Node, Triple
from kgnav_mcp.port import Capability, FarEndKind, GraphAdapter

_LABELS = 5
_STARTS = 10
_STEPS = 10


@dataclass(frozen=True, slots=True)
class SampleWalk:
    """An entity and one or two steps from it. `label` is one of its labels, None if it has none."""

    start: Entity
    label: str | None
    steps: tuple[Triple, ...]

    @property
    def relation(self) -> str:
        """The relation of the first step."""
        return self.steps[0].relation.id


async def sample_walk(graph: GraphAdapter) -> SampleWalk | None:
    """The first walk of two steps between named nodes; otherwise one of a single step; otherwise None.

    Examines a few nodes of each of the largest labels, in the store's order: the same graph gives the same walk.
    """
    best: SampleWalk | None = None
    labels: list[str | None] = [None]
    if Capability.LABELS in graph.capabilities:
        overview = await graph.schema(limit=_LABELS)
        labels = [*(facts.label for facts in overview.labels), None]
    for label in labels:
        starts = (await graph.nodes(label, None, None, limit=_STARTS)).items
        for start in starts:
            steps = await _steps(graph, start)
            if len(steps) > (len(best.steps) if best else 0):
                best = SampleWalk(start, label or next(iter(start.types), None), steps)
            if len(steps) == 2:
                return await _described(graph, best)
    return await _described(graph, best)


async def _described(graph: GraphAdapter, walk: SampleWalk | None) -> SampleWalk | None:
    """The walk with all entities described: far ends come without types."""
    if walk is None:
        return None
    tail_ids = [step.tail.id for step in walk.steps if isinstance(step.tail, Entity)]
    known = await graph.describe([walk.start.id, *tail_ids])

    def described(node: Node) -> Node:
        return known.get(node.id, node) if isinstance(node, Entity) else node

    steps = tuple(
        replace(step, head=known.get(step.head.id, step.head), tail=described(step.tail)) for step in walk.steps
    )
    return replace(walk, start=known.get(walk.start.id, walk.start), steps=steps)


async def _steps(graph: GraphAdapter, start: Entity) -> tuple[Triple, ...]:
    if not start.label:
        return ()
    for first in _named((await _outgoing(graph, start)), start):
        assert isinstance(first.tail, Entity)  # noqa: S101 - _named keeps no other
        for second in _named(await _outgoing(graph, first.tail), start, first.tail):
            return first, second
        return (first,)
    return ()


async def _outgoing(graph: GraphAdapter, entity: Entity) -> list[Triple]:
    page = await graph.neighbours([entity.id], Direction.OUTGOING, far_ends=FarEndKind.ENTITY, limit=_STEPS)
    return [link.triple for link in page.items]


def _named(triples: list[Triple], *visited: Entity) -> list[Triple]:
    visited_ids = {entity.id for entity in visited}
    return [
        triple
        for triple in triples
        if isinstance(triple.tail, Entity) and triple.tail.label and triple.tail.id not in visited_ids
    ]
