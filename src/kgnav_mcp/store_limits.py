"""Limits of the work that a store does for a call: of one inside this process, and of one that does not answer.

The methods of the port have no parameters for them, so they are passed in context variables.

The time-out of a graph holds for one query. After a time-out a call may send a smaller query and answer in part. That
is right for a slow store, but at a store that hangs it would cost one time-out after the other. A cheap query, the
liveness check, tells the two apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Final

PLANS_AT_ONCE = 2
"""Plans that run concurrently on one graph; also the number of threads for plans in a store inside this process."""


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """The limits of the queries of one call."""

    steps: int | None = None
    """Steps of the store's engine; None if only time is limited. A count does not depend on the machine's load."""
    of_plan: bool = False
    """Whether the queries are those of a plan. Plans have their own threads, so other calls do not wait for them."""


_limits: ContextVar[StoreLimits] = ContextVar("limits", default=StoreLimits())  # noqa: B039 - it is frozen


def store_limits() -> StoreLimits:
    """The limits of the current context."""
    return _limits.get()


@contextmanager
def limited_to(limits: StoreLimits) -> Generator[None]:
    """Set the limits within this block and the tasks that it starts."""
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


_LATER: Final = 0.75
"""Seconds after a call's time-out that the liveness check may take."""


class _CallClock:
    """The time since the start of a call, or since the store last answered it."""

    def __init__(self) -> None:
        self.last_answer = monotonic()
        self.lock = asyncio.Lock()

    def seconds_left(self, timeout: float) -> float:
        """Seconds until the call has to give up."""
        return max(self.last_answer + timeout + _LATER - monotonic(), 0.0)


_call_clock: ContextVar[_CallClock | None] = ContextVar("clock", default=None)


@contextmanager
def single_call() -> Generator[None]:
    """Count all queries of this block, and of the tasks that it starts, as those of one call."""
    token = _call_clock.set(_CallClock())
    try:
        yield
    finally:
        _call_clock.reset(token)


def note_answer(at: float | None = None) -> None:
    """Note that the store has answered this call: now, or at the time of another call's `last_answer_time`."""
    if (clock := _call_clock.get()) is not None:
        clock.last_answer = max(clock.last_answer, monotonic() if at is None else at)


def last_answer_time() -> float:
    """The monotonic time in seconds of the store's last answer to this call, else of its start; now outside a call."""
    clock = _call_clock.get()
    return monotonic() if clock is None else clock.last_answer


async def require_answer(
    seconds: float, *, call_timeout: float, liveness_check: Callable[[], Awaitable[object]]
) -> None:
    """Check that the store is alive before a query that may take so many seconds.

    `call_timeout` is the time-out of the call in seconds. If the query could end after it, `liveness_check` is awaited
    first, once for all concurrent queries of the call.

    Raises:
        TimeoutError: the store does not answer the liveness check.
        The errors of `liveness_check`.
    """
    clock = _call_clock.get()
    if clock is None:
        return
    async with clock.lock:
        seconds_left = clock.seconds_left(call_timeout)
        if seconds_left < seconds:
            async with asyncio.timeout(seconds_left):
                await liveness_check()
            note_answer()
