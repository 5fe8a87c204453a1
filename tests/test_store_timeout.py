"""A call that is not answered asks on only of a store that still answers."""

from __future__ import annotations

import asyncio

import pytest

from kgnav_mcp import store_limits
from kgnav_mcp.concurrency import SharedTask
from tests.adapters.sparql_base.clock import Clock


class Store:
    """Gives signs, or does not."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.hangs = hangs
        self.signs = 0

    async def sign(self) -> None:
        self.signs += 1
        if self.hangs:
            await asyncio.Event().wait()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(store_limits, "monotonic", clock)
    return clock


async def ask(store: Store, seconds: float = 30.0) -> None:
    await store_limits.require_answer(seconds, call_timeout=30.0, liveness_check=store.sign)


async def test_a_call_that_is_answered_needs_no_sign(clock: Clock):
    store = Store()
    with store_limits.single_call():
        for _ in range(3):
            await ask(store)
            clock.now += 29
            store_limits.note_answer()
        await ask(store)
    assert store.signs == 0


async def test_a_call_that_asked_in_vain_hears_one_sign_for_all_that_it_asks_next(clock: Clock):
    store = Store()
    with store_limits.single_call():
        await ask(store)
        clock.now += 30
        await asyncio.gather(*(ask(store) for _ in range(5)))
    assert store.signs == 1


async def test_what_a_share_of_the_time_left_over_needs_no_sign(clock: Clock):
    store = Store()
    with store_limits.single_call():
        await ask(store, 15)
        clock.now += 15
        await ask(store, 15)
        assert store.signs == 0
        await ask(store, 30)
    assert store.signs == 1


async def test_a_store_that_gives_no_sign_is_queried_no_more(clock: Clock):
    store = Store(hangs=True)
    with store_limits.single_call():
        clock.now += 31
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await ask(store)


async def test_calls_are_silent_each_for_itself_and_no_question_is_outside_of_one(clock: Clock):
    store = Store()
    with store_limits.single_call():
        clock.now += 30
        with store_limits.single_call():
            await ask(store)
        assert store.signs == 0
        await ask(store)
    assert store.signs == 1
    clock.now += 300
    store_limits.note_answer()
    await ask(store)
    assert store.signs == 1


async def test_who_waited_for_what_another_asked_has_heard_what_that_one_heard(clock: Clock):
    async def work() -> str:
        await asyncio.sleep(0)
        clock.now += 20
        store_limits.note_answer()
        clock.now += 25  # one question more, in vain
        return "a part"

    shared = SharedTask(work)

    async def call() -> None:
        store = Store()
        with store_limits.single_call():
            assert await shared.result() == "a part"
            await ask(store, 5)
            assert store.signs == 0
            await ask(store, 10)
        assert store.signs == 1

    await asyncio.gather(call(), call())
