"""A clock that a test moves on, for what is kept for a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cachetools import TTLCache


@dataclass
class Clock:
    """Seconds since the test began."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def timed(clock: Clock) -> Callable[[float, float], TTLCache[Any, Any]]:
    """What stands in for `TTLCache` in a module, so that its caches go by this clock."""

    def cache(maxsize: float, ttl: float) -> TTLCache[Any, Any]:
        return TTLCache(maxsize, ttl, timer=clock)

    return cache
