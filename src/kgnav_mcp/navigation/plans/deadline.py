"""The time of a plan: one deadline for its check, its questions to the store, and its evaluation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic

from kgnav_mcp.errors import StoreTimeout

_GRACE_S = 0.5
"""Seconds added to the store's time-out, so that a store that stops a query itself says so first."""
_AGAIN = "Ask again; if it stays so, ask for less, or raise the time-out."


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a plan must have ended, and the seconds that it has been given."""

    seconds: float
    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The deadline of a plan that begins now."""
        return cls(seconds, monotonic() + seconds + _GRACE_S)

    def seconds_left(self) -> float:
        """The seconds until the deadline, at least 0."""
        return max(self.at - monotonic(), 0.0)


@asynccontextmanager
async def time_limit(deadline: Deadline | None, position: Callable[[], str]) -> AsyncGenerator[None]:
    """Ends the work of this block at the deadline. `position` says how far it got.

    Raises:
        StoreTimeout: the deadline has passed.
    """
    if deadline is None:
        yield
        return
    limit = asyncio.timeout(deadline.seconds_left())
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        message = f"this plan did not end within {deadline.seconds:g} s: {position()}"
        raise StoreTimeout(deadline.seconds, message, next_step=_AGAIN) from error
