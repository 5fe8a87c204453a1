"""Pages of the triples at entities and of the edges between two sets: their positions, and the planning of reads."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import ClassVar, Generic, NamedTuple, TypeVar

from kgnav_mcp.adapters.paging.counts import E, K, RelationCounts
from kgnav_mcp.concurrency import gathered, gathered_for, in_thread
from kgnav_mcp.model import Count, Page, Stop, Triple
from kgnav_mcp.port.lists import invalid_cursor

_FORM = re.compile(r"(\d{1,13})\|(\d{1,19})\.(\d{1,19})((?::\d{1,13}(?::[^ |]*)?)?)\|([^ ]+(?: [^ ]+)?)", re.ASCII)


class Key(NamedTuple):
    """Where to continue in rows that a store sorts by text, because it has no other stable order.

    Rows are read from the first one whose text is not less than `text`; the first `passed` of those were shown already.
    Blank nodes have no text, and come after all others.
    """

    passed: int = 0
    text: str = ""
    blank: bool = False

    def write(self) -> str:
        """The key as a part of a position; empty for the first key."""
        if self == Key():
            return ""
        return f":{self.passed}" if self.blank else f":{self.passed}:{_encoded(self.text).replace('|', '%7C')}"

    @classmethod
    def parse(cls, text: str) -> Key:
        """The key in a part of a position."""
        if not text:
            return cls()
        passed, separator, encoded = text[1:].partition(":")
        return cls(int(passed), _decoded(encoded), blank=not separator)


class Place(NamedTuple):
    """The place of a row within one path at one entity: the index of its group, and its index within the group.

    In a one-hop path, a group has the rows of one triple: several if there are several statements about it, otherwise
    one. In a two-hop path, a group has the rows behind one node next to the entity. Where rows are read by key, `key`
    is that of the group.
    """

    group: int = 0
    row: int = 0
    key: Key = Key()


_START = Place()


@dataclass(frozen=True, slots=True)
class Position:
    """The position of the next row: index of the entity, path, and place within the path."""

    entity: int
    path: tuple[str, ...]
    place: Place = _START

    def write(self) -> str:
        """The position as text, as pages give it out."""
        place = self.place
        return f"{self.entity}|{place.group}.{place.row}{place.key.write()}|{' '.join(map(_encoded, self.path))}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """The position that a page gave out as text.

        Raises:
            InvalidCursor: the text is not such a position.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise invalid_cursor(text)
        place = Place(int(match[2]), int(match[3]), Key.parse(match[4]))
        return cls(int(match[1]), tuple(map(_decoded, match[5].split(" "))), place)


def _encoded(name: str) -> str:
    return name.replace("%", "%25").replace(" ", "%20")


def _decoded(text: str) -> str:
    return text.replace("%7C", "|").replace("%20", " ").replace("%25", "%")


R = TypeVar("R")
"""A row, as the store returns it."""


@dataclass(frozen=True, slots=True)
class Segment(Generic[E, K]):
    """The rows of one path at one entity. `rows` is their number, a lower bound unless `exact`."""

    index: int
    """The entity's index in the request."""
    entity: E
    path: tuple[K, ...]
    rows: int
    exact: bool = True

    def rows_left(self, start: Place) -> int:
        """The number of counted rows that are left from a place on.

        Inside a two-hop path this is known only within its first group. Later it is counted as 0, so that a page plans
        one segment too many rather than too few.
        """
        if len(self.path) == 1:
            return max(self.rows - start.group, 0)
        return 0 if start.group else max(self.rows - start.row, 0)


@dataclass(frozen=True, slots=True)
class Rows(Generic[R]):
    """Rows read from a segment, each with the place of the row after it.

    `stop` is COMPLETE if the segment was read to its end, LIMIT if more rows follow, otherwise the reason why rows may
    be missing.
    """

    items: Sequence[tuple[R, Place]]
    stop: Stop = Stop.COMPLETE


@dataclass(frozen=True, slots=True)
class SegmentPart(Generic[E, K]):
    """The part of a segment that a page needs: up to `limit` rows from a place on."""

    segment: Segment[E, K]
    start: Place
    limit: int

    def select_from(self, rows: Sequence[tuple[R, Place]], stop: Stop = Stop.COMPLETE) -> Rows[R]:
        """Select this part from all rows of the segment."""
        rest = [row for row in rows if row[1] > self.start]
        if len(rest) > self.limit:
            return Rows(rest[: self.limit], Stop.LIMIT)
        return Rows(rest, stop)


