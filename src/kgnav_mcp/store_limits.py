"""Limits of the work that a store inside this process does for a call, passed in a context variable.

The methods of the port have no parameter for them, because most stores are servers with their own limits.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

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
