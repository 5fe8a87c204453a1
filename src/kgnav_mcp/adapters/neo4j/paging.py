"""Positions: where a list goes on, and how long it was when it was read.

A position of neighbours is `<total>.<entity>.<row>.<relation>`: rows in the whole list; the entity's place among those
asked for; how many rows of the relation come before the next one there. Positions of other lists are `<total>.<items>`.
Rows are in the store's own order, which stays while nothing is written; a list that has another length now has been
written to, and a position in it means nothing any more.
"""

from __future__ import annotations

from dataclasses import dataclass

from kgnav_mcp.errors import InvalidCursor

_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Position:
    """The place of the row that comes next."""

    total: int
    entity: int
    row: int
    relation: str

    def write(self) -> str:
        """The text a page gives."""
        return f"{self.total}.{self.entity}.{self.row}.{self.relation}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises InvalidCursor when the text is no position of neighbours."""
        total, _, rest = text.partition(".")
        entity, _, rest = rest.partition(".")
        row, dot, relation = rest.partition(".")
        if not dot:
            raise invalid(text)
        return cls(_number(total, text), _number(entity, text), _number(row, text), relation)


def items_before(after: str | None, total: int | None) -> int:
    """How many items of a list that has `total` of them (None: not known) come before a page.

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


def _number(text: str, position: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > _DIGITS:
        raise invalid(position)
    return int(text)


def invalid(position: str) -> InvalidCursor:
    """The error for a position that this call cannot have given."""
    return InvalidCursor(
        f"{position[:40]!r} is no position in this list", next_step="Make the call again without a cursor."
    )


def changed() -> InvalidCursor:
    """The error for a position in a list that has been written to since."""
    return InvalidCursor(
        "the graph was written to since this cursor was made: the list has another length now",
        next_step="Make the call again without a cursor to start anew.",
    )
