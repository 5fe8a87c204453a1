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
from kgnav_mcp.navigation.neighbourhood import has_rows_of, ranked, relation_facts
from kgnav_mcp.navigation.pages import page_after, select
from kgnav_mcp.navigation.ranking import Ranker, bm25
from kgnav_mcp.navigation.resolving import matching_relations, read_at_entity, resolve_entity, unknown_relation
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

    GraphWalker, relation retrieval. The next page has the lower ranks. The entity may be given as a user wrote it.

    Raises:
        UnknownEntity, AmbiguousEntity, InvalidArgument: as `resolve_entity`.
    """
    anchor, offered = await read_at_entity(graph, entity, partial(_offered, graph, limits))
    facts = page_after(offered.items, None, offered.stop)
    page = await ranked(replace(facts, note=offered.note), question, anchor, ranker, after)
    if question and len(page.items) > limits.top_k:
        cut = slice(limits.top_k)
        page = replace(page, items=page.items[cut], positions=page.positions[cut], stop=Stop.LIMIT)
    return anchor, page


async def get_triples(
    graph: GraphAdapter, entity: Entity | str, relations: Sequence[str], *, after: str | None = None, limits: Limits
) -> tuple[Entity, Page[Link]]:
    """The entity, and its triples of the chosen relations, in whichever direction it has them (GraphWalker).

    The entity may be given as a user wrote it. Names are tried as ids first. Only where one of them gives no row are
    they matched to the entity's relations. A cursor belongs to the list of the matched relations.

    Raises:
        UnknownRelation: the entity has no relation of that name in either direction.
        UnknownEntity, AmbiguousEntity, InvalidArgument: as `resolve_entity`.
    """

    def read(paths: Sequence[tuple[str, ...]], at: str) -> Awaitable[AnchoredPage[Link]]:
        return flattened(
            graph, [at], None, paths=paths, limit=limits.row_limit, characters=limits.characters, after=after
        )

    if after is None and all(map(limits.offers, relations)):
        entity, page = await read_at_entity(graph, entity, partial(read, [(name,) for name in relations]))
        if all(has_rows_of(page, name) for name in relations):
            return entity, page
    anchor = entity if isinstance(entity, Entity) else await resolve_entity(graph, entity)
    return anchor, await read(await _matching_paths(graph, anchor, relations, limits), anchor.id)


async def _matching_paths(
    graph: GraphAdapter, entity: Entity, relations: Sequence[str], limits: Limits
) -> list[tuple[str, ...]]:
    """The paths of the relations that names match.

    Raises:
        UnknownRelation: a name matches none.
    """
    offered = (await _offered(graph, limits, entity.id, hops=1, hidden=True)).items
    meant, unknown = matching_relations(relations, offered)
    if unknown:
        offered = (await _offered(graph, limits, entity.id, hidden=True)).items
        meant, unknown = matching_relations(relations, offered)
    if unknown:
        raise unknown_relation(unknown[0], entity, None, offered)
    return list(dict.fromkeys(tuple(hop.id for hop in fact.hops) for fact in meant))


async def _offered(
    graph: GraphAdapter, limits: Limits, entity: str, *, hops: int = 2, hidden: bool = False
) -> AnchoredPage[RelationFacts]:
    """The relations of an entity in both directions that the lists let be offered."""
    page = await relation_facts(graph, entity, None, hops=hops, hidden=hidden, limits=limits)
    return select(page, [limits.offers(fact.relation.id) for fact in page.items])
