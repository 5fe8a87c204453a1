"""Runs tasks concurrently and gives their results in the order of the tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")


async def in_order(work: Iterable[Coroutine[Any, Any, T]], concurrency: int) -> AsyncGenerator[T]:
    """The results of coroutines in their order, as many at a time. The rest is cancelled when this is closed."""
    coming = iter(work)
    waiting = [asyncio.create_task(each) for each in islice(coming, concurrency)]
    try:
        while waiting:
            yield await waiting.pop(0)
            waiting += [asyncio.create_task(each) for each in islice(coming, 1)]
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
