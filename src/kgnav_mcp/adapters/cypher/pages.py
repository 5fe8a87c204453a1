"""Positions that detect when a list has changed, because they contain its number of items.

A position in a list of rows is `<total>.<rows>.<position of adapters.paging>`: the number of rows of the whole list,
and of the relation that the position is in. A position in any other list is `<total>.<items before it>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.paging.rows import Position
from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import Count, Page, Stop, T
from kgnav_mcp.port.lists import invalid_cursor

_MAX_DIGITS = 15


@dataclass(frozen=True, slots=True)
class RowPosition:
    """The position of the next row. `rows` is the number of rows of its relation, `total` that of the list."""

    total: int
    rows: int
    text: str
    """The position as `adapters.paging` writes it."""

    def write(self) -> str:
        """The position as text, as pages give it out."""
        return f"{self.total}.{self.rows}.{self.text}"

    @classmethod
    def parse(cls, text: str) -> RowPosition:
        """The position that a page gave out as text.

        Raises:
            InvalidCursor: the text is not such a position.
        """
        fields = text.split(".", 2)
        if len(fields) != 3:
            raise invalid_cursor(text)
        return cls(_number(fields[0], text), _number(fields[1], text), fields[2])

    @property
    def place(self) -> Position:
        """The position within the list of rows.

        Raises:
            InvalidCursor: the text is not a position.
        """
        return Position.parse(self.text)


def skipped_items(after: str | None, total: int | None) -> int:
    """The number of items before the page that starts at the position `after`, which is `<total>.<items>`.

    `total` is the current length of the list; None skips the comparison.

    Raises:
        InvalidCursor: `after` is not a position, or the list had another length.
    """
    if after is None:
        return 0
    old_total, dot, items = after.partition(".")
    if not dot:
        raise invalid_cursor(after)
    if total is not None and _number(old_total, after) != total:
        raise changed()
    return _number(items, after)


def list_page(items: Sequence[T], skipped: int, total: int) -> Page[T]:
    """One page of a list of `total` items, whose first `skipped` items come before it."""
    positions = tuple(f"{total}.{skipped + place}" for place in range(1, len(items) + 1))
    stop = Stop.LIMIT if skipped + len(items) < total else Stop.COMPLETE
    return Page(tuple(items), positions, Count(total), stop)


def _number(text: str, position: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise invalid_cursor(position)
    return int(text)


def changed() -> InvalidCursor:
    """The error for a position in a list that has changed since the position was created."""
    return InvalidCursor(
        "the graph has changed since this cursor was made",
        next_step="Repeat the call without a cursor to start again.",
    )
