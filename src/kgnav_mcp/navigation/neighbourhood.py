"""Search-on-Graph's `search`: Algorithm 1 as a function over what an adapter states.

    a filter?                 the triples of those relations, p at most
    no more than k triples?   the triples
    only one relation?        the triples, p at most                             (a list of one would say nothing)
    otherwise                 its distinct relations, with counts and examples   (the hub collapses)

The paper fetches the whole neighbourhood and collapses it afterwards. Here the store is asked for no more than k rows,
and for its distinct relations where there are more, so that the cost follows their number and not the degree.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

from kgnav_mcp.errors import InvalidCursor, StoreTimeout
from kgnav_mcp.model import (
    AnchoredPage,
    Certainty,
    Count,
    Direction,
    Entity,
    Link,
    Neighbourhood,
    Page,
    Relation,
    RelationFacts,
    Stop,
    Triple,
)
from kgnav_mcp.navigation.flattening import FlattenedPosition, flattened, flattened_page
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import page_after, select
from kgnav_mcp.navigation.ranking import Ranker, bm25
from kgnav_mcp.navigation.resolving import matching_relations, read_at_entity, resolve_entity, unknown_relation
from kgnav_mcp.port import Capability, GraphAdapter

_QUALIFIED = 2
"""Triples that are named where an entity is nothing but the value of their qualifiers."""


async def search(
    graph: GraphAdapter,
    entity: Entity | str,
    direction: Direction,
    *,
    only: Sequence[str] = (),
    question: str | None = None,
    after: str | None = None,
    limits: Limits,
    ranker: Ranker = bm25,
) -> Neighbourhood:
    """The neighbourhood of an entity in one direction, or its relations where it is a hub (SoG, Algorithm 1).

    The entity may be given as a user wrote it. `only` filters by relation id or label and switches the collapse off.
    `question` ranks the relations of a hub.

    Raises:
        UnknownRelation: a filter names no relation of this entity in this direction.
        InvalidCursor: the list is not what it was when the cursor was made.
        UnknownEntity, AmbiguousEntity, InvalidArgument: as `resolve_entity`.
    """
    if only:
        return await _filtered(graph, entity, direction, only, after=after, limits=limits)
    anchor, found = await read_at_entity(graph, entity, partial(_rows_or_relations, graph, direction, limits))
    if found.relations is not None:
        return await _collapsed(
            graph, anchor, direction, found.relations, question, after=after, limits=limits, ranker=ranker
        )
    if after is not None:
        rows = await flattened(graph, [anchor.id], direction, limit=limits.hub_threshold, after=after)
        return Neighbourhood(anchor, direction, rows=_triples(rows))
    rows = await flattened_page(graph, found.rows)
    if rows.items:
        return Neighbourhood(anchor, direction, rows=_triples(rows))
    there = await graph.neighbours([anchor.id], direction.opposite, limit=1)
    opposite = there.total if there.total.certainty is not Certainty.UNKNOWN else Count.at_least(len(there.items))
    qualified = None if opposite.value else await _qualified(graph, anchor)
    return Neighbourhood(anchor, direction, rows=_triples(rows), opposite=opposite, qualified=qualified)


async def _qualified(graph: GraphAdapter, entity: Entity) -> tuple[Triple, ...] | None:
    """A few triples that an entity without rows is a qualifier of; None where that cannot be told in time."""
    try:
        return await graph.qualified(entity.id, limit=_QUALIFIED)
    except StoreTimeout:
        return None  # The answer is there, and says that this is not known.


@dataclass(frozen=True, slots=True)
class _RowsOrRelations:
    """The rows at an entity; its relations, and no rows, where it is a hub."""

    rows: AnchoredPage[Link]
    relations: AnchoredPage[RelationFacts] | None = None

    @property
    def items(self) -> Sequence[object]:
        return self.rows.items if self.relations is None else self.relations.items

    @property
    def anchors(self) -> Mapping[str, Entity]:
        return self.rows.anchors if self.relations is None else self.relations.anchors


async def _rows_or_relations(
    graph: GraphAdapter, direction: Direction, limits: Limits, entity: str
) -> _RowsOrRelations:
    rows = await graph.neighbours([entity], direction, limit=limits.hub_threshold, all_or_none=True)
    if rows.stop is not Stop.LIMIT:
        return _RowsOrRelations(rows)
    return _RowsOrRelations(
        rows, await relation_facts(graph, entity, direction, examples=limits.examples, limits=limits)
    )


async def _collapsed(
    graph: GraphAdapter,
    anchor: Entity,
    direction: Direction,
    facts: Page[RelationFacts],
    question: str | None,
    *,
    after: str | None,
    limits: Limits,
    ranker: Ranker,
) -> Neighbourhood:
    """The relations of a hub, or k rows where it has only one relation."""
    single = None if limits.collapse_single else single_relation(facts)
    if after is not None and FlattenedPosition.matches(after) is (single is None):
        raise InvalidCursor(
            "the relations of this entity are not those there were when this cursor was made",
            next_step="Repeat the call without the cursor to start anew.",
        )
    if single is not None:
        rows = await flattened(
            graph, [anchor.id], direction, paths=[(single.id,)], limit=limits.hub_threshold, after=after
        )
        note = " ".join(filter(None, (rows.note, facts.note)))
        return Neighbourhood(anchor, direction, rows=replace(_triples(rows), note=note))
    return Neighbourhood(anchor, direction, relations=await ranked(facts, question, anchor, ranker, after))


def single_relation(facts: Page[RelationFacts]) -> Relation | None:
    """The only relation, unless it leads to mediators with several two-hop relations to choose from."""
    one_hop = [fact.relation for fact in facts.items if len(fact.hops) == 1]
    chosen_from = len(one_hop) == 1 and len(facts.items) <= 2
    return one_hop[0] if chosen_from and facts.stop is Stop.COMPLETE else None


def _triples(page: Page[Link]) -> Page[Triple]:
    triples = tuple(link.triple for link in page.items)
    return Page(triples, page.positions, page.total, page.stop, page.note)


async def _filtered(
    graph: GraphAdapter,
    entity: Entity | str,
    direction: Direction,
    only: Sequence[str],
    *,
    after: str | None,
    limits: Limits,
) -> Neighbourhood:
    """The rows of the named relations.

    Names are tried as ids first. Only where one of them gives no row are they matched to the entity's relations. A
    cursor belongs to the list of the matched relations.
    """

    def read(paths: Sequence[tuple[str, ...]], at: str) -> Awaitable[AnchoredPage[Link]]:
        return flattened(
            graph, [at], direction, paths=paths, limit=limits.row_limit, characters=limits.characters, after=after
        )

    if after is None:
        entity, rows = await read_at_entity(graph, entity, partial(read, [(name,) for name in only]))
        if all(has_rows_of(rows, name) for name in only):
            return Neighbourhood(entity, direction, rows=_triples(rows))
    anchor = entity if isinstance(entity, Entity) else await resolve_entity(graph, entity)
    rows = await read(await _filter(graph, anchor, direction, only, limits), anchor.id)
    return Neighbourhood(anchor, direction, rows=_triples(rows))


def has_rows_of(page: Page[Link], relation: str) -> bool:
    """Whether a page of flattened rows has some of a one-hop relation, which may lead to mediators."""
    for link in page.items:
        name = link.triple.relation.id
        near = f"{relation}." if link.direction is Direction.OUTGOING else f".{relation}"
        begins = name.startswith(near) if link.direction is Direction.OUTGOING else name.endswith(near)
        if name == relation or (link.triple.via is not None and begins):
            return True
    return False


async def _filter(
    graph: GraphAdapter, entity: Entity, direction: Direction, only: Sequence[str], limits: Limits
) -> list[tuple[str, ...]]:
    """The paths that the filter names.

    Raises:
        UnknownRelation: a name matches no relation; with the direction that has it, if one does.
    """
    facts = (await relation_facts(graph, entity.id, direction, hops=1, hidden=True, limits=limits)).items
    meant, unknown = matching_relations(only, facts)
    if unknown:
        facts = (await relation_facts(graph, entity.id, direction, hidden=True, limits=limits)).items
        meant, unknown = matching_relations(only, facts)
    if unknown:
        opposite = (await relation_facts(graph, entity.id, direction.opposite, limits=limits)).items
        raise unknown_relation(unknown[0], entity, direction, facts, opposite)
    return [tuple(hop.id for hop in fact.hops) for fact in meant]


async def relation_facts(
    graph: GraphAdapter,
    entity: str,
    direction: Direction | None,
    *,
    hops: int = 2,
    examples: int = 0,
    hidden: bool = False,
    limits: Limits,
) -> AnchoredPage[RelationFacts]:
    """An entity's distinct relations; with `hops` 2 also the two-hop ones through mediators.

    Those that are shown only when asked for by name are left out, and counted in the page's note, unless `hidden`.
    """
    hops = hops if Capability.MEDIATORS in graph.capabilities else 1
    page = await graph.relations([entity], direction, hops=hops, examples=examples, limit=limits.relation_limit)
    page = without_classes(page, graph)
    return page if hidden else _without_hidden(page)


def without_classes(page: AnchoredPage[RelationFacts], graph: GraphAdapter) -> AnchoredPage[RelationFacts]:
    """The relations without those that lead through a mediator to its class: a class is not one of its roles."""
    classes = graph.class_relations
    roles = [
        len(facts.hops) == 1 or facts.direction is Direction.INCOMING or facts.hops[-1].id not in classes
        for facts in page.items
    ]
    return page if all(roles) else select(page, roles)


def _without_hidden(page: AnchoredPage[RelationFacts]) -> AnchoredPage[RelationFacts]:
    left_out = [facts.relation.id for facts in page.items if facts.hidden]
    if not left_out:
        return page
    example = min(left_out, key=lambda name: (len(name), name))
    note = f"{len(left_out):,} more relations, to identifiers elsewhere, are shown when named, such as {example}."
    shown = select(page, [not facts.hidden for facts in page.items])
    return replace(shown, note=" ".join(filter(None, (page.note, note))))


async def ranked(
    facts: Page[RelationFacts], question: str | None, anchor: Entity, ranker: Ranker, after: str | None
) -> Page[RelationFacts]:
    """The relations ranked by the question, from the position `after` on; in their own order without a question.

    Among those that fit it equally, or not at all, those with the most rows come first.

    A position names the order it belongs to. Where the order has changed since, the next page would show some
    relations twice and others never.

    Raises:
        InvalidCursor: the relations are not in that order any more.
    """
    if not question:
        return replace(page_after(facts.items, after, facts.stop), note=facts.note)
    most_rows_first = sorted(facts.items, key=lambda fact: -fact.count.value)
    ranking = await ranker(question, anchor, most_rows_first)
    matching = [replace(fact, matches=True) for fact in ranking.relations[: ranking.matching]]
    relations = (*matching, *ranking.relations[ranking.matching :])
    order = _fingerprint(relations)
    start, _, started = (after or f"0@{order}").partition("@")
    if started != order:
        raise InvalidCursor(
            "the relations are not ranked as they were when this cursor was made",
            next_step="Repeat the call without the cursor to start anew.",
        )
    page = page_after(relations, start, facts.stop)
    note = " ".join(filter(None, (ranking.note, facts.note)))
    return replace(page, positions=tuple(f"{place}@{order}" for place in page.positions), note=note)


def _fingerprint(relations: Sequence[RelationFacts]) -> str:
    named = "\n".join(f"{facts.direction} {facts.relation.id}" for facts in relations)
    return blake2b(named.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
