"""Limits of the questions that a call asks a store inside this process, passed to the store through the context.

The verbs of the port have no parameter for them: most stores are servers, which have limits of their own.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """The limits of one question."""

    steps: int | None = None
    """Steps of the store's engine; None if only time is limited. A count does not depend on the machine's load."""


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
