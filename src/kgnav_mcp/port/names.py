"""Look-ups of many names in a store that looks up one name at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from kgnav_mcp.clipping import echoed
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.model import T

_MOST = 100
_AT_ONCE = 8


async def one_by_one(names: Sequence[str], look_up: Callable[[str], Awaitable[T]]) -> dict[str, T]:
    """The result of the look-up for each name. Each name is looked up once, a few at the same time.

    Raises:
        InvalidArgument: there are more than a hundred names.
    """
    wanted = list(dict.fromkeys(names))
    if len(wanted) > _MOST:
        raise InvalidArgument(
            f"{len(wanted):,} of the entities are no ids, beginning with {echoed(wanted[0])}",
            next_step=f"Pass ids, as printed in answers: at most {_MOST} names are looked up in one call.",
        )
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> T:
        async with slots:
            return await look_up(name)

    return dict(zip(wanted, await gathered(*map(one, wanted)), strict=True))
