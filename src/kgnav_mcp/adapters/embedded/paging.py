"""Positions: short texts that name the last row of a page, so that the next page starts after it.

A position has the numbers of its row in the file: `<entity>.<kind>.<relations>.<rest of the row's key>`. For example,
`0.t.12.4711.0` is the edge by relation 12 to node 4711 of the first entity given. The next page starts with an index
seek after that row, so that a page deep in a hub costs as much as the first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from kgnav_mcp.model import Direction
from kgnav_mcp.port.lists import invalid_cursor

_LARGEST = 2**63 - 1


Seek = tuple[int, ...]
"""The numbers that order the rows of one segment."""


class SegmentKind(StrEnum):
    """What the rows of a segment lead to, seen from the entity. `*_THROUGH`: through a mediator."""

    ATTRIBUTE = "a"
    TAIL = "t"
    HEAD = "h"
    ATTRIBUTE_THROUGH = "ta"
    TAIL_THROUGH = "tt"
    HEAD_THROUGH = "th"

    # Set once: these are read for each relation of each answer.
    def __init__(self, value: str) -> None:
        self.hops = len(value)
        self.literal = value.endswith("a")
        self.direction = Direction.INCOMING if value.endswith("h") else Direction.OUTGOING
        self.start: Seek = (-1,) * (2 * self.hops - self.literal)
        """A seek that comes before every row. An edge to a literal is ordered by one number, others by two."""

    __hash__ = str.__hash__


class Segment(NamedTuple):
    """The rows of one kind around one entity, by one relation or by two relations through a mediator."""

    kind: SegmentKind
    path: tuple[int, ...]

    def prefix(self, entity: int) -> str:
        """Returns the prefix of positions in this segment, for the `entity`-th of the set. A row's numbers follow."""
        return ".".join((str(entity), self.kind, *map(str, self.path), ""))


@dataclass(frozen=True, slots=True)
class Position:
    """A parsed position."""

    entity: int
    segment: Segment
    seek: Seek

    @property
    def direction(self) -> Direction:
        return self.segment.kind.direction

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parses a position.

        Raises:
            InvalidCursor: the text is no position of neighbours.
        """
        parts = text.split(".")
        try:
            entity, kind = int(parts[0]), SegmentKind(parts[1])
            numbers = tuple(number_in(part) for part in parts[2:])
        except (ValueError, IndexError) as error:
            raise invalid_cursor(text) from error
        if entity < 0 or len(numbers) != kind.hops + len(kind.start):
            raise invalid_cursor(text)
        return cls(entity, Segment(kind, numbers[: kind.hops]), numbers[kind.hops :])


def number_in(text: str) -> int:
    """Returns the text as a non-negative number that SQLite can hold. Raises ValueError otherwise."""
    number = int(text)
    if not 0 <= number <= _LARGEST:
        raise ValueError(text)
    return number


def node_behind(after: str | None) -> int:
    """Returns the node number after which a page of nodes starts, 0 for the first page. Raises InvalidCursor."""
    if after is None:
        return 0
    try:
        return number_in(after)
    except ValueError as error:
        raise invalid_cursor(after) from error
