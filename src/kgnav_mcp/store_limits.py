"""Limits of the work that a call has done in threads of this process, above all by its store; passed in the context.

The verbs of the port have no parameter for them: most stores are servers, which have limits of their own.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

PLANS_AT_ONCE = 2
"""Plans that run at the same time on one graph, and the threads that they have in a store inside this process."""


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """The limits of one question."""

    steps: int | None = None
    """Steps of the store's engine; None if only time is limited. A count does not depend on the machine's load."""
    of_plan: bool = False
    """Whether it is part of a plan: those have threads of their own, so that other calls need not wait for them."""


_limits: ContextVar[StoreLimits] = ContextVar("limits", default=StoreLimits())  # noqa: B039 - it is frozen


def store_limits() -> StoreLimits:
    """The limits of the questions that are asked here."""
    return _limits.get()


@contextmanager
def limited_to(limits: StoreLimits) -> Generator[None]:
    """Sets the limits for the questions of this block and of the tasks that it starts."""
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)
