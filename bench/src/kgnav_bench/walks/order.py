"""Runs tasks concurrently and yields their results in the order of the tasks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Iterable
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

_AHEAD = 8
"""Tasks of each place that may have begun before the first of them ends: a slow task holds up no other."""


async def in_order(work: Iterable[Coroutine[Any, Any, T]], concurrency: int) -> AsyncGenerator[T]:
    """The results of coroutines in their order. Up to `concurrency` run concurrently. Closing it cancels the rest."""
    coming = iter(work)
    running: set[asyncio.Task[T]] = set()
    waiting: deque[asyncio.Task[T]] = deque()
    try:
        while True:
            while waiting and waiting[0].done():
                yield waiting.popleft().result()
            free = min(concurrency - len(running), _AHEAD * concurrency - len(waiting))
            begun = [asyncio.create_task(each) for each in islice(coming, free)]
            running.update(begun)
            waiting += begun
            if not waiting:
                return
            _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
