"""What is done at the same time ends at the same time."""

from __future__ import annotations

import asyncio

import pytest

from kgnav_mcp.concurrency import gathered


async def test_results_come_in_the_order_of_the_work():
    async def later(value: int) -> int:
        await asyncio.sleep(0.01 / value)
        return value

    assert list(await gathered(later(1), later(2), later(3))) == [1, 2, 3]


async def test_where_one_fails_the_others_have_ended_before_it_is_said():
    ended: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("endless")

    async def failing() -> None:
        await asyncio.sleep(0)
        raise LookupError("nothing")

    with pytest.raises(LookupError, match="nothing"):
        await gathered(endless(), failing(), endless())
    assert ended == ["endless", "endless"]


async def test_a_cancelled_call_ends_all_of_its_work():
    ended: list[str] = []
    begun = asyncio.Event()

    async def endless() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("endless")

    task = asyncio.ensure_future(gathered(endless(), endless()))
    await begun.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["endless", "endless"]