@dataclass(frozen=True, slots=True)
class ReadPlan(Generic[E, K]):
    """The parts of segments that a page reads, and how.

    `wanted` are all parts in the order of the page. Each of them is also in `small_groups`, of which each is read in
    one query, or in `slices`, which are read one by one.
    """

    wanted: list[SegmentPart[E, K]] = field(default_factory=list[SegmentPart[E, K]])
    small_groups: list[list[SegmentPart[E, K]]] = field(default_factory=list[list[SegmentPart[E, K]]])
    slices: list[SegmentPart[E, K]] = field(default_factory=list[SegmentPart[E, K]])

    def rows_in_order(
        self, groups: Sequence[Sequence[Rows[R]]], slices: Sequence[Rows[R]]
    ) -> list[tuple[Segment[E, K], Rows[R]]]:
        """The rows read for the groups and the slices, in the order of the page."""
        parts = [part for group in (*self.small_groups, self.slices) for part in group]
        rows = [part for group in (*groups, slices) for part in group]
        by_segment = {one.segment: found for one, found in zip(parts, rows, strict=True)}
        return [(one.segment, by_segment[one.segment]) for one in self.wanted]


def segments_in_order(
    counts: RelationCounts[E, K],
    entities: Sequence[E],
    ids: Callable[[tuple[K, ...]], tuple[str, ...]],
    start: Position | None = None,
) -> Iterator[Segment[E, K]]:
    """The segments of a list in order, starting at a position. `ids` returns the ids of a path's relations."""
    keys: dict[tuple[K, ...], tuple[int, tuple[str, ...]]] = {}

    def key(path: tuple[K, ...]) -> tuple[int, tuple[str, ...]]:
        if path not in keys:
            keys[path] = len(path), ids(path)
        return keys[path]

    first = start.entity if start is not None else 0
    for index, entity in enumerate(entities[first:], first):
        here = counts.rows.get(entity, {})
        for path in sorted(here, key=key):
            if start is None or index > start.entity or key(path) >= (len(start.path), start.path):
                yield Segment(index, entity, path, here[path], counts.exact(entity, path))


def plan_reads(
    segments: Iterable[Segment[E, K]],
    start: Place,
    limit: int,
    small: Callable[[Segment[E, K]], bool],
    *,
    rows: int,
    size: int,
) -> ReadPlan[E, K]:
    """Plan the reading of `limit` rows from the next segments, starting at a place in the first one.

    Takes no more segments than needed. Segments for which `small` is true are read whole, in groups of at most `size`
    segments and about `rows` rows.
    """
    result: ReadPlan[E, K] = ReadPlan()
    rows_in_group = rows
    for segment in segments:
        part = SegmentPart(segment, start, limit)
        result.wanted.append(part)
        if not small(segment):
            result.slices.append(part)
        else:
            if not result.small_groups or rows_in_group + segment.rows > rows or len(result.small_groups[-1]) == size:
                result.small_groups.append([])
                rows_in_group = 0
            result.small_groups[-1].append(part)
            rows_in_group += segment.rows
        limit -= segment.rows_left(start)
        start = Place()
        if limit <= 0:
            break
    return result


class RowSource(ABC, Generic[E, K, R]):
    """Counts and reads the rows of one request: entities, direction, paths and kind of far end.

    Adapters derive from it.
    """

    rows_per_query: ClassVar[int] = 5_000
    """The approximate number of rows of small segments that one query reads."""
    segments_per_query: ClassVar[int] = 300
    """Maximum number of small segments that one query reads."""
    note: str = ""
    """The page's note on rows that `counts` does not include."""

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
        """The wanted rows of one large segment: `limit` of them, fewer only if the segment ends before."""

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
    segments = segments_in_order(counts, entities, source.ids, start)
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
    """Read rows of the next segments, starting at a place in the first one. Returns them, and whether more rows follow.

    Reads at least `limit` rows if there are as many. Reading stops at the first segment that was not read to its end:
    continuing would skip its missing rows. `entities` is the number of entities that the segments belong to; it decides
    whether the work is done in a thread.
    """
    parts: list[tuple[Segment[E, K], Rows[R]]] = []
    while limit > 0:
        planned = await in_thread(entities, partial(_plan, source, segments, start, limit))
        if not planned.wanted:
            break
        groups, slices = await _read(source, planned)
        read = await in_thread(len(planned.wanted), partial(planned.rows_in_order, groups, slices))
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
    """Finds the edges that lead to a given set of tails. Adapters derive from it."""

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
    rows: list[tuple[E, R, str]] = []
    stop, begin = Stop.COMPLETE, start.entity
    while begin < len(heads) and len(rows) <= limit and stop is Stop.COMPLETE:
        batch = heads[begin : begin + source.heads_at_once]
        edges, stop = await source.edges(batch)
        rows += await in_thread(len(batch), partial(_with_positions, edges, batch, begin, start))
        begin += len(batch)
    more = len(rows) > limit
    total = Count.at_least(len(rows)) if more or after is not None or stop is not Stop.COMPLETE else Count(len(rows))
    shown = rows[:limit]
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
    rows: list[tuple[E, R, str]] = []
    for index, head in enumerate(heads, begin):
        skip = start.place[0] if index == start.entity else 0
        for n, edge in enumerate(edges.get(head, ())[skip:], skip + 1):
            rows.append((head, edge, Position(index, _PATH, Place(n)).write()))
    return rows
