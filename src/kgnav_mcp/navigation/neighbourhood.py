"""Search-on-Graph's `search`: Algorithm 1 over the facts of an adapter.

    a filter?                 the triples of those relations, p at most
    no more than k triples?   the triples
    only one relation?        the triples, p at most                             (a list of one would say nothing)
    otherwise                 its distinct relations, with counts and examples   (a hub)

The paper fetches the whole neighbourhood and summarizes it afterwards. Here at most k rows are read, and if there are
more, the distinct relations, so that the cost depends on the number of relations, not on the degree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kgnav_mcp.errors import InvalidCursor, StoreTimeout
from kgnav_mcp.model import (
    Certainty,
    Count,
    Direction,
    Entity,
    Link,
    Neighbourhood,
    Page,
    RelationFacts,
    RowsOrRelations,
    Stop,
    Triple,
)
from kgnav_mcp.navigation.flattening import FlattenedPosition, flatten_page, read_flattened
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.references import EntityArgument, read_at_entities
from kgnav_mcp.navigation.relation_lists import (
    Ranker,
    bm25,
    hops_of,
    rank_relations,
    single_relation,
    without_classes,
    without_hidden,
)
from kgnav_mcp.navigation.relation_reader import NamedRelationReader, entities_without, entities_without_any
from kgnav_mcp.port import ANY_FAR_END, FarEndFilter, GraphAdapter

_QUALIFIED = 2
"""Triples that are shown for an entity without rows which is the value of qualifiers."""


async def search(
    graph: GraphAdapter,
    anchors: EntityArgument,
    direction: Direction,
    *,
    only: Sequence[str] = (),
    far: FarEndFilter = ANY_FAR_END,
    question: str | None = None,
    after: str | None = None,
    limits: Limits,
    ranker: Ranker = bm25,
    refuse_absent: bool = False,
) -> Neighbourhood:
    """The neighbourhood of one or several entities in one direction, or their relations at a hub (SoG, Algorithm 1).

    Several entities are a hub if they have more than k rows together. `only` filters by relation id or label, `far` by
    the far ends of the rows; with either, rows are listed even at a hub. `question` ranks the relations of a hub.

    Raises:
        UnknownRelation: no filter names a relation of these entities in this direction; with `refuse_absent` also if
            only some do.
        InvalidCursor: the list has changed since the cursor was made.
        UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
    """
    if only or far.is_selective:
        at_entities = await NamedRelationReader(graph, direction, limits, far, refuse_absent=refuse_absent).rows(
            anchors, only, after
        )
        return Neighbourhood(
            at_entities.entities,
            direction,
            rows=_triples(at_entities.page),
            entities_without=at_entities.entities_without,
            absent=at_entities.absent,
        )
    entities, answer = await read_at_entities(graph, anchors, partial(_rows_or_relations, graph, direction, limits))
    if answer.relations is not None:
        return await _hub_relations(
            graph, entities, direction, answer.relations, question, after=after, limits=limits, ranker=ranker
        )
    ids = [entity.id for entity in entities]
    if after is not None:
        rows = await read_flattened(
            graph, ids, direction, limit=limits.hub_threshold, after=after, flatten=limits.flatten
        )
        return Neighbourhood(entities, direction, rows=_triples(rows))
    rows = await flatten_page(graph, answer.rows, flatten=limits.flatten)
    if rows.items:
        having = {link.anchor.id for link in rows.items}
        without = entities_without({"": having}, entities) if rows.stop is Stop.COMPLETE else ()
        return Neighbourhood(entities, direction, rows=_triples(rows), entities_without=without)
    opposite_page = await graph.neighbours(ids, direction.opposite, limit=1)
    opposite = (
        opposite_page.total
        if opposite_page.total.certainty is not Certainty.UNKNOWN
        else Count.at_least(len(opposite_page.items))
    )
    single = entities[0] if len(entities) == 1 else None
    qualified = await _qualified(graph, single) if single and not opposite.value else None
    return Neighbourhood(entities, direction, rows=_triples(rows), opposite=opposite, qualified=qualified)


async def _qualified(graph: GraphAdapter, entity: Entity) -> tuple[Triple, ...] | None:
    """A few triples that have the entity as a qualifier's value; None if the store cannot tell in time."""
    try:
        return await graph.triples_by_qualifier(entity.id, limit=_QUALIFIED)
    except StoreTimeout:
        return None  # The rest of the answer is complete; it says that this is unknown.


async def _rows_or_relations(
    graph: GraphAdapter, direction: Direction, limits: Limits, ids: Sequence[str]
) -> RowsOrRelations:
    answer = await graph.rows_or_relations(
        ids,
        direction,
        rows=limits.hub_threshold,
        relations=limits.relation_limit,
        hops=hops_of(graph, flatten=limits.flatten),
        examples=limits.examples,
    )
    if answer.relations is None:
        return answer
    return replace(answer, relations=without_hidden(without_classes(answer.relations, graph)))


async def _hub_relations(
    graph: GraphAdapter,
    entities: tuple[Entity, ...],
    direction: Direction,
    facts: Page[RelationFacts],
    question: str | None,
    *,
    after: str | None,
    limits: Limits,
    ranker: Ranker,
) -> Neighbourhood:
    """The relations of a hub; if it has only one relation, the first rows (k of them for a single entity)."""
    single = None if limits.collapse_single else single_relation(facts)
    if after is not None and FlattenedPosition.matches(after) is (single is None):
        raise InvalidCursor(
            "the relations of this entity have changed since this cursor was made",
            next_step="Repeat the call without the cursor to start again.",
        )
    anchor = entities[0] if len(entities) == 1 else None
    without = entities_without_any(facts, entities)
    if single is None:
        page = await rank_relations(facts, question, anchor, ranker, after)
        return Neighbourhood(entities, direction, relations=page, entities_without=without)
    ids = [entity.id for entity in entities]
    limit = limits.hub_threshold if anchor else limits.row_limit
    rows = await read_flattened(
        graph, ids, direction, relation_paths=[(single.id,)], limit=limit, characters=limits.characters, after=after
    )
    note = " ".join(filter(None, (rows.note, facts.note)))
    return Neighbourhood(entities, direction, rows=replace(_triples(rows), note=note), entities_without=without)


def _triples(page: Page[Link]) -> Page[Triple]:
    triples = tuple(link.triple for link in page.items)
    return Page(triples, page.positions, page.total, page.stop, page.note)
