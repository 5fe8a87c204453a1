"""Two plans run at once on a graph, a few wait in their order, and any other is told when to come back."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from kgnav_mcp.errors import RateLimited
from kgnav_mcp.navigation import plan_queue
from kgnav_mcp.navigation.plan_queue import PlanQueue
from kgnav_mcp.store_limits import PLANS_AT_ONCE, store_limits

_TURNS = 20
"""Turns of the event loop in which all tasks come to wait for what they need."""


class Plans:
    """Plans of one queue, each of which runs until it is ended."""

    def __init__(self) -> None:
        self.queue = PlanQueue()
        self.running: list[int] = []
        self._ends = [asyncio.Event() for _ in range(20)]
        self._tasks: list[asyncio.Task[None]] = []

    async def _run(self, number: int, seconds: float) -> None:
        async with self.queue.place(seconds):
            self.running.append(number)
            await self._ends[number].wait()
            self.running.remove(number)

    async def begin(self, number: int, seconds: float = 30) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._run(number, seconds))
        self._tasks.append(task)
        await turns()
        return task

    async def end(self, number: int) -> None:
        self._ends[number].set()
        await turns()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def turns() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)


async def test_plans_run_in_the_order_in_which_they_came():
    plans = Plans()
    for number in range(5):
        await plans.begin(number)
    assert plans.running == [0, 1]
    await plans.end(1)
    assert plans.running == [0, 2]
    await plans.end(0)
    assert plans.running == [2, 3]
    await plans.close()


async def test_a_plan_beyond_those_that_wait_is_refused_at_once_with_when_to_come_back(monkeypatch: pytest.MonkeyPatch):
    now = 100.0
    monkeypatch.setattr(plan_queue, "monotonic", lambda: now)
    plans = Plans()
    for number in range(PLANS_AT_ONCE + 8):
        await plans.begin(number)
    now += 12
    with pytest.raises(RateLimited, match="2 plans run on this graph and 8 are waiting") as refused:
        async with plans.queue.place(30):
            pass
    assert refused.value.retry_after == 18, "the first plan ends then at the latest"
    await plans.end(0)
    last = await plans.begin(15)
    assert not last.done(), "there is room again"
    await plans.close()


async def test_a_plan_that_is_cancelled_while_it_waits_leaves_its_room_to_others():
    plans = Plans()
    for number in range(PLANS_AT_ONCE + 7):
        await plans.begin(number)
    cancelled = await plans.begin(15)
    cancelled.cancel()
    with suppress(asyncio.CancelledError):
        await cancelled
    other = await plans.begin(16)
    assert not other.done()
    for number in range(9):
        await plans.end(number)
    assert plans.running == [16]
    await plans.close()


async def test_a_plan_that_fails_leaves_its_place():
    queue = PlanQueue()
    for _ in range(5):
        with pytest.raises(ValueError, match="failed"):
            async with queue.place(30):
                raise ValueError("failed")


async def test_a_plan_that_waits_for_half_its_time_is_told_so():
    plans = Plans()
    for number in range(PLANS_AT_ONCE):
        await plans.begin(number)
    late = await plans.begin(2, seconds=0)
    with pytest.raises(RateLimited, match="this plan waited 0 s for other plans on this graph"):
        await late
    await plans.close()


async def test_only_what_is_done_in_a_place_is_work_of_a_plan():
    queue = PlanQueue()
    async with queue.place(30):
        assert store_limits().of_plan
    assert not store_limits().of_plan
