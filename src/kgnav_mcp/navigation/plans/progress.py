"""Progress messages of long-running plans."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

EVERY_S = 1.0
"""Seconds between two messages, and before the first: a short plan sends none."""

Progress = Callable[[str], Awaitable[None]]
"""Sends a progress message to the client."""


@asynccontextmanager
async def reporting(progress: Progress | None, how_far: Callable[[], str]) -> AsyncGenerator[None]:
    """Send a progress message once a second until the work inside is done."""
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
        task.result()  # raises an error of `progress`
