"""Reads lists of a graph page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from kgnav_mcp.model import Page, Stop
from kgnav_mcp.navigation.plans.budget import Budget

T = TypeVar("T")


async def pages(read: Callable[[str | None], Awaitable[Page[T]]], budget: Budget) -> AsyncIterator[Page[T]]:
    """All pages of a list; `read` reads one from a position. If the store cuts the list, the budget records it."""
    after: str | None = None
    while True:
        page = await read(after)
        yield page
        if page.stop is not Stop.LIMIT or not page.items:
            if page.stop not in {Stop.COMPLETE, Stop.LIMIT}:
                budget.cut(page.stop)
            return
        after = page.positions[-1]
