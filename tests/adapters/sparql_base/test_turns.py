"""Queries of plans leave a place to other calls."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kgnav_mcp.adapters.sparql_base.rate_limit import RateLimiter
from kgnav_mcp.adapters.sparql_base.turns import Turns
from kgnav_mcp.store_limits import limited_to, store_limits

PLACES = 3


class Asking:
    """Queries that end when they are told to."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.end = asyncio.Event()

    async def query(self, name: str) -> str:
        self.begun.append(name)
        await self.end.wait()
        return name

    async def in_turn(self, turns: Turns, name: str) -> str:
        async with turns.turn():
            return await self.query(name)


@pytest.mark.parametrize("limited_host", [False, True])
async def test_a_call_does_not_wait_for_all_queries_of_a_plan(*, limited_host: bool):
    asking, turns, limiter = Asking(), Turns(PLACES), RateLimiter("host", limit=PLACES)

    async def ask(name: str) -> str:
        if limited_host:
            return await limiter.ask(lambda: asking.query(name), patience=60)
        return await asking.in_turn(turns, name)

    with limited_to(replace(store_limits(), of_plan=True)):
        plan = [asyncio.ensure_future(ask(f"plan {n}")) for n in range(9)]
    await asyncio.sleep(0)
    call = asyncio.ensure_future(ask("call"))
    second = asyncio.ensure_future(ask("second"))
    for _ in range(9):
        await asyncio.sleep(0)
    assert asking.begun == ["plan 0", "plan 1", "call"]
    asking.end.set()
    assert await asyncio.gather(*plan, call, second) == [*(f"plan {n}" for n in range(9)), "call", "second"]


async def test_a_plan_alone_has_the_only_place():
    asking, turns = Asking(), Turns(1)
    asking.end.set()
    with limited_to(replace(store_limits(), of_plan=True)):
        assert await asking.in_turn(turns, "plan") == "plan"
    assert not turns.are_taken()
