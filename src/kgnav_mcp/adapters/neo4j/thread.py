"""A thread with an event loop of its own.

The driver packs parameters and unpacks rows on the event loop that it runs on, which takes a second for 10,000 nodes.
On a loop of its own it delays nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

_TURNS, _PAUSE = 20, 0.005
"""Turns of the event loop, and the seconds of each, in which the connections that were closed close their sockets."""


class LoopThread:
    """Runs coroutines on its own event loop, from the start until the end."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine. Where the caller is cancelled, it is cancelled too.

        Raises:
            What the coroutine raised.
        """
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def end(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel all that still runs, do the last work, and end the thread."""
        await self.run(_ended(last))
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()


async def _ended(last: Coroutine[Any, Any, None]) -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await last
    for _ in range(_TURNS):
        await asyncio.sleep(_PAUSE)
