"""Work that is done at the same time, and ends at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    gathered = asyncio.gather  # its overloads give each result its own type; `return_exceptions` is not taken here
else:

    async def gathered(*work: Awaitable[Any]) -> list[Any]:
        """The results of all, as `asyncio.gather` gives them; where one fails, the others are cancelled.

        gather would let them go on: what they ask a store for is of no use then, and keeps others waiting.

        Raises:
            What the first of them raised.
        """
        tasks = [asyncio.ensure_future(each) for each in work]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
