"""What is told of a plan while it runs long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

EVERY_S = 1.0
"""Seconds between two messages, and before the first: a short plan is not spoken of."""

Progress = Callable[[str], Awaitable[None]]
"""Tells the one who asked how far the work is."""


@asynccontextmanager
async def telling(progress: Progress | None, how_far: Callable[[], str]) -> AsyncGenerator[None]:
    """Tell how far the work inside is, once a second until it is done."""
    if progress is None:
        yield
        return

    async def tell() -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            await progress(how_far())

    task = asyncio.create_task(tell())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()  # raises what went wrong with telling
