"""Default verbs on top of other verbs: correct for every store, fast for small ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import (
    AnchoredPage,
    Count,
    Direction,
    Entity,
    Health,
    Link,
    Namesake,
    Node,
    Page,
    Relation,
    RelationFacts,
    RowsOrRelations,
    Stop,
    Triple,
)
from kgnav_mcp.port.terms import FarEndKind

if TYPE_CHECKING:
    from kgnav_mcp.port.adapter import GraphAdapter

_ROWS = 5_000
"""Rows of a page that is read here."""
_NAMESAKES = 20
"""Candidates of `find` that are compared with a name, at least."""


async def named(graph: GraphAdapter, name: str, *, limit: int) -> Page[Namesake]:
    """The candidates of `find` that have the name in any letter case, exact spelling first."""
    found = (await graph.find(name, limit=max(limit, _NAMESAKES))).items
    namesakes = [Namesake(one.entity, one.matched) for one in found if one.matched.casefold() == name.casefold()]
    namesakes.sort(key=lambda one: one.name != name)
    positions = tuple(str(place + 1) for place in range(len(namesakes)))
    stop = Stop.LIMIT if len(namesakes) > limit else Stop.COMPLETE
    return Page(tuple(namesakes[:limit]), positions[:limit], Count(len(namesakes)), stop)


async def rows_or_relations(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction,
    *,
    rows: int,
    relations: int,
    hops: int,
    examples: int,
) -> RowsOrRelations:
    """The rows if there are few enough, otherwise the relations."""
    page = await graph.neighbours(ids, direction, limit=rows, all_or_none=True)
    if page.stop is not Stop.LIMIT:
        return RowsOrRelations(page)
    facts = await graph.relations(ids, direction, hops=hops, examples=examples, limit=relations)
    return RowsOrRelations(page, facts)


async def relations(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    hops: int,
    far_ends: FarEndKind | None,
    examples: int,
    limit: int,
) -> AnchoredPage[RelationFacts]:
    """The relations at the entities. All rows are read and counted."""
    if hops == 2:
        raise Unsupported(
            "this store states no two-hop relations", next_step="Ask for relations of one hop: mediators are not known."
        )
    counts: dict[tuple[Direction, Relation], Counter[str]] = defaultdict(Counter)
    ends: dict[tuple[Direction, Relation], dict[Node, None]] = defaultdict(dict)
    page: AnchoredPage[Link] = AnchoredPage((), (), Count(0))
    anchors = page.anchors
    async for page in _pages(graph, ids, direction, far_ends=far_ends):
        anchors = {**page.anchors, **anchors}
        for link in page.items:
            key = link.direction, link.triple.relation
            counts[key][link.anchor.id] += 1
            if len(ends[key]) < examples:
                ends[key][link.far_end] = None
    ordered = sorted(counts, key=lambda key: (key[0] is Direction.INCOMING, key[1].id))
    exact = page.stop is Stop.COMPLETE

    def count(number: int) -> Count:
        return Count(number) if exact else Count.at_least(number)

    items = tuple(
        RelationFacts(
            relation,
            direction_of,
            count(counts[direction_of, relation].total()),
            (relation,),
            tuple(ends[direction_of, relation]),
            per_entity=dict(counts[direction_of, relation]),
        )
        for direction_of, relation in ordered[:limit]
    )
    positions = tuple(str(place + 1) for place in range(len(items)))
    stop = Stop.LIMIT if exact and len(ordered) > limit else page.stop
    return AnchoredPage(items, positions, count(len(ordered)), stop, page.note, anchors)


async def edges(
    graph: GraphAdapter,
    heads: Sequence[str],
    tails: Sequence[str],
    *,
    relations: Sequence[str] | None,
    limit: int,
    after: str | None,
) -> Page[Triple]:
    """The rows from the heads to the tails. All rows of the heads are read and compared."""
    wanted = {entity.id for entity in (await graph.describe(tails)).values()}
    paths = None if relations is None else [(relation,) for relation in relations]
    items: list[Triple] = []
    positions: list[str] = []
    stop = Stop.COMPLETE
    rows = _pages(graph, heads, Direction.OUTGOING, far_ends=FarEndKind.ENTITY, paths=paths, after=after)
    async for page in rows:
        for link, position in zip(page.items, page.positions, strict=True):
            if isinstance(link.far_end, Entity) and link.far_end.id in wanted:
                items.append(link.triple)
                positions.append(position)
        stop = page.stop
        if len(items) > limit:
            return Page(tuple(items[:limit]), tuple(positions[:limit]), Count.at_least(len(items)), Stop.LIMIT)
    complete = stop is Stop.COMPLETE and after is None
    return Page(tuple(items), tuple(positions), Count(len(items)) if complete else Count.at_least(len(items)), stop)


async def health(graph: GraphAdapter) -> Health:
    """The health of a graph that answers, with its size."""
    schema = await graph.schema(limit=1)
    return Health(True, type(graph).__name__, schema.entities, schema.triples)


async def _pages(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    far_ends: FarEndKind | None,
    paths: Sequence[tuple[str, ...]] | None = None,
    after: str | None = None,
) -> AsyncGenerator[AnchoredPage[Link]]:
    """All pages of rows at the entities. The stop of the last one says whether some rows could not be read."""
    while True:
        page = await graph.neighbours(ids, direction, paths=paths, far_ends=far_ends, limit=_ROWS, after=after)
        yield page
        if page.stop is not Stop.LIMIT or not page.items:
            return
        after = page.positions[-1]
