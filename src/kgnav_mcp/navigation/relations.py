"""GraphWalker's two tools: the relations around an entity, and the triples of those that were chosen.

Unlike the paper's public code, each relation keeps its direction, the order is the same at every call, sibling roles
of a mediator stay together, and what was left out is said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Direction, Entity, Link, Node, Page, RelationFacts, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.links import Paths, links
from kgnav_mcp.navigation.neighbourhood import from_place, ranked, relation_facts
from kgnav_mcp.navigation.ranking import Ranker, bm25
from kgnav_mcp.navigation.resolving import id_of, meant_relations, met_or_resolved, unknown_relation
from kgnav_mcp.port import GraphAdapter


async def get_relations(
    graph: GraphAdapter,
    entity: Entity | str,
    *,
    question: str | None = None,
    after: str | None = None,
    limits: Limits,
    ranker: Ranker = bm25,
) -> tuple[Entity, Page[RelationFacts]]:
    """The entity, and every relation at it in either direction; ranked and cut to the best ones by a question.

    GraphWalker, relation retrieval. The cut is a page: `after` goes on with the lower ranks. The entity may be given
    as a user wrote it: that is its id as a rule, so that its relations are read while it is looked up.

    Raises:
        UnknownEntity, AmbiguousEntity, InvalidArgument: as `resolve_entity`.
    """
    anchor, offered = await gathered(met_or_resolved(graph, entity, None), _offered(graph, id_of(entity), limits))
    if anchor.id != id_of(entity):
        offered = await _offered(graph, anchor.id, limits)
    facts, stop, note = offered
    page = await ranked(replace(from_place(facts, None, stop), note=note), question, anchor, ranker, after)
    if question and len(page.items) > limits.ranked:
        cut = slice(limits.ranked)
        page = replace(page, items=page.items[cut], positions=page.positions[cut], stop=Stop.LIMIT)
    return anchor, page


async def get_triples(
    graph: GraphAdapter, entity: Entity | str, relations: Sequence[str], *, after: str | None = None, limits: Limits
) -> tuple[Entity, Page[Link]]:
    """The entity, and its triples of the chosen relations, in whichever direction it has them (GraphWalker).

    The entity may be given as a user wrote it. Names are ids as a rule, so that they are followed as they are; what
    they mean is looked up only where one of them gave no row. A cursor was made for what they mean.

    Raises:
        UnknownRelation: the entity has no relation of that name in either direction.
        UnknownEntity, AmbiguousEntity, InvalidArgument: as `resolve_entity`.
    """
    met: set[str] = set()

    def read(at: str, outgoing: Paths, incoming: Paths) -> Awaitable[Page[Link]]:
        return links(
            graph, [at], outgoing=outgoing, incoming=incoming, limit=limits.rows, room=limits.room, after=after, met=met
        )

    if after is None and all(map(limits.offers, relations)):
        given = [(name,) for name in relations]
        page = await read(id_of(entity), given, given)
        entity = await met_or_resolved(graph, entity, _anchor(page))
        if met.issuperset(relations):
            return entity, page
    anchor = await met_or_resolved(graph, entity, None)
    outgoing, incoming = await _meant(graph, anchor, relations, limits)
    return anchor, await read(anchor.id, outgoing, incoming)


def _anchor(page: Page[Link]) -> Node | None:
    """The node that the triples are at, where there are any."""
    return page.items[0].triple.far_end(page.items[0].direction.opposite) if page.items else None


async def _meant(
    graph: GraphAdapter, entity: Entity, relations: Sequence[str], limits: Limits
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The outgoing and the incoming paths that names mean; a name that means none is an error."""
    offered, _, _ = await _offered(graph, entity.id, limits, hops=1, hidden=True)
    meant, unknown = meant_relations(relations, offered)
    if unknown:
        offered, _, _ = await _offered(graph, entity.id, limits, hidden=True)
        meant, unknown = meant_relations(relations, offered)
    if unknown:
        raise unknown_relation(unknown[0], entity, None, offered)
    outgoing, incoming = (
        [tuple(hop.id for hop in fact.hops) for fact in meant if fact.direction is side]
        for side in (Direction.OUTGOING, Direction.INCOMING)
    )
    return outgoing, incoming


async def _offered(
    graph: GraphAdapter, entity: str, limits: Limits, *, hops: int = 2, hidden: bool = False
) -> tuple[list[RelationFacts], Stop, str]:
    outgoing, incoming = await gathered(
        relation_facts(graph, entity, Direction.OUTGOING, hops=hops, hidden=hidden, limits=limits),
        relation_facts(graph, entity, Direction.INCOMING, hops=hops, hidden=hidden, limits=limits),
    )
    facts = [fact for fact in (*outgoing.items, *incoming.items) if limits.offers(fact.relation.id)]
    stop = next((page.stop for page in (outgoing, incoming) if page.stop is not Stop.COMPLETE), Stop.COMPLETE)
    return facts, stop, " ".join(filter(None, (outgoing.note, incoming.note)))
