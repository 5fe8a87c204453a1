"""Pages of the triples at some entities, and of the edges between two sets of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import ClassVar, Generic

from kgnav_mcp.adapters.paging.counts import E, K, RelationCounts
from kgnav_mcp.adapters.paging.positions import (
    Place,
    Position,
    R,
    ReadPlan,
    Rows,
    Segment,
    SegmentPart,
    in_order,
    plan_reads,
)
from kgnav_mcp.concurrency import gathered, gathered_for, in_thread
from kgnav_mcp.model import Count, Page, Stop, Triple
from kgnav_mcp.port.lists import invalid_cursor


class RowSource(ABC, Generic[E, K, R]):
    """How a store counts and reads the rows of one request: entities, direction, paths and kind of far end.

    Adapters derive from it.
    """

    rows_per_query: ClassVar[int] = 5_000
    """Roughly how many rows of small segments one query reads."""
    segments_per_query: ClassVar[int] = 300
    """How many small segments one query reads at most."""
    note: str = ""
    """The page's note on what `counts` left out."""

    @abstractmethod
    def ids(self, path: tuple[K, ...]) -> tuple[str, ...]:
        """The ids of a path's relations, as answers print them."""

    async def probe(self, limit: int, *, all_or_none: bool) -> RelationCounts[E, K] | Count | None:  # noqa: ARG002
        """A shortcut for the first page that avoids counting all rows.

        Returns the counts of a list so short that its rows were read at once; or, with `all_or_none`, a total above the
        limit; or None if the rows have to be counted.
        """
        return None

    @abstractmethod
    async def counts(self) -> RelationCounts[E, K]:
        """The number of rows of the request, by entity and path."""

    async def counts_from(self, start: Position, limit: int) -> RelationCounts[E, K]:  # noqa: ARG002
        """Counts for a page that starts at a position. They may end early, but must cover more than `limit` rows."""
        return await self.counts()

    @abstractmethod
    def is_small(self, segment: Segment[E, K]) -> bool:
        """Whether a segment is small enough to be read whole, together with others."""

    @abstractmethod
    async def read_together(self, wanted: Sequence[SegmentPart[E, K]]) -> Sequence[Rows[R]]:
        """The wanted rows of several small segments, read at once, in the order of `wanted`."""

    @abstractmethod
    async def read_slice(self, wanted: SegmentPart[E, K]) -> Rows[R]:
        """The wanted rows of one large segment: `most` of them, fewer only if the segment ends before."""

    @abstractmethod
    async def triples(self, rows: Sequence[tuple[Segment[E, K], R]]) -> Sequence[Triple]:
        """Rows as triples, with the labels of their entities and relations."""


async def neighbours_page(
    source: RowSource[E, K, R], entities: Sequence[E], *, limit: int, after: str | None, all_or_none: bool
) -> Page[Triple]:
    """One page of the triples at the entities, as `GraphAdapter.neighbours` defines it.

    Raises:
        InvalidCursor: `after` is no position of this list.
    """
    page = await rows_page(source, entities, limit=limit, after=after, all_or_none=all_or_none)
    return Page(tuple(await source.triples(page.items)), page.positions, page.total, page.stop, page.note)


async def rows_page(
    source: RowSource[E, K, R], entities: Sequence[E], *, limit: int, after: str | None, all_or_none: bool
) -> Page[tuple[Segment[E, K], R]]:
    """The same page as `neighbours_page`, but as rows of the store, each with its segment.

    Raises:
        InvalidCursor: as `neighbours_page`.
    """
    start = Position.parse(after) if after is not None else None
    if start is not None and start.entity >= len(entities):
        raise invalid_cursor(after or "")
    all_or_none = all_or_none and start is None
    counts: RelationCounts[E, K] | Count | None
    if start is not None:
        counts = await source.counts_from(start, limit)
    else:
        counts = await source.probe(limit, all_or_none=all_or_none)
    if isinstance(counts, Count):
        return Page((), (), counts, Stop.LIMIT)
    if counts is None:
        counts = await source.counts()
    total = await in_thread(len(counts.rows), lambda: counts.total)
    if all_or_none and total.value > limit:
        return Page((), (), total, Stop.LIMIT, source.note)
    segments = in_order(counts, entities, source.ids, start)
    first = next(segments, None)
    place = Place()
    if first is not None and start is not None and (first.index, source.ids(first.path)) == (start.entity, start.path):
        place = start.place
    segments = chain([first] if first is not None else [], segments)
    parts, more = await read_rows(source, segments, place, limit, entities=len(counts.rows))

    def page() -> Page[tuple[Segment[E, K], R]]:
        missing = Stop.first(part.stop for _, part in parts if part.stop is not Stop.LIMIT)
        rows = [(segment, row, next_place) for segment, part in parts for row, next_place in part.items]
        cut = more or len(rows) > limit
        if all_or_none and cut and missing is not Stop.TIME_OUT:
            return Page((), (), Count.at_least(max(total.value, limit + 1)), Stop.LIMIT, source.note)
        rows = rows[:limit]
        return Page(
            items=tuple((segment, row) for segment, row, _ in rows),
            positions=tuple(
                Position(segment.index, source.ids(segment.path), next_place).write() for segment, _, next_place in rows
            ),
            total=total,
            stop=Stop.first((counts.stop, missing, Stop.LIMIT if cut else Stop.COMPLETE)),
            note=source.note,
        )

    return await in_thread(max(len(parts), min(limit, total.value)), page)


