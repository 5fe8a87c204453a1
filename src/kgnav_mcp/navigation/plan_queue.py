"""Limits the concurrent plans of one graph, so that heavy plans never block other calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from time import monotonic

from kgnav_mcp.errors import RateLimited
from kgnav_mcp.store_limits import PLANS_AT_ONCE, limited_to, store_limits

_MAX_WAITING = 8
"""Maximum waiting plans: further ones are refused with the time to retry."""
_WAITING_SHARE = 0.5
"""Share of a plan's time that it may wait; the rest is for running it."""


class PlanQueue:
    """Runs a few plans concurrently. A few more wait in order; further ones are refused at once."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(PLANS_AT_ONCE)
        self._waiting = 0
        self._ends: list[float] = []
        """When the running plans end at the latest."""

    @asynccontextmanager
    async def place(self, seconds: float) -> AsyncGenerator[None]:
        """A place for a plan that ends within `seconds`. Its queries do not delay other calls.

        Raises:
            RateLimited: too many plans wait already, or no place became free in time.
        """
        if self._free.locked() and self._waiting >= _MAX_WAITING:
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
        """The refusal of a plan, with the time until the first running plan must have ended."""
        first_end = min(self._ends, default=0.0)
        return RateLimited(message, max(first_end - monotonic(), 1.0))
