"""The few places for the plans of one graph, so that heavy plans never keep other calls waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from time import monotonic

from kgnav_mcp.errors import RateLimited
from kgnav_mcp.store_limits import PLANS_AT_ONCE, limited_to, store_limits

_MOST_WAITING = 8
"""Plans that wait for a place at most: a client that sends more is told to come back."""
_WAITING_SHARE = 0.5
"""Share of a plan's time that it may wait, so that one that runs has the rest."""


class PlanQueue:
    """Runs few plans at once. A few more wait, first come, first served; any other is refused at once."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(PLANS_AT_ONCE)
        self._waiting = 0
        self._ends: list[float] = []
        """When the running plans end at the latest."""

    @asynccontextmanager
    async def place(self, seconds: float) -> AsyncGenerator[None]:
        """A place for a plan that ends within `seconds`. What it asks the store does not delay other calls.

        Raises:
            RateLimited: too many plans wait already, or no place became free in time.
        """
        if self._free.locked() and self._waiting >= _MOST_WAITING:
            raise self._busy(f"{PLANS_AT_ONCE} plans run on this graph and {self._waiting} are waiting")
        end = monotonic() + seconds
        await self._acquire(seconds * _WAITING_SHARE)
        self._ends.append(end)
        try:
            with limited_to(replace(store_limits(), of_plan=True)):
                yield
        finally:
            self._ends.remove(end)
            self._free.release()

    async def _acquire(self, seconds: float) -> None:
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise self._busy(f"this plan waited {seconds:.0f} s for other plans on this graph") from error
        finally:
            self._waiting -= 1

    def _busy(self, message: str) -> RateLimited:
        """The refusal of a plan. At the latest when the first of the running plans ends there is room for it."""
        first_end = min(self._ends, default=0.0)
        return RateLimited(message, max(first_end - monotonic(), 1.0))
