"""Where a page ends: a place in the fixed order of rows, as the short text that the next page starts behind.

A position of neighbours is `<entity>|<place>|<rows>|<path>`: the entity's place among those asked for; the place that
the mediator of a two-hop row has among the near far ends (0 in one hop); how many rows before the next one there; and
the relation, or the two of them with a blank between. Positions of other lists are a number of items.
"""

from __future__ import annotations

from dataclasses import dataclass

from kgnav_mcp.errors import InvalidCursor

_LARGEST = 10**12


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A row's place within one path at one entity: the mediator's, and the row's behind it."""

    mediator: int = 0
    row: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """The place of the row that comes next."""

    entity: int
    path: tuple[str, ...]
    place: Place

    def write(self) -> str:
        """The text a page gives."""
        return f"{self.entity}|{self.place.mediator}|{self.place.row}|{' '.join(self.path)}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises InvalidCursor when the text is no position of neighbours."""
        entity, _, rest = text.partition("|")
        mediator, _, rest = rest.partition("|")
        row, _, path = rest.partition("|")
        try:
            place = Place(_number(mediator), _number(row))
            found = cls(_number(entity), tuple(path.split(" ")), place)
        except ValueError as error:
            raise invalid(text) from error
        if len(found.path) not in {1, 2} or not all(found.path):
            raise invalid(text)
        return found


def items_before(after: str | None) -> int:
    """How many items of a list come before a page. Raises InvalidCursor."""
    if after is None:
        return 0
    try:
        return _number(after)
    except ValueError as error:
        raise invalid(after) from error


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > len(str(_LARGEST)):
        raise ValueError(text)
    return int(text)


def invalid(position: str) -> InvalidCursor:
    """The error for a position that this call cannot have given."""
    return InvalidCursor(
        f"{position[:40]!r} is no position in this list", next_step="Make the call again without a cursor."
    )
