"""A plan that runs long tells how far it is; a short one is not spoken of."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from kgnav_mcp import concurrency
from kgnav_mcp.model import AnchoredPage, Link
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract.example import DictAdapter
from tests.navigation.plans.writing import edge, give, is_id, matching, plan

PATIENCE_S = 60
VISITS = plan(matching(edge("v", "visited", "h"), where=is_id("h", "harbour")), give("v"))


class Waiting(DictAdapter):
    """Reads no edges before it may."""

    def __init__(self, may: asyncio.Event) -> None:
        super().__init__("tests.contract.example_graph", AdapterOptions())
        self._may = may

    async def neighbours(self, *arguments: Any, **options: Any) -> AnchoredPage[Link]:
        await self._may.wait()
        return await super().neighbours(*arguments, **options)


async def test_it_is_told_which_parts_were_read_while_the_store_lets_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "PROGRESS_INTERVAL", 0)
    told, messages = asyncio.Event(), list[str]()

    async def tell(message: str) -> None:
        messages.append(message)
        if "the largest" in message:
            told.set()

    async with asyncio.timeout(PATIENCE_S), Waiting(told) as graph:
        assert (await evaluate(graph, VISITS, limit=1, progress=tell)).items
    assert re.fullmatch(r"\d of 3 parts read, the largest \(.*\) [\d,]+", messages[-1])


async def test_nothing_is_told_of_a_plan_that_is_done_at_once(
    toy: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency, "PROGRESS_INTERVAL", PATIENCE_S)
    messages: list[str] = []

    async def tell(message: str) -> None:
        messages.append(message)

    await evaluate(toy, VISITS, limit=1, progress=tell)
    assert not messages


async def test_what_goes_wrong_with_telling_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "PROGRESS_INTERVAL", 0)
    tried = asyncio.Event()

    async def tell(_: str) -> None:
        tried.set()
        raise ConnectionError("the client is gone")

    async with asyncio.timeout(PATIENCE_S), Waiting(tried) as graph:
        with pytest.raises(ConnectionError, match="the client is gone"):
            await evaluate(graph, VISITS, limit=1, progress=tell)
