"""GraphWalker's two tools: the relations around an entity, and the triples of chosen relations.

Unlike in the paper's public code, each relation keeps its direction, the order is the same at every call, sibling roles
of a mediator stay together, and answers say what was left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kgnav_mcp.model import AnchoredPage, AtEntities, Direction, Link, RelationFacts, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import page_after, select
from kgnav_mcp.navigation.ranking import Ranker, bm25
from kgnav_mcp.navigation.references import Given, read_at_entities
from kgnav_mcp.navigation.relation_lists import ranked, relation_facts
from kgnav_mcp.navigation.relation_reader import RelationReader, lacking_all
from kgnav_mcp.port import GraphAdapter


async def get_relations(
    graph: GraphAdapter,
    given: Given,
    *,
    question: str | None = None,
    after: str | None = None,
    limits: Limits,
    ranker: Ranker = bm25,
) -> AtEntities[RelationFacts]:
    """Every relation at one or several entities in both directions; a question ranks them and selects the best.

    GraphWalker, relation retrieval. The best relations are a page: `after` continues with the lower ranks.

    Raises:
        UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
    """
    entities, offered = await read_at_entities(graph, given, partial(_offered, graph, limits))
    facts = replace(page_after(offered.items, None, offered.stop), note=offered.note)
    page = await ranked(facts, question, entities[0] if len(entities) == 1 else None, ranker, after)
    if question and len(page.items) > limits.top_k:
        cut = slice(limits.top_k)
        page = replace(page, items=page.items[cut], positions=page.positions[cut], stop=Stop.LIMIT)
    return AtEntities(entities, page, lacking_all(facts, entities))


async def get_triples(
    graph: GraphAdapter,
    given: Given,
    relations: Sequence[str],
    *,
    after: str | None = None,
    limits: Limits,
    refuse_absent: bool = False,
) -> AtEntities[Link]:
    """The triples of the chosen relations at one or several entities, in both directions.

    GraphWalker, triple retrieval.

    Raises:
        UnknownRelation: none of the entities has any of these relations in either direction; with `refuse_absent` also
            if they have some of them only.
        UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
    """
    follower = RelationReader(graph, None, limits, offers=limits.offers, refuse_absent=refuse_absent)
    return await follower.rows(given, relations, after)


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
