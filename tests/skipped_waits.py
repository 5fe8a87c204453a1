"""An event loop that does not wait for its timers: what would take a time-out takes none, however busy the machine is.

Time passes for it only while it has nothing to do, so that work counts for nothing, and a time-out is exact.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable

_monotonic = time.monotonic
"""The real clock, also where a test has put this loop's in its place."""

_GRACE_S = 0.05
"""Seconds in which an answer from a thread or a socket may still come before a wait is skipped."""


class _Selector(selectors.DefaultSelector):
    """Skips waits where that is allowed, and keeps the time: the seconds waited and skipped."""

    def __init__(self) -> None:
        super().__init__()
        self.may_skip: Callable[[], bool] = bool
        self.now = _monotonic()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        began = _monotonic()
        skips = timeout is not None and timeout > _GRACE_S and self.may_skip()
        ready = super().select(_GRACE_S if skips else timeout)
        waited = _monotonic() - began
        if timeout is not None:
            # A process that waits for a processor comes back late, and has waited no longer for that.
            waited = min(waited, timeout) if ready or not skips else timeout
        self.now += waited
        return ready


class SkippingLoop(asyncio.SelectorEventLoop):
    """Skips waits from the time that `may_skip` allows it; until then it is like any other loop."""

    def __init__(self) -> None:
        self._waits = _Selector()
        super().__init__(self._waits)

    def skip_when(self, may_skip: Callable[[], bool]) -> None:
        """Skip waits while this is true."""
        self._waits.may_skip = may_skip

    def time(self) -> float:
        return self._waits.now
