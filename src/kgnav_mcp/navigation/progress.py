"""Sends progress messages of long calls."""

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
            await progress(how_far())
            await asyncio.sleep(EVERY_S)

    # The task is created only when a message is due: creating and ending one costs as much as a small query.
    telling: list[asyncio.Task[None]] = []
    due = asyncio.get_running_loop().call_later(EVERY_S, lambda: telling.append(asyncio.create_task(tell())))
    try:
        yield
    finally:
        due.cancel()
        for task in telling:
            task.cancel()
            await asyncio.wait([task])
    for task in telling:
        if not task.cancelled():
            task.result()  # raises an error of `progress`
