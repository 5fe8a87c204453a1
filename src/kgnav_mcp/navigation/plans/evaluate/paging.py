"""Lists of a graph read page by page, sets of nodes in batches, and the pages of an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TypeVar

from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import Link, Literal, Node, Page, Stop
from kgnav_mcp.navigation.plans.budget import Budget, Part
from kgnav_mcp.navigation.plans.evaluate.values import Row, rank
from kgnav_mcp.port.lists import all_pages

_TAG_BYTES = 8
_VALUES_PER_ROW = 10
"""Values of properties that cost as much memory as one row."""
T = TypeVar("T")


async def pages(read: Callable[[str | None], Awaitable[Page[T]]], budget: Budget) -> AsyncIterator[Page[T]]:
    """All pages of a list; `read` reads one from a position. If the store cuts the list, the budget records it."""
    async for page in all_pages(read):
        yield page
        if page.stop not in {Stop.COMPLETE, Stop.LIMIT}:
            budget.record_incomplete(page.stop)


async def read_all(
    read: Callable[[str | None], Awaitable[Page[T]]], budget: Budget, part: Part, before: int = 0
) -> list[T]:
    """All items of a list; `part` has `before` others already. Raises as `read_list`."""
    return (await read_list(read, budget, part, before))[0]


async def read_list(
    read: Callable[[str | None], Awaitable[Page[T]]], budget: Budget, part: Part, before: int = 0
) -> tuple[list[T], bool]:
    """The items of a list, and whether these are all; `part` has `before` others already.

    Raises:
        PlanTooLarge: by the total of a page, there are more than may be held.
        PlanOverBudget: the plan has read too many.
    """
    items: list[T] = []
    whole = False
    async for page in pages(read, budget):
        items += page.items
        budget.check(before + max(len(items), page.total.value), part)
        budget.read(len(page.items), 0, write_part(part))
        whole = page.stop is Stop.COMPLETE and not page.note
    return items, whole


async def read_all_values(read: Callable[[str | None], Awaitable[Page[Link]]], budget: Budget, name: str) -> list[Link]:
    """All values of a property with this name.

    Raises:
        PlanTooLarge: as `read_all`.
        PlanOverBudget: the plan has read too many or too long ones.
    """
    items: list[Link] = []
    async for page in pages(read, budget):
        items += page.items
        budget.check(max(len(items), page.total.value) // _VALUES_PER_ROW)
        budget.read(len(page.items), characters_of(link.far_end for link in page.items), f"the values of {name}")
    return items


def characters_of(values: Iterable[Node]) -> int:
    """The number of characters of the literals among values."""
    return sum(len(value.text) for value in values if isinstance(value, Literal))


def answer_tag(rows: Sequence[Row], width: int) -> str:
    """A short hash of the answer's rows."""
    digest = blake2b(digest_size=_TAG_BYTES)
    for row in rows:
        for piece in _pieces(row[:width]):
            digest.update(piece.encode("utf-8", "replace"))
    return digest.hexdigest()


def _pieces(values: Row) -> Iterator[str]:
    """The values as texts: one for all that are no lists, then those of each list, which may be very long."""
    yield repr([len(value) if isinstance(value, tuple) else rank(value) for value in values])
    for value in values:
        if isinstance(value, tuple):
            for member in value:
                yield from _pieces((member,))


def answer_offset(after: str | None, tag: str) -> int:
    """The number of rows before a page.

    Raises:
        InvalidCursor: the position belongs to another answer.
    """
    if after is not None and after.partition(".")[2] != tag:
        raise _changed()
    return rows_before(after)


def rows_before(after: str | None) -> int:
    """The number of rows before a page, by its position alone. Raises as `answer_offset`."""
    place = "0" if after is None else after.partition(".")[0]
    if not (place.isascii() and place.isdecimal()):
        raise _changed()
    return int(place)


def _changed() -> InvalidCursor:
    return InvalidCursor("the answer of this plan has changed", next_step="Run the plan again without a cursor.")
