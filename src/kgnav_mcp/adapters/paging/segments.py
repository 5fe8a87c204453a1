"""A list of rows in segments, and what of them a page reads.

Rows come entity by entity in the order asked for, at each entity the one-hop paths before the two-hop ones, and these
in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kgnav_mcp.adapters.paging.counts import E, K, RelationCounts
from kgnav_mcp.adapters.paging.positions import Place, Position
from kgnav_mcp.model import Stop

R = TypeVar("R")
"""A row, as the store gives it."""


@dataclass(frozen=True, slots=True)
class Segment(Generic[E, K]):
    """The rows of one path at one entity: `rows` of them, or more where that is not `exact`."""

    index: int
    """The entity's place among those asked for."""
    entity: E
    path: tuple[K, ...]
    rows: int
    exact: bool = True

    def left(self, start: Place) -> int:
        """How many rows come from a place on: all, where the place is inside a two-hop path that cannot tell."""
        if len(self.path) == 1:
            return max(self.rows - start.group, 0)
        return 0 if start.group else max(self.rows - start.row, 0)


@dataclass(frozen=True, slots=True)
class Rows(Generic[R]):
    """Rows that were read of a segment, each with the place of the one behind it.

    `stop` is COMPLETE at the end of the segment, LIMIT where it goes on, else why rows may be missing.
    """

    found: Sequence[tuple[R, Place]]
    stop: Stop = Stop.COMPLETE


@dataclass(frozen=True, slots=True)
class Wanted(Generic[E, K]):
    """What a page wants of a segment: rows from a place on, up to `most`."""

    segment: Segment[E, K]
    start: Place
    most: int

    def cut(self, rows: Sequence[tuple[R, Place]], stop: Stop = Stop.COMPLETE) -> Rows[R]:
        """What is wanted, of all rows of the segment."""
        behind = [row for row in rows if row[1] > self.start]
        if len(behind) > self.most:
            return Rows(behind[: self.most], Stop.LIMIT)
        return Rows(behind, stop)


@dataclass(frozen=True, slots=True)
class Plan(Generic[E, K]):
    """What a page reads, in the order of its rows, and how: `together` are groups of small segments."""

    wanted: list[Wanted[E, K]] = field(default_factory=list[Wanted[E, K]])
    together: list[list[Wanted[E, K]]] = field(default_factory=list[list[Wanted[E, K]]])
    slices: list[Wanted[E, K]] = field(default_factory=list[Wanted[E, K]])

    def in_order(
        self, groups: Sequence[Sequence[Rows[R]]], slices: Sequence[Rows[R]]
    ) -> list[tuple[Segment[E, K], Rows[R]]]:
        """What was read of the groups and of the slices, in the order of the page."""
        wanted = [one for some in (*self.together, self.slices) for one in some]
        rows = [found for some in (*groups, slices) for found in some]
        by_segment = {one.segment: found for one, found in zip(wanted, rows, strict=True)}
        return [(one.segment, by_segment[one.segment]) for one in self.wanted]


def in_order(
    counts: RelationCounts[E, K],
    entities: Sequence[E],
    ids: Callable[[tuple[K, ...]], tuple[str, ...]],
    start: Position | None = None,
) -> Iterator[Segment[E, K]]:
    """The segments of a list from a position on; `ids` are those of a path's relations."""
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


def plan(
    segments: Iterable[Segment[E, K]],
    start: Place,
    limit: int,
    small: Callable[[Segment[E, K]], bool],
    *,
    rows: int,
    size: int,
) -> Plan[E, K]:
    """What is read of the next segments to have `limit` rows, the first one from a place on.

    It takes no more segments than that. Those that are `small` are read whole, in groups of at most `size` segments
    and about `rows` rows.
    """
    made: Plan[E, K] = Plan()
    filled = rows
    for segment in segments:
        wanted = Wanted(segment, start, limit)
        made.wanted.append(wanted)
        if not small(segment):
            made.slices.append(wanted)
        else:
            if not made.together or filled + segment.rows > rows or len(made.together[-1]) == size:
                made.together.append([])
                filled = 0
            made.together[-1].append(wanted)
            filled += segment.rows
        limit -= segment.left(start)
        start = Place()
        if limit <= 0:
            break
    return made