async def read_rows(
    source: RowSource[E, K, R], segments: Iterator[Segment[E, K]], start: Place, limit: int, *, entities: int = 1
) -> tuple[list[tuple[Segment[E, K], Rows[R]]], bool]:
    """Rows of the next segments, starting at a place in the first one; and whether more rows follow.

    Reads at least `limit` rows if there are as many. Reading stops at the first segment that was not read to its end:
    going on would skip its missing rows. `entities` is the number of entities that the segments belong to; it decides
    whether the work is done in a thread.
    """
    parts: list[tuple[Segment[E, K], Rows[R]]] = []
    while limit > 0:
        planned = await in_thread(entities, partial(_plan, source, segments, start, limit))
        if not planned.wanted:
            break
        groups, slices = await _read(source, planned)
        read = await in_thread(len(planned.wanted), partial(planned.in_order, groups, slices))
        start = Place()
        for n, (segment, rows) in enumerate(read):
            parts.append((segment, rows))
            limit -= len(rows.items)
            if rows.stop is Stop.LIMIT and limit > 0 and rows.items:  # earlier segments had fewer rows than counted
                start = rows.items[-1][1]
                segments = chain((left.segment for left in planned.wanted[n:]), segments)
                break
            if rows.stop is not Stop.COMPLETE:
                return parts, True
    return parts, next(segments, None) is not None


async def _read(
    source: RowSource[E, K, R], planned: ReadPlan[E, K]
) -> tuple[Sequence[Sequence[Rows[R]]], Sequence[Rows[R]]]:
    """The rows of a plan, by group and by slice, all read at the same time."""
    if not planned.slices:
        return await gathered(*map(source.read_together, planned.small_groups)), ()
    return await gathered(
        gathered_for(planned.small_groups, source.read_together), gathered_for(planned.slices, source.read_slice)
    )


def _plan(source: RowSource[E, K, R], segments: Iterator[Segment[E, K]], start: Place, limit: int) -> ReadPlan[E, K]:
    return plan_reads(
        segments, start, limit, source.is_small, rows=source.rows_per_query, size=source.segments_per_query
    )


_PATH = ("edges",)
"""Placeholder for the path in a position: all edges of a head are one list, whatever their relation."""


class EdgeSource(ABC, Generic[E, R]):
    """How a store finds the edges that lead to a given set of tails. Adapters derive from it."""

    heads_at_once: ClassVar[int] = 1_000

    @abstractmethod
    async def edges(self, heads: Sequence[E]) -> tuple[Mapping[E, Sequence[R]], Stop]:
        """The edges to the tails, by head and in order; and the reason why some may be missing (COMPLETE: none is)."""

    @abstractmethod
    async def triples(self, edges: Sequence[tuple[E, R]]) -> Sequence[Triple]:
        """Edges as triples, with the labels of their entities and relations."""


async def edges_page(source: EdgeSource[E, R], heads: Sequence[E], *, limit: int, after: str | None) -> Page[Triple]:
    """One page of edges, as `GraphAdapter.edges` defines it. Heads are read in batches until the page is full.

    Raises:
        InvalidCursor: `after` is no position of this list.
    """
    start = Position.parse(after) if after is not None else Position(0, _PATH)
    if start.entity >= len(heads) or start.path != _PATH:
        raise invalid_cursor(after or "")
    found: list[tuple[E, R, str]] = []
    stop, begin = Stop.COMPLETE, start.entity
    while begin < len(heads) and len(found) <= limit and stop is Stop.COMPLETE:
        batch = heads[begin : begin + source.heads_at_once]
        edges, stop = await source.edges(batch)
        found += await in_thread(len(batch), partial(_with_positions, edges, batch, begin, start))
        begin += len(batch)
    more = len(found) > limit
    total = Count.at_least(len(found)) if more or after is not None or stop is not Stop.COMPLETE else Count(len(found))
    shown = found[:limit]
    return Page(
        items=tuple(await source.triples([(head, edge) for head, edge, _ in shown])),
        positions=tuple(position for _, _, position in shown),
        total=total,
        stop=Stop.LIMIT if more else stop,
    )


def _with_positions(
    edges: Mapping[E, Sequence[R]], heads: Sequence[E], begin: int, start: Position
) -> list[tuple[E, R, str]]:
    """The edges of a batch of heads from a position on, each with the position after it."""
    found: list[tuple[E, R, str]] = []
    for index, head in enumerate(heads, begin):
        skip = start.place[0] if index == start.entity else 0
        for n, edge in enumerate(edges.get(head, ())[skip:], skip + 1):
            found.append((head, edge, Position(index, _PATH, Place(n)).write()))
    return found
