"""Limits the number of queries that run at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from kgnav_mcp.store_limits import store_limits


class Turns:
    """A number of queries that may run at once, the first that came first.

    A plan may ask a hundred queries at once. So that other calls do not wait for all of them, plans together have one
    place less.
    """

    def __init__(self, number: int) -> None:
        self._places = asyncio.Semaphore(number)
        self._of_plans = asyncio.Semaphore(max(number - 1, 1))

    def are_taken(self) -> bool:
        """Whether a query of this call has to wait."""
        return self._places.locked() or (store_limits().of_plan and self._of_plans.locked())

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for a place, and hold it."""
        async with AsyncExitStack() as held:
            if store_limits().of_plan:
                await held.enter_async_context(self._of_plans)
            await held.enter_async_context(self._places)
            yield
