"""Positions in the fixed order of rows, its segments, and the plan of which segments a page reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from kgnav_mcp.adapters.paging.counts import E, K, RelationCounts
from kgnav_mcp.model import Stop
from kgnav_mcp.port.lists import invalid_cursor

_FORM = re.compile(r"(\d{1,13})\|(\d{1,19})\.(\d{1,19})((?::\d{1,13}(?::[^ |]*)?)?)\|([^ ]+(?: [^ ]+)?)", re.ASCII)


class Key(NamedTuple):
    """Where to go on in rows that a store sorts by text, since it has no other order that stays the same.

    Rows are read from the first one whose text is not less than `text`; the first `passed` of those were shown. Blank
    nodes have no text, and come after all others.
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

    In a one-hop path, a group has the rows of one triple: several if there are several statements about it, else one.
    In a two-hop path, a group has the rows behind one node next to the entity. Where rows are read by key, `key` is
    that of the group.
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
