"""A list of rows split into segments, and the plan of which segments a page reads.

Rows are ordered by entity, as in the request; at each entity one-hop paths come before two-hop paths, each sorted by
their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kgnav_mcp.adapters.paging.counts import E, K, RelationCounts
from kgnav_mcp.adapters.paging.positions import Place, Position
from kgnav_mcp.model import Stop

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
        """How many of the counted rows are left from a place on.

        Inside a two-hop path this is known only within its first group; later it is counted as 0, so that a page plans
        one more segment rather than too few.
        """
        if len(self.path) == 1:
            return max(self.rows - start.group, 0)
        return 0 if start.group else max(self.rows - start.row, 0)


@dataclass(frozen=True, slots=True)
class Rows(Generic[R]):
    """Rows read from a segment, each with the place of the row after it.

    `stop` is COMPLETE if the segment was read to its end, LIMIT if more rows follow, else the reason why rows may be
    missing.
    """

    items: Sequence[tuple[R, Place]]
    stop: Stop = Stop.COMPLETE


@dataclass(frozen=True, slots=True)
class SegmentPart(Generic[E, K]):
    """The part of a segment that a page wants: up to `most` rows from a place on."""

    segment: Segment[E, K]
    start: Place
    limit: int

    def select_from(self, rows: Sequence[tuple[R, Place]], stop: Stop = Stop.COMPLETE) -> Rows[R]:
        """The wanted part, cut out of all rows of the segment."""
        rest = [row for row in rows if row[1] > self.start]
        if len(rest) > self.limit:
            return Rows(rest[: self.limit], Stop.LIMIT)
        return Rows(rest, stop)


@dataclass(frozen=True, slots=True)
class ReadPlan(Generic[E, K]):
    """What a page reads, and how.

    `wanted` are all parts in the order of the page. Each of them is also in `small_groups`, of which each is read in
    one query, or in `slices`, which are read one by one.
    """

    wanted: list[SegmentPart[E, K]] = field(default_factory=list[SegmentPart[E, K]])
    small_groups: list[list[SegmentPart[E, K]]] = field(default_factory=list[list[SegmentPart[E, K]]])
    slices: list[SegmentPart[E, K]] = field(default_factory=list[SegmentPart[E, K]])

    def in_order(
        self, groups: Sequence[Sequence[Rows[R]]], slices: Sequence[Rows[R]]
    ) -> list[tuple[Segment[E, K], Rows[R]]]:
        """The rows read for the groups and the slices, in the order of the page."""
        wanted = [part for group in (*self.small_groups, self.slices) for part in group]
        rows = [part for group in (*groups, slices) for part in group]
        by_segment = {one.segment: found for one, found in zip(wanted, rows, strict=True)}
        return [(one.segment, by_segment[one.segment]) for one in self.wanted]


def in_order(
    counts: RelationCounts[E, K],
    entities: Sequence[E],
    ids: Callable[[tuple[K, ...]], tuple[str, ...]],
    start: Position | None = None,
) -> Iterator[Segment[E, K]]:
    """The segments of a list in order, from a position on. `ids` returns the ids of a path's relations."""
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

    Takes no more segments than are needed. Segments for which `small` is true are read whole, in groups of at most
    `size` segments and about `rows` rows.
    """
    result: ReadPlan[E, K] = ReadPlan()
    rows_in_group = rows
    for segment in segments:
        wanted = SegmentPart(segment, start, limit)
        result.wanted.append(wanted)
        if not small(segment):
            result.slices.append(wanted)
        else:
            if not result.small_groups or rows_in_group + segment.rows > rows or len(result.small_groups[-1]) == size:
                result.small_groups.append([])
                rows_in_group = 0
            result.small_groups[-1].append(wanted)
            rows_in_group += segment.rows
        limit -= segment.rows_left(start)
        start = Place()
        if limit <= 0:
            break
    return result
