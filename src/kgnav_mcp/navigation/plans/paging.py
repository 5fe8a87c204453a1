"""Lists of a graph, read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from kgnav_mcp.model import Page, Stop
from kgnav_mcp.navigation.plans.budget import Budget

T = TypeVar("T")


async def pages(read: Callable[[str | None], Awaitable[Page[T]]], budget: Budget) -> AsyncIterator[Page[T]]:
    """The pages of a list, `read` from a position on; that the store gives no more of it is told to the budget."""
    after: str | None = None
    while True:
        page = await read(after)
        yield page
        if page.stop is not Stop.LIMIT or not page.items:
            if page.stop not in {Stop.COMPLETE, Stop.LIMIT}:
                budget.cut(page.stop)
            return
        after = page.positions[-1]
