"""A store of any kind that hangs once it is open: whatever a call has asked by then, it ends with its time-out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import pytest
from mcp import Client

from kgnav_mcp import store_limits
from kgnav_mcp.adapters.sparql_base import client as sparql_client
from kgnav_mcp.adapters.sparql_base import rate_limit
from kgnav_mcp.app import App
from kgnav_mcp.config import TOOLSETS, GraphSettings, Settings
from kgnav_mcp.server import build_server
from tests.proxy import Proxy
from tests.sampling import sampled_rows
from tests.server.clients import reading_examples, text_of
from tests.server.toy_stores import SERVICES, Place, load_toy
from tests.skipped_waits import SkippingLoop

CALLERS = 11
"""Of each tool at once."""
TIME_OUT = 30.0
TOLD = TIME_OUT + 3
"""Seconds of the event loop, which waits for nothing, for all to be told: one time-out, and the sign of life beyond."""
WARM = 240
"""Seconds at most until a store that was just started answers its first question within the time-out."""


def calls_on(store: Place) -> dict[str, dict[str, object]]:
    """A call of each tool that reads the store, with names of the toy graph where others would not reach the store."""
    return {
        **reading_examples(),
        "search": {"entity": store.entity, "direction": "incoming"},
        "get_relations": {"entity": store.entity},
        "get_triples": {"entity": store.entity, "relations": [store.relation, "nonsense"]},
        "find_node": {"hint": "Cyd Mrash", "node_type": "Person"},
        "describe_graph": {"name": "Person"},
        "get_all_nearest_neighbors": {"label": "*", "property_name": "id", "property_value": store.entity},
        "get_node_by_property": {"label": "Person", "property_name": "name", "property_value": "Cyd Marsh"},
    }


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=pytest.mark.xdist_group(service)) for kind, service in SERVICES.items()],
)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A live store of each kind."""
    kind: str = request.param
    return load_toy(kind, request.getfixturevalue(SERVICES[kind]), tmp_path_factory.mktemp("toy"))


@asynccontextmanager
async def opened(store: Place) -> AsyncGenerator[tuple[Client, Proxy]]:
    """A client of a graph that is open, and the way to its store."""
    port = urlsplit(store.location).port
    assert port is not None
    proxy = Proxy(port)
    async with proxy.listening():
        location = store.location.replace(f":{port}", f":{proxy.port}")
        app = App(
            Settings(graphs={"hanging": GraphSettings(location=location)}, timeout=TIME_OUT, toolsets=tuple(TOOLSETS))
        )
        async with app, Client(build_server(app)) as client:
            async with asyncio.timeout(WARM):
                while (await client.call_tool("search", {"entity": store.entity, "direction": "outgoing"})).is_error:
                    pass  # A Neo4j that was just started takes longer over its first query than over others.
            yield client, proxy


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Runner]:
    """Runs a test in a loop that can skip waits, by whose clock the product measures."""
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        clock = runner.get_loop().time
        monkeypatch.setattr(time, "monotonic", clock)
        for module in (store_limits, sparql_client):
            monkeypatch.setattr(module, "monotonic", clock)
        monkeypatch.setattr(rate_limit, "RateLimiter", partial(rate_limit.RateLimiter, now=clock))
        yield runner


async def call_all(client: Client, proxy: Proxy, calls: Iterable[tuple[str, dict[str, object]]]) -> list[str]:
    """The answers to calls that are made at once. From when the store hangs, waits are skipped."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SkippingLoop)
    loop.skip_when(lambda: proxy.is_holding)
    async with asyncio.timeout(TOLD):
        told = await asyncio.gather(*(client.call_tool(tool, arguments) for tool, arguments in calls))
    return [text_of(result) for result in told]


def test_all_callers_of_a_store_that_hangs_are_told_together(store: Place, runner: asyncio.Runner):
    async def call() -> list[str]:
        async with opened(store) as (client, proxy):
            proxy.hang()
            return await call_all(client, proxy, list(calls_on(store).items()) * CALLERS)

    texts = runner.run(call())
    assert {text.partition(":")[0] for text in texts} <= {"Timed out", "Store down"}, set(texts)


@pytest.mark.parametrize(("queries", "part"), sampled_rows([(1, 0), (1, 1), (2, 0), (2, 1)], 4))
def test_a_call_in_whose_middle_a_store_hangs_ends_with_its_time_out(
    store: Place, runner: asyncio.Runner, queries: int, part: int
):
    async def call(tool: str) -> None:
        async with opened(store) as (client, proxy):
            proxy.hang(after=queries)
            (text,) = await call_all(client, proxy, [(tool, calls_on(store)[tool])])
            assert text

    for tool in list(calls_on(store))[part::2]:
        runner.run(call(tool))
