"""How long one call waits for a store that says nothing, however many questions it asks one after the other.

A time-out is one question's. A call that has asked in vain may ask for less, and answer in part: of a store that is
slow that is right, of one that hangs it would cost one time-out after the other. What tells them apart is a sign that
the store still answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Final

_LATER: Final = 0.75
"""Seconds beyond a call's time-out in which a store may show that it still answers."""


class _Silence:
    """The time since a call began, or was last answered."""

    def __init__(self) -> None:
        self.began = monotonic()
        self.trying = asyncio.Lock()

    def left(self, patience: float) -> float:
        """Seconds that the silence may go on."""
        return max(self.began + patience + _LATER - monotonic(), 0.0)


_silence: ContextVar[_Silence | None] = ContextVar("silence", default=None)


@contextmanager
def one_call() -> Generator[None]:
    """All questions of this block, and of the tasks that it starts, are those of one call."""
    token = _silence.set(_Silence())
    try:
        yield
    finally:
        _silence.reset(token)


def answered(at: float | None = None) -> None:
    """The store has answered a question of this call: now, or when another one had its `last_answer`."""
    if (silence := _silence.get()) is not None:
        silence.began = max(silence.began, monotonic() if at is None else at)


def last_answer() -> float:
    """When this call was last answered, or else began; now where there is no call."""
    silence = _silence.get()
    return monotonic() if silence is None else silence.began


async def expect_answer(seconds: float, *, patience: float, sign: Callable[[], Awaitable[object]]) -> None:
    """Go on to a question that may take so many seconds.

    `patience` is the call's time-out. Where the silence would last longer than that, the store is asked for a `sign`
    first, once for all questions that wait for it.

    Raises:
        TimeoutError: it gave none.
        What `sign` raises.
    """
    silence = _silence.get()
    if silence is None:
        return
    async with silence.trying:
        left = silence.left(patience)
        if left < seconds:
            async with asyncio.timeout(left):
                await sign()
            answered()
