"""Pages and batches of a list in memory, where a position is the number of items up to it; all pages of any list."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeVar

from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import Count, Page, Stop, T

PageT = TypeVar("PageT", bound=Page[Any])

_NUMBER = re.compile(r"\d{1,13}", re.ASCII)


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in order, in batches of at most this size."""
    return (items[start : start + size] for start in range(0, len(items), size))


def items_before(after: str | None) -> int:
    """The number of items before the page that starts after a position.

    Raises:
        InvalidCursor: the position is not a number of items.
    """
    if after is None:
        return 0
    if _NUMBER.fullmatch(after) is None:
        raise invalid_cursor(after)
    return int(after)


def page_of(items: Sequence[T], limit: int, after: str | None = None, *, all_or_none: bool = False) -> Page[T]:
    """The page of a list after a position. With `all_or_none`, no items if the list is longer than the limit.

    Raises:
        InvalidCursor: the position is not a number of items.
    """
    start = items_before(after)
    if all_or_none and after is None and len(items) > limit:
        return Page((), (), Count(len(items)), Stop.LIMIT)
    shown = tuple(items[start : start + limit])
    positions = tuple(str(start + place + 1) for place in range(len(shown)))
    stop = Stop.LIMIT if start + len(shown) < len(items) else Stop.COMPLETE
    return Page(shown, positions, Count(len(items)), stop)


async def all_pages(read: Callable[[str | None], Awaitable[PageT]], after: str | None = None) -> AsyncGenerator[PageT]:
    """All pages of a list after a position; `read` reads one page after a position (None: the first page).

    The stop of the last page says whether the list was read to its end.
    """
    while True:
        page = await read(after)
        yield page
        if page.stop is not Stop.LIMIT or not page.positions:
            return
        after = page.positions[-1]


def invalid_cursor(position: str) -> InvalidCursor:
    """The error for a position that this call cannot have returned."""
    return InvalidCursor(
        f"the cursor position {position[:40]!r} does not belong to this list",
        next_step="Repeat the call without a cursor.",
    )
