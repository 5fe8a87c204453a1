"""The driver works on an event loop in a thread of its own, so that it never delays the caller's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping

import pytest

from kgnav_mcp.adapters.cypher.session import Row
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.thread import LoopThread
from kgnav_mcp.port import GraphAdapter

NAME = "kgnav-test"


async def _nothing() -> None:
    return


@pytest.fixture
async def thread() -> AsyncGenerator[LoopThread]:
    found = LoopThread(NAME)
    yield found
    await found.end(_nothing())
    assert NAME not in {each.name for each in threading.enumerate()}


async def test_work_is_done_in_the_thread_and_its_result_or_error_comes_back(thread: LoopThread) -> None:
    async def name() -> str:
        return threading.current_thread().name

    async def fails() -> None:
        raise ValueError("of the work")

    assert await thread.run(name()) == NAME
    with pytest.raises(ValueError, match="of the work"):
        await thread.run(fails())


async def test_a_caller_that_is_cancelled_cancels_its_work(thread: LoopThread) -> None:
    begun, cancelled = threading.Event(), threading.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    call = asyncio.create_task(thread.run(work()))
    assert await asyncio.to_thread(begun.wait, 5)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(cancelled.wait, 5)


async def test_the_end_cancels_what_still_runs_before_the_last_work() -> None:
    thread, begun = LoopThread(NAME), threading.Event()
    done: list[str] = []

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            done.append("work")

    async def last() -> None:
        done.append("last")

    call = asyncio.create_task(thread.run(work()))
    assert await asyncio.to_thread(begun.wait, 5)
    await thread.end(last())
    with pytest.raises(asyncio.CancelledError):
        await call
    assert done == ["work", "last"]


async def test_no_query_is_asked_on_the_event_loop_of_the_caller(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()
    rows = Store.rows

    async def noted(self: Store, query: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        threads.add(threading.get_ident())
        return await rows(self, query, parameters)

    monkeypatch.setattr(Store, "rows", noted)
    await graph.describe(["Product:sku=7"])
    await graph.neighbours(["Product:sku=7"], None, limit=5)
    await graph.schema(limit=5)
    await graph.health()

    assert threads
    assert threading.get_ident() not in threads
