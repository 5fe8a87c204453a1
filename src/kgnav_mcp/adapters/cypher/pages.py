"""Which rows a page shows, and where the next one begins.

A position is `<total>.<place>.<rows>.<row>.<direction>.<relation>`: the rows of the whole list; the place of the entity
among the ids asked for; how many rows the relation has there, and how many of them come before the next one. A relation
that has another number of rows now has been written to, and a position in it means nothing any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.cypher.counts import RelationCounts
from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import Count, Direction, Page, Stop, T
from kgnav_mcp.port.lists import invalid

_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Position:
    """The place of the row that comes next."""

    total: int
    place: int
    rows: int
    row: int
    direction: Direction
    relation: str

    def __str__(self) -> str:
        return f"{self.total}.{self.place}.{self.rows}.{self.row}.{self.direction}.{self.relation}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises InvalidCursor when the text is no position of rows."""
        fields = text.split(".", 5)
        if len(fields) != 6 or fields[4] not in set(Direction):
            raise invalid(text)
        total, place, rows, row = (_number(field, text) for field in fields[:4])
        return cls(total, place, rows, row, Direction(fields[4]), fields[5])


@dataclass(frozen=True, slots=True)
class Part:
    """Rows `start` to `end` of one relation at one node: values of the property first, then edges of the type."""

    counts: RelationCounts
    relation: str
    start: int
    end: int

    @property
    def key(self) -> tuple[str, Direction]:
        """The node, by the store's own id, and the direction."""
        return self.counts.anchor.node_id, self.counts.direction

    @property
    def values(self) -> int:
        """Values that the property has."""
        return self.counts.value_counts.get(self.relation, 0)

    @property
    def edges(self) -> int:
        """Edges of the type."""
        return self.counts.edge_counts.get(self.relation, 0)

    @property
    def skip(self) -> int:
        """Edges before the first one shown."""
        return max(self.start - self.values, 0)

    @property
    def take(self) -> int:
        """Edges shown."""
        return max(self.end - self.values, 0) - self.skip


def planned(counts: Sequence[RelationCounts], start: Position | None, limit: int) -> tuple[list[Part], int]:
    """What a page of `limit` rows shows, and how many of the counted rows come behind it.

    The first counts are those of the node that `start` is at.

    Raises:
        InvalidCursor: the relation at the start has another number of rows now.
    """
    parts: list[Part] = []
    left = sum(each.total for each in counts)
    for each in counts:
        for relation, rows in each.by_relation.items() if each.total else ():
            first = 0
            if start is not None:
                if relation != start.relation:
                    left -= rows
                    continue
                if rows != start.rows:
                    raise changed()
                first, start = start.row, None
            end = min(rows, first + limit)
            if end > first:
                parts.append(Part(each, relation, first, end))
            limit -= end - first
            left -= end
            if limit <= 0:
                return parts, left
        if start is not None:
            raise changed()
    return parts, left


def items_before(after: str | None, total: int | None) -> int:
    """How many items of a list of `total` (None: not known) come before a page. Its positions are `<total>.<items>`.

    Raises:
        InvalidCursor: it is no position, or one in a list of another length.
    """
    if after is None:
        return 0
    then, dot, items = after.partition(".")
    if not dot:
        raise invalid(after)
    if total is not None and _number(then, after) != total:
        raise changed()
    return _number(items, after)


def list_page(items: Sequence[T], skipped: int, total: int) -> Page[T]:
    """Some items of a list of `total`, those behind the first `skipped`."""
    positions = tuple(f"{total}.{skipped + place}" for place in range(1, len(items) + 1))
    stop = Stop.LIMIT if skipped + len(items) < total else Stop.COMPLETE
    return Page(tuple(items), positions, Count(total), stop)


def _number(text: str, position: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > _DIGITS:
        raise invalid(position)
    return int(text)


def changed() -> InvalidCursor:
    """The error for a position in a list that has been written to since."""
    return InvalidCursor(
        "the graph was written to since this cursor was made: the list has another length now",
        next_step="Make the call again without a cursor to start anew.",
    )
