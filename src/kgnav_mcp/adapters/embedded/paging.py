"""Where a page ends: a place in the fixed order of rows, as the short text that the next page starts behind.

A position names its row by the row's own numbers in the file: `<entity>.<kind>.<relations>.<rest of the row's key>`,
such as `0.t.12.4711.0` for the edge by relation 12 to node 4711 of the first entity asked for. The next page seeks
straight behind that row in the index, so that a page deep in a hub costs what the first one costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from kgnav_mcp.model import Direction
from kgnav_mcp.port.lists import invalid

_LARGEST = 2**63 - 1


class Kind(StrEnum):
    """What the rows of a segment end at, seen from the entity; `*_THROUGH`: behind a mediator."""

    ATTRIBUTE = "a"
    TAIL = "t"
    HEAD = "h"
    ATTRIBUTE_THROUGH = "ta"
    TAIL_THROUGH = "tt"
    HEAD_THROUGH = "th"

    @property
    def hops(self) -> int:
        return len(self)

    @property
    def literal(self) -> bool:
        return self.endswith("a")

    @property
    def direction(self) -> Direction:
        return Direction.INCOMING if self.endswith("h") else Direction.OUTGOING


Seek = tuple[int, ...]
"""The numbers that order the rows of one segment; every row's are greater than those of `START`."""

_SEEK_LENGTH = {
    Kind.ATTRIBUTE: 1,
    Kind.TAIL: 2,
    Kind.HEAD: 2,
    Kind.ATTRIBUTE_THROUGH: 3,
    Kind.TAIL_THROUGH: 4,
    Kind.HEAD_THROUGH: 4,
}
START = {kind: (-1,) * length for kind, length in _SEEK_LENGTH.items()}


class Segment(NamedTuple):
    """The rows of one kind by one relation, or by two relations through a mediator, around one entity."""

    kind: Kind
    path: tuple[int, ...]

    def prefix(self, entity: int) -> str:
        """How positions in it begin, for the entity at this place of the set asked for; a row's numbers follow."""
        return ".".join((str(entity), self.kind, *map(str, self.path), ""))


@dataclass(frozen=True, slots=True)
class Position:
    """A position taken apart."""

    entity: int
    segment: Segment
    seek: Seek

    @property
    def direction(self) -> Direction:
        return self.segment.kind.direction

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises InvalidCursor when the text is no position of neighbours."""
        parts = text.split(".")
        try:
            entity, kind = int(parts[0]), Kind(parts[1])
            numbers = tuple(number_in(part) for part in parts[2:])
        except (ValueError, IndexError) as error:
            raise invalid(text) from error
        if entity < 0 or len(numbers) != kind.hops + _SEEK_LENGTH[kind]:
            raise invalid(text)
        return cls(entity, Segment(kind, numbers[: kind.hops]), numbers[kind.hops :])


def number_in(text: str) -> int:
    """A number that SQLite can hold. Raises ValueError otherwise."""
    number = int(text)
    if not 0 <= number <= _LARGEST:
        raise ValueError(text)
    return number


def node_behind(after: str | None) -> int:
    """The node id that a page of nodes starts behind; 0 before the first. Raises InvalidCursor."""
    if after is None:
        return 0
    try:
        return number_in(after)
    except ValueError as error:
        raise invalid(after) from error
