"""On a live Virtuoso a query ends with its time, or soon after its caller has left, and what it cut is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base import queries
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Value
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Certainty, Entity, Page, Stop
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.freebase.graph import NS
from tests.services import Virtuoso

ALL_ENDLESS = '?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(CONCAT(STR(?a), STR(?c), STR(?e)) = "never")'
"""More than a million million combinations, and none that fits."""
ENDLESS = ALL_ENDLESS.replace("?p", f"<{NS}people.person.fan_of>")
"""As many beside the nodes of a list as Virtuoso's estimates do not refuse."""
ENDLESS_COUNT = f"SELECT (COUNT(*) AS ?n) WHERE {{ $conditions {ENDLESS} }}"
ENDLESS_LIST = f"SELECT ?s WHERE {{ $conditions {ENDLESS} }} OFFSET $skip LIMIT $most"
SOON_S = 15
"""Long before a minute is over, the time of a query of which nothing is said: the store looks every two seconds."""


@pytest.fixture
async def hasty(virtuoso: Virtuoso, freebase: str) -> AsyncGenerator[GraphAdapter]:
    """The small graph with five seconds for each query, on a store that refuses none by its own estimates."""
    with virtuoso.limits(MaxQueryCostEstimationTime=2**31 - 1):
        async with open_adapter(freebase, AdapterOptions(timeout=5)) as opened:
            await _some_nodes(opened)  # reads what is read once
            yield opened
            await _until(virtuoso, busy=False)


async def _some_nodes(graph: GraphAdapter) -> Page[Entity]:
    return await graph.nodes(None, "people.person.fan_of", None, limit=5)


def _ask_instead(monkeypatch: pytest.MonkeyPatch, template: str, other: str) -> None:
    filled = Reader.filled

    def replaced(reader: Reader, text: str, **terms: Value) -> str:
        return filled(reader, other if text == template else text, **terms)

    monkeypatch.setattr(Reader, "filled", replaced)


async def _until(virtuoso: Virtuoso, *, busy: bool) -> float:
    return await asyncio.to_thread(virtuoso.until, busy=busy)


async def test_a_count_whose_caller_left_ends_with_its_time(
    virtuoso: Virtuoso, hasty: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    _ask_instead(monkeypatch, queries.NODE_COUNT, ENDLESS_COUNT)
    call = asyncio.create_task(_some_nodes(hasty))
    await _until(virtuoso, busy=True)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await _until(virtuoso, busy=False) < SOON_S


async def test_a_list_whose_caller_left_ends_long_before_its_time(
    virtuoso: Virtuoso, hasty: GraphAdapter, freebase: str, monkeypatch: pytest.MonkeyPatch
):
    assert hasty
    async with open_adapter(freebase, AdapterOptions(timeout=60)) as patient:
        await _some_nodes(patient)
        _ask_instead(monkeypatch, queries.NODES, ENDLESS_LIST)
        call = asyncio.create_task(_some_nodes(patient))
        await _until(virtuoso, busy=True)
        call.cancel()
        await asyncio.wait([call])
        assert await _until(virtuoso, busy=False) < SOON_S


async def test_a_list_that_is_not_counted_in_time_is_shown_without_its_length(
    hasty: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    _ask_instead(monkeypatch, queries.NODE_COUNT, ENDLESS_COUNT)
    page = await _some_nodes(hasty)
    assert len(page.items) == 5
    assert page.total.certainty is not Certainty.EXACT
    assert page.stop is Stop.LIMIT


async def test_a_list_of_which_nothing_is_read_in_time_is_a_time_out(
    virtuoso: Virtuoso, hasty: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    _ask_instead(monkeypatch, queries.NODES, ENDLESS_LIST)
    with pytest.raises(StoreTimeout, match="stopped the query"):
        await _some_nodes(hasty)
    assert await _until(virtuoso, busy=False) < SOON_S


async def test_a_graph_that_is_not_counted_in_time_is_not_opened(
    hasty: GraphAdapter, freebase: str, monkeypatch: pytest.MonkeyPatch
):
    before = hasty.revision
    _ask_instead(monkeypatch, queries.SIZE, f"SELECT (COUNT(*) AS ?n) WHERE {{ {ALL_ENDLESS} }} LIMIT $most")
    with pytest.raises(StoreTimeout, match="stopped the query"):
        await open_adapter(freebase, AdapterOptions(timeout=5)).open()
    assert hasty.revision == before
