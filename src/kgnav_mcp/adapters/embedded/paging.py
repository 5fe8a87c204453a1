"""Where a page ends: a place in the fixed order of rows, as the short text that the next page starts behind.

A position names its row by the row's own numbers in the file: `<entity>.<kind>.<relations>.<rest of the row's key>`,
such as `0.e.12.4711.0` for the edge by relation 12 to node 4711 of the first entity asked for. The next page seeks
straight behind that row in the index, so that a page deep in a hub costs what the first one costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kgnav_mcp.errors import InvalidCursor

_LARGEST = 2**63 - 1


class Kind(StrEnum):
    """What the rows of a segment are."""

    ATTRIBUTE = "a"
    EDGE = "e"
    ATTRIBUTE_THROUGH = "ta"
    EDGE_THROUGH = "te"

    @property
    def hops(self) -> int:
        return 2 if self in {Kind.ATTRIBUTE_THROUGH, Kind.EDGE_THROUGH} else 1


Seek = tuple[int, ...]
"""The numbers that order the rows of one segment; every row's are greater than those of `START`."""

SEEK_LENGTH = {Kind.ATTRIBUTE: 1, Kind.EDGE: 2, Kind.ATTRIBUTE_THROUGH: 3, Kind.EDGE_THROUGH: 4}
START = {kind: (-1,) * length for kind, length in SEEK_LENGTH.items()}


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows of one kind by one relation, or by two relations through a mediator, around one entity."""

    kind: Kind
    path: tuple[int, ...]

    def position(self, entity: int, seek: Seek) -> str:
        """The position of the row with these numbers, for the entity at this place of the set asked for."""
        return ".".join((str(entity), self.kind, *map(str, self.path), *map(str, seek)))


@dataclass(frozen=True, slots=True)
class Position:
    """A position taken apart."""

    entity: int
    segment: Segment
    seek: Seek

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises InvalidCursor when the text is no position of neighbours."""
        parts = text.split(".")
        try:
            entity, kind = int(parts[0]), Kind(parts[1])
            numbers = tuple(number_in(part) for part in parts[2:])
        except (ValueError, IndexError) as error:
            raise invalid(text) from error
        if entity < 0 or len(numbers) != kind.hops + SEEK_LENGTH[kind]:
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


def invalid(position: str) -> InvalidCursor:
    """The error for a position that this call cannot have given."""
    return InvalidCursor(
        f"{position[:40]!r} is no position in this list", next_step="Make the call again without a cursor."
    )
