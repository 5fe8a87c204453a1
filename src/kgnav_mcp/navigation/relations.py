"""GraphWalker's two tools: the relations around an entity, and the triples of chosen relations.

Unlike in the paper's public code, each relation keeps its direction, the order is the same at every call, sibling roles
of a mediator stay together, and answers state what was omitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kgnav_mcp.concurrency import gathered_for
from kgnav_mcp.model import AnchoredPage, AtEntities, Direction, Entity, Link, RelationFacts, Stop, Triple
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import page_after, refuse_partial, select
from kgnav_mcp.navigation.references import EntityArgument, read_at_entities, resolve_entities
from kgnav_mcp.navigation.relation_lists import Ranker, bm25, rank_relations, relation_facts
from kgnav_mcp.navigation.relation_matching import RelationMatcher
from kgnav_mcp.navigation.relation_reader import NamedRelationReader, entities_without_any, paths_to_far_ends
from kgnav_mcp.port import GraphAdapter


async def get_relations(
    graph: GraphAdapter,
    anchors: EntityArgument,
    *,
    question: str | None = None,
    after: str | None = None,
    limits: Limits,
    ranker: Ranker = bm25,
) -> AtEntities[RelationFacts]:
    """Every relation at one or several entities in both directions; a question ranks them and selects the best.

    GraphWalker's relation retrieval (2.2.1, F.2). The best relations are a page; `after` continues with lower ranks.

    Raises:
        UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
    """
    entities, offered = await read_at_entities(graph, anchors, partial(_offered, graph, limits))
    facts = replace(page_after(offered.items, None, offered.stop), note=offered.note)
    page = await rank_relations(facts, question, entities[0] if len(entities) == 1 else None, ranker, after)
    if question and len(page.items) > limits.top_k:
        cut = slice(limits.top_k)
        page = replace(page, items=page.items[cut], positions=page.positions[cut], stop=Stop.LIMIT)
    return AtEntities(entities, page, entities_without_any(facts, entities))


async def get_triples(
    graph: GraphAdapter,
    anchors: EntityArgument,
    relations: Sequence[str],
    *,
    after: str | None = None,
    limits: Limits,
    refuse_absent: bool = False,
) -> AtEntities[Link]:
    """The triples of the chosen relations at one or several entities, in both directions.

    GraphWalker's triple retrieval (2.2.1, F.3).

    Raises:
        UnknownRelation: none of the entities has any of these relations in either direction; with `refuse_absent` also
            if they have some of them only.
        UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
    """
    reader = NamedRelationReader(graph, None, limits, offers=limits.offers, refuse_absent=refuse_absent)
    return await reader.rows(anchors, relations, after)


async def _offered(graph: GraphAdapter, limits: Limits, ids: Sequence[str]) -> AnchoredPage[RelationFacts]:
    """The relations of entities in both directions that the white-list and black-lists allow."""
    page = await relation_facts(graph, ids, None, limits=limits)
    if limits.relations_per_direction is not None:
        page = select(page, _within_limit(page.items, limits.relations_per_direction))
    return select(page, [limits.offers(fact.relation.id) for fact in page.items])


def _within_limit(facts: Sequence[RelationFacts], limit: int) -> list[bool]:
    """For each relation, whether it is one of the first `limit` of its direction. Two-hop relations always are."""
    ranks = dict.fromkeys(Direction, 0)
    within: list[bool] = []
    for fact in facts:
        ranks[fact.direction] += len(fact.hops) == 1
        within.append(len(fact.hops) > 1 or ranks[fact.direction] <= limit)
    return within


RELATIONS = 4
"""Relations that are followed, the first of the list (GraphWalker, appendix H)."""
TRIPLES_PER_RELATION = 5
"""Triples shown of each relation (GraphWalker, 2.2.1)."""
_ROWS_PER_QUERY = 40
"""Rows that are read of each relation in each direction (GraphWalker, F.3)."""


async def relation_triples(
    graph: GraphAdapter, anchors: EntityArgument, names: Sequence[str], *, limits: Limits
) -> tuple[tuple[Entity, ...], Sequence[Triple]]:
    """The entities, and the first triples of the first relations at them, in both directions.

    A relation to mediators gives the triples of the two-hop relations through them. Each triple is given once, outgoing
    ones first.

    Raises:
        UnknownRelation: the entities have none of these relations in either direction.
        StoreTimeout, Unsupported: the store did not give the whole of a list that is shorter than the limit.
        UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
    """
    first = list(dict.fromkeys(names))[:RELATIONS]
    entities = await resolve_entities(graph, anchors)
    matches = await RelationMatcher(graph, None, limits, hops=2, offers=limits.offers).require(entities, first)
    refuse_partial(matches.offered.stop)
    ids = [entity.id for entity in entities]
    offered = matches.offered.items
    lists = await gathered_for(
        [(fact.direction, path) for fact in matches.facts for path in paths_to_far_ends([fact], offered)],
        lambda one: _read(graph, ids, *one),
    )
    by_relation: dict[str, dict[Triple, None]] = {}
    for link in (link for links in lists for link in links):
        by_relation.setdefault(link.triple.relation.id, {})[_plain(link.triple)] = None
    triples = [triple for of_relation in by_relation.values() for triple in [*of_relation][:TRIPLES_PER_RELATION]]
    return entities, triples


async def _read(graph: GraphAdapter, ids: Sequence[str], direction: Direction, path: tuple[str, ...]) -> Sequence[Link]:
    """The first rows of a relation, without those that end at a mediator."""
    page = await graph.neighbours(ids, direction, relation_paths=[path], limit=_ROWS_PER_QUERY)
    if page.stop is not Stop.LIMIT:
        refuse_partial(page.stop)
    return [link for link in page.items if not (isinstance(link.far_end, Entity) and link.far_end.mediator)]


def _plain(triple: Triple) -> Triple:
    return Triple(triple.head, triple.relation, triple.tail)
