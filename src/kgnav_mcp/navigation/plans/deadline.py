"""The deadline of a plan: for its check, its queries of the store, and its evaluation together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic

from kgnav_mcp.errors import StoreTimeout

_GRACE_S = 0.5
"""Seconds added to the store's time-out, so that a store that stops a query itself says so first."""
_AGAIN = "Try again; if it fails again, make the plan smaller or raise --timeout."


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time at which a plan must have ended, and the seconds that it has in total."""

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
