"""Finds walks for examples: short ones between named nodes, so that the example calls in prompts work."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.model import Certainty, Direction, Entity, Node, Relation, RelationFacts, Stop, Triple
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.relation_lists import relation_facts
from kgnav_mcp.port import Capability, FarEndKind, GraphAdapter

_LABELS = 5
_SAMPLED_STARTS = 10
_SAMPLED_STEPS = 10


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
        starts = (await graph.nodes(label, None, None, limit=_SAMPLED_STARTS)).items
        for start in starts:
            steps = await _sampled_steps(graph, start)
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
    described_entities = await graph.describe([walk.start.id, *tail_ids])

    def described(node: Node) -> Node:
        return described_entities.get(node.id, node) if isinstance(node, Entity) else node

    steps = tuple(
        replace(step, head=described_entities.get(step.head.id, step.head), tail=described(step.tail))
        for step in walk.steps
    )
    return replace(walk, start=described_entities.get(walk.start.id, walk.start), steps=steps)


async def _sampled_steps(graph: GraphAdapter, start: Entity) -> tuple[Triple, ...]:
    if not start.label:
        return ()
    for first in _named((await _outgoing(graph, start)), start):
        assert isinstance(first.tail, Entity)  # noqa: S101 - _named keeps no other
        for second in _named(await _outgoing(graph, first.tail), start, first.tail):
            return first, second
        return (first,)
    return ()


async def _outgoing(graph: GraphAdapter, entity: Entity) -> list[Triple]:
    page = await graph.neighbours([entity.id], Direction.OUTGOING, far_end_kind=FarEndKind.ENTITY, limit=_SAMPLED_STEPS)
    return [link.triple for link in page.items]


def _named(triples: list[Triple], *visited: Entity) -> list[Triple]:
    visited_ids = {entity.id for entity in visited}
    return [
        triple
        for triple in triples
        if isinstance(triple.tail, Entity) and triple.tail.label and triple.tail.id not in visited_ids
    ]


_STARTS = 20
_STARTS_WITHOUT_LABELS = 200
"""Nodes of a graph without labels, where most of the first may have no outgoing edges."""
_EDGES = 500
_HUBS = 10
"""Entities that are examined as hubs: those at which most of the sampled edges end."""
_ENDS = 3
"""Maximum ends of a step."""
_HUB_RELATIONS = 3
"""Minimum relations of a hub: one with fewer may be shown as rows."""


@dataclass(frozen=True, slots=True)
class WalkedStep:
    """A relation followed at an entity in one direction. `triples` are all of its rows there.

    `is_hub`: the entity has more rows in this direction than `search` shows at once.
    """

    entity: Entity
    direction: Direction
    relation: Relation
    triples: tuple[Triple, ...]
    is_hub: bool = False

    @property
    def ends(self) -> tuple[Entity, ...]:
        """The entities that the step leads to."""
        outgoing = self.direction is Direction.OUTGOING
        nodes = (triple.tail if outgoing else triple.head for triple in self.triples)
        return tuple(node for node in nodes if isinstance(node, Entity))


Walk = tuple[WalkedStep, ...]


async def worked_walks(graph: GraphAdapter, limits: Limits) -> AsyncGenerator[Walk]:
    """Walks of one or two steps, each by other relations. The first one passes a hub if the sampled part has one.

    The same graph gives the same walks. Only the last step of a walk may have several ends.
    """
    edges = await _sampled_edges(graph)
    seen = set[tuple[str, ...]]()
    if (hub_step := await _hub_step(graph, edges, limits)) is not None:
        way = await _step_to(graph, hub_step.entity, edges)
        walk = (way, hub_step) if way is not None and way.entity not in hub_step.ends else (hub_step,)
        seen.add(_relations(walk))
        yield walk
    starts = set[str]()
    for edge in edges:
        if edge.head.id in starts or not isinstance(edge.tail, Entity):
            continue
        first = await _step(graph, edge.head, Direction.OUTGOING, edge.relation, most=1)
        second = await _onward(graph, first) if first is not None else None
        walk = tuple(step for step in (first, second) if step is not None)
        if walk and _relations(walk) not in seen:
            seen.add(_relations(walk))
            starts.add(edge.head.id)
            yield walk


def _relations(walk: Walk) -> tuple[str, ...]:
    return tuple(step.relation.id for step in walk)


async def _sampled_edges(graph: GraphAdapter) -> list[Triple]:
    """Edges between named nodes at some nodes of the largest labels; the first of every relation come first."""
    labels: list[str | None] = [None]
    if Capability.LABELS in graph.capabilities:
        labels = [*(facts.label for facts in (await graph.schema(limit=_LABELS)).labels[:_LABELS]), None]
    number = _STARTS if len(labels) > 1 else _STARTS_WITHOUT_LABELS
    edges: dict[Triple, None] = {}
    for label in labels:
        if starts := await _named_nodes(graph, label, number):
            page = await graph.neighbours(starts, Direction.OUTGOING, far_end_kind=FarEndKind.ENTITY, limit=_EDGES)
            edges |= dict.fromkeys(link.triple for link in page.items if _is_named(link.triple))
    rank: Counter[str] = Counter()
    order: dict[Triple, int] = {}
    for edge in edges:
        order[edge] = rank[edge.relation.id]
        rank[edge.relation.id] += 1
    return sorted(edges, key=order.__getitem__)


async def _named_nodes(graph: GraphAdapter, label: str | None, number: int) -> list[str]:
    """Ids of some nodes that have a name; if nodes of the label have none, as mediators, of those that they lead to."""
    nodes = (await graph.nodes(label, None, None, limit=number)).items
    named = [node.id for node in nodes if node.label]
    if named or not nodes:
        return named
    ids = [node.id for node in nodes]
    page = await graph.neighbours(ids, Direction.OUTGOING, far_end_kind=FarEndKind.ENTITY, limit=_EDGES)
    ends = dict.fromkeys(link.triple.tail for link in page.items)
    return [end.id for end in ends if isinstance(end, Entity) and end.label][:number]


def _is_named(triple: Triple) -> bool:
    return bool(triple.head.label) and isinstance(triple.tail, Entity) and bool(triple.tail.label)


async def _hub_step(graph: GraphAdapter, edges: Sequence[Triple], limits: Limits) -> WalkedStep | None:
    """A step at a hub by one of its relations with few rows."""
    tails = {edge.tail.id: edge.tail for edge in edges if isinstance(edge.tail, Entity)}
    often = Counter(edge.tail.id for edge in edges if isinstance(edge.tail, Entity))
    candidates = [identity for identity, _ in often.most_common(_HUBS)]
    if not candidates:
        return None
    page = await relation_facts(graph, candidates, None, hops=1, limits=limits)
    facts_at: Mapping[tuple[str, Direction], list[RelationFacts]] = defaultdict(list)
    for fact in page.items:
        for identity in fact.per_entity:
            facts_at[identity, fact.direction].append(fact)
    for (identity, direction), facts in facts_at.items():
        if sum(fact.per_entity[identity] for fact in facts) <= limits.hub_threshold or len(facts) < _HUB_RELATIONS:
            continue
        for fact in sorted(facts, key=lambda one, at=identity: one.per_entity[at]):
            if fact.mediators or fact.count.certainty is not Certainty.EXACT or fact.per_entity[identity] > _ENDS:
                continue
            step = await _step(graph, tails[identity], direction, fact.relation, most=_ENDS)
            if step is not None:
                return WalkedStep(step.entity, direction, step.relation, step.triples, is_hub=True)
    return None


async def _step_to(graph: GraphAdapter, hub: Entity, edges: Sequence[Triple]) -> WalkedStep | None:
    """A step that leads to the hub alone."""
    for edge in [edge for edge in edges if edge.tail == hub][:_ENDS]:
        step = await _step(graph, edge.head, Direction.OUTGOING, edge.relation, most=1)
        if step is not None:
            return step
    return None


async def _onward(graph: GraphAdapter, first: WalkedStep) -> WalkedStep | None:
    """A step from the only end of another one to other entities."""
    (end,) = first.ends
    page = await graph.neighbours([end.id], Direction.OUTGOING, far_end_kind=FarEndKind.ENTITY, limit=_EDGES // 10)
    if page.stop is not Stop.COMPLETE:
        return None
    for relation in dict.fromkeys(link.triple.relation for link in page.items):
        triples = tuple(link.triple for link in page.items if link.triple.relation == relation)
        step = WalkedStep(end, Direction.OUTGOING, relation, triples)
        if len(triples) <= _ENDS and all(map(_is_named, triples)) and first.entity not in step.ends:
            return step
    return None


async def _step(
    graph: GraphAdapter, entity: Entity, direction: Direction, relation: Relation, *, most: int
) -> WalkedStep | None:
    """The step by a relation with all of its rows; None if there are more than `most`, or nameless ends."""
    page = await graph.neighbours([entity.id], direction, relation_paths=[(relation.id,)], limit=most + 1)
    triples = tuple(link.triple for link in page.items)
    if page.stop is not Stop.COMPLETE or not 0 < len(triples) <= most or not all(map(_is_named, triples)):
        return None
    return WalkedStep(page.anchors.get(entity.id, entity), direction, relation, triples)
