"""What is done at the same time ends at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from operator import itemgetter
from typing import Any

import pytest

from kgnav_mcp import concurrency
from kgnav_mcp.concurrency import (
    SharedTask,
    gathered,
    gathered_for,
    in_thread,
    mapped_in_thread,
    run_unless_stopped,
    sorted_in_runs,
)
from kgnav_mcp.store_limits import StoreLimits, limited_to


async def test_results_come_in_the_order_of_the_work():
    async def later(value: int) -> int:
        for _ in range(10 - value):  # the last one is the first to be done
            await asyncio.sleep(0)
        return value

    assert list(await gathered(later(1), later(2), later(3))) == [1, 2, 3]


async def test_work_that_is_cancelled_before_it_begins_leaves_no_call_behind():
    made: list[int] = []

    async def call(value: int) -> None:
        made.append(value)

    def work(value: int) -> Coroutine[None, None, None]:
        made.append(value)
        return call(value)

    task = asyncio.ensure_future(gathered_for([1, 2], work))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert made == []


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


class Work:
    """Work that ends when it is told to, and counts how often it was begun and cancelled."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0
        self.outcome = asyncio.get_running_loop().create_future()

    async def __call__(self) -> str:
        self.begun += 1
        try:
            return await asyncio.shield(self.outcome)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


async def begun(shared: SharedTask[str], times: int) -> list[asyncio.Task[str]]:
    tasks = [asyncio.create_task(shared.result()) for _ in range(times)]
    for _ in range(10):  # each has had its turn
        await asyncio.sleep(0)
    return tasks


async def test_shared_work_is_done_once_and_everybody_gets_its_result() -> None:
    work = Work()
    waiting = await begun(SharedTask(work), 64)
    work.outcome.set_result("done")
    assert await asyncio.gather(*waiting) == ["done"] * 64
    assert work.begun == 1


async def test_a_failure_is_told_to_all_who_waited_and_not_to_the_next() -> None:
    work = Work()
    shared = SharedTask(work)
    waiting = await begun(shared, 3)
    work.outcome.set_exception(KeyError("lost"))
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [KeyError] * 3
    work.outcome = asyncio.get_running_loop().create_future()
    work.outcome.set_result("found")
    assert await shared.result() == "found"


async def test_who_is_cancelled_does_not_end_what_others_wait_for() -> None:
    work = Work()
    first, second = await begun(SharedTask(work), 2)
    first.cancel()
    await asyncio.wait([first])
    work.outcome.set_result("done")
    assert await second == "done"
    assert first.cancelled()
    assert work.cancelled == 0


async def test_work_that_nobody_waits_for_any_more_ends_and_the_next_begins_anew() -> None:
    work = Work()
    shared = SharedTask(work)
    for task in await begun(shared, 2):
        task.cancel()
    (later,) = await begun(shared, 1)
    assert (work.begun, work.cancelled) == (2, 1)
    work.outcome.set_result("done")
    assert await later == "done"


async def test_work_that_finishes_goes_on_when_nobody_waits_for_it() -> None:
    work = Work()
    shared = SharedTask(work, finishes=True)
    (first,) = await begun(shared, 1)
    first.cancel()
    (later,) = await begun(shared, 1)
    work.outcome.set_result("done")
    assert await later == "done"
    assert (work.begun, work.cancelled) == (1, 0)


async def test_shared_work_can_be_ended_for_all() -> None:
    work = Work()
    shared = SharedTask(work)
    (waiting,) = await begun(shared, 1)
    await shared.end()
    assert work.cancelled == 1
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize(("size", "elsewhere"), [(1, False), (10_000, True)])
async def test_what_is_computed_over_many_items_does_not_keep_the_event_loop(size: int, elsewhere: bool):
    thread = await in_thread(size, threading.get_ident)

    assert (thread != threading.get_ident()) is elsewhere


_KEYS: dict[str, Callable[[int], int]] = {
    "many": lambda place: place * 7_919 % 1_000,
    "all": lambda place: place,
    "three": lambda place: place % 3,
    "one": lambda _: 0,
    "nearly one": lambda place: -1 if place == 5_000 else 1 if place == 70 else 0,
}


@pytest.mark.parametrize("number", [0, 1, 1_024, 1_025, 30_000])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("keys", ["many", "all", "three", "one", "nearly one"])
def test_items_sorted_in_runs_have_the_order_of_sorted_and_no_call_sorts_many(
    number: int, keys: str, monkeypatch: pytest.MonkeyPatch, *, reverse: bool
):
    sizes: list[int] = []

    def counted(items: Any, **given: Any) -> Any:
        sizes.append(len(items))
        return sorted(items, **given)

    monkeypatch.setattr(concurrency, "sorted", counted, raising=False)
    items = [(_KEYS[keys](place), place) for place in range(number)]
    found = sorted_in_runs(items, itemgetter(0), reverse=reverse)
    assert found == sorted(items, key=itemgetter(0), reverse=reverse), "equal items keep their order"
    assert max(sizes, default=0) <= 1_024


async def test_work_of_plans_does_not_keep_that_of_other_calls_waiting():
    release = threading.Event()
    with limited_to(StoreLimits(of_plan=True)):
        of_plan = asyncio.ensure_future(in_thread(10_000, lambda: release.wait(10)))
        await asyncio.sleep(0)
    await in_thread(10_000, release.set)
    assert await of_plan


async def test_work_item_by_item_ends_after_the_current_item_if_nobody_waits_for_it():
    begun, goes_on, seen = threading.Event(), threading.Event(), list[int]()

    def work(item: int) -> int:
        seen.append(item)
        begun.set()
        goes_on.wait(5)
        return item

    task = asyncio.ensure_future(mapped_in_thread(10_000, range(10_000), work))
    await asyncio.to_thread(begun.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    goes_on.set()
    assert await in_thread(10_000, lambda: len(seen)) <= 1, "the thread is free for the next work"
    assert await mapped_in_thread(3, range(3), str) == ["0", "1", "2"]


async def test_work_is_given_up_once_what_was_asked_meanwhile_says_so():
    ended: list[str] = []

    async def endless() -> int:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("endless")
        return 1

    async def said(*, answer: bool) -> bool:
        return answer

    async def short() -> int:
        for _ in range(10):
            await asyncio.sleep(0)
        return 1

    assert await run_unless_stopped(endless(), lambda: said(answer=True), after=0) is None
    assert ended == ["endless"]
    assert await run_unless_stopped(short(), lambda: said(answer=False), after=0) == 1


async def test_work_that_is_done_in_time_is_not_asked_about():
    async def failing() -> int:
        raise LookupError("nothing")

    async def asked() -> bool:
        raise AssertionError("asked")

    with pytest.raises(LookupError, match="nothing"):
        await run_unless_stopped(failing(), asked, after=10)
