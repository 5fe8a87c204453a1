"""GraphWalker's two tools: the relations around an entity, and the triples of those that were chosen.

Unlike the paper's public code, each relation keeps its direction, the order is the same at every call, sibling roles
of a mediator stay together, and what was left out is said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial

from kgnav_mcp.model import AnchoredPage, Entity, Link, Page, RelationFacts, Stop
from kgnav_mcp.navigation.flattening import flattened
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import from_place, has_rows_of, only, ranked, relation_facts
from kgnav_mcp.navigation.ranking import Ranker, bm25
from kgnav_mcp.navigation.resolving import at_entity, meant_relations, resolve_entity, unknown_relation
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
    anchor, offered = await at_entity(graph, entity, partial(_offered, graph, limits))
    facts = from_place(offered.items, None, offered.stop)
    page = await ranked(replace(facts, note=offered.note), question, anchor, ranker, after)
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

    def read(paths: Sequence[tuple[str, ...]], at: str) -> Awaitable[AnchoredPage[Link]]:
        return flattened(graph, [at], None, paths=paths, limit=limits.rows, room=limits.room, after=after)

    if after is None and all(map(limits.offers, relations)):
        entity, page = await at_entity(graph, entity, partial(read, [(name,) for name in relations]))
        if all(has_rows_of(page, name) for name in relations):
            return entity, page
    anchor = entity if isinstance(entity, Entity) else await resolve_entity(graph, entity)
    return anchor, await read(await _meant(graph, anchor, relations, limits), anchor.id)


async def _meant(
    graph: GraphAdapter, entity: Entity, relations: Sequence[str], limits: Limits
) -> list[tuple[str, ...]]:
    """The paths that names mean; a name that means none is an error."""
    offered = (await _offered(graph, limits, entity.id, hops=1, hidden=True)).items
    meant, unknown = meant_relations(relations, offered)
    if unknown:
        offered = (await _offered(graph, limits, entity.id, hidden=True)).items
        meant, unknown = meant_relations(relations, offered)
    if unknown:
        raise unknown_relation(unknown[0], entity, None, offered)
    return list(dict.fromkeys(tuple(hop.id for hop in fact.hops) for fact in meant))


async def _offered(
    graph: GraphAdapter, limits: Limits, entity: str, *, hops: int = 2, hidden: bool = False
) -> AnchoredPage[RelationFacts]:
    """The relations of an entity in both directions that the lists let be offered."""
    page = await relation_facts(graph, entity, None, hops=hops, hidden=hidden, limits=limits)
    return only(page, [limits.offers(fact.relation.id) for fact in page.items])
