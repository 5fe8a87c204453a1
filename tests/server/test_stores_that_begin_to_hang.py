"""A store of any kind that hangs once it is open: whatever a call has asked by then, it ends with its time-out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp import Client

from kgnav_mcp import silence
from kgnav_mcp.adapters.sparql import client as sparql_client
from kgnav_mcp.adapters.sparql import rate_limit
from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.server import build_server
from tests.contract import toy_files, toy_views, toy_wikibase
from tests.proxy import Proxy
from tests.server.clients import text_of
from tests.skipped_waits import SkippingLoop

CALLERS = 11
"""Of each tool at once."""
TIME_OUT = 30.0
TOLD = TIME_OUT + 3
"""Seconds of the event loop, which waits for nothing, for all to be told: one time-out, and the sign of life beyond."""
WARM = 240
"""Seconds at most until a store that was just started answers its first question within the time-out."""
GRAPH = "http://toy.example/hanging"


@dataclass(frozen=True)
class Place:
    """A store with the toy graph, and the ids of an entity and of a relation there."""

    location: str
    entity: str
    relation: str

    @property
    def calls(self) -> dict[str, dict[str, object]]:
        """A call of each tool."""
        return {
            "search": {"entity": self.entity, "direction": "incoming"},
            "get_relations": {"entity": self.entity},
            "get_triples": {"entity": self.entity, "relations": [self.relation, "nonsense"]},
            "find_node": {"hint": "Cyd Mrash", "node_type": "Person"},
            "describe_graph": {"name": "Person"},
            "get_node_by_property": {"label": "Person", "property_name": "name", "property_value": "Cyd Marsh"},
        }


SERVICES = {"endpoint": "oxigraph", "wikidata": "oxigraph", "freebase": "virtuoso", "neo4j": "neo4j"}
"""The fixture that has each kind of store."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=pytest.mark.xdist_group(service)) for kind, service in SERVICES.items()],
)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A live store of each kind."""
    folder = tmp_path_factory.mktemp("toy")
    kind: str = request.param
    service: Any = request.getfixturevalue(SERVICES[kind])
    if kind == "neo4j":
        service.load(toy_files.write_property_graph(folder), full_text=True)
        return Place(service.url, "Person:id=cyd", "age")
    writers: dict[str, Callable[[Path], list[Path]]] = {
        "endpoint": toy_files.write_rdf,
        "wikidata": lambda into: [toy_wikibase.write(into)],
        "freebase": toy_files.write_freebase,
    }
    graph = f"{GRAPH}/{kind}"
    for path in writers[kind](folder):
        service.load(path, graph)
    scheme, style = {
        "endpoint": ("sparql", toy_views.RDF),
        "wikidata": ("wikidata", toy_views.WIKIDATA),
        "freebase": ("freebase", toy_views.FREEBASE),
    }[kind]
    prefixes = "".join(f"&prefix.{name}={iri}" for name, iri in toy_files.NAMESPACES.items() if "toy.example" in iri)
    options = f"#mediators=unnamed{prefixes}" if kind == "endpoint" else ""
    location = f"{scheme}+{service.url}?default-graph-uri={graph}{options}"
    return Place(location, style.node_id("cyd"), style.relation_id("age"))


@asynccontextmanager
async def opened(store: Place) -> AsyncGenerator[tuple[Client, Proxy]]:
    """A client of a graph that is open, and the way to its store."""
    port = urlsplit(store.location).port
    assert port is not None
    proxy = Proxy(port)
    async with proxy.listening():
        location = store.location.replace(f":{port}", f":{proxy.port}")
        app = App(Settings(graphs={"hanging": GraphSettings(location=location)}, timeout=TIME_OUT))
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
        for module in (silence, sparql_client):
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
            return await call_all(client, proxy, list(store.calls.items()) * CALLERS)

    assert {text.partition(":")[0] for text in runner.run(call())} <= {"Timed out", "Store down"}


@pytest.mark.parametrize("asked", [1, 2])
def test_a_call_in_whose_middle_a_store_hangs_ends_with_its_time_out(store: Place, runner: asyncio.Runner, asked: int):
    async def call(tool: str) -> None:
        async with opened(store) as (client, proxy):
            proxy.hang(after=asked)
            (text,) = await call_all(client, proxy, [(tool, store.calls[tool])])
            assert text

    for tool in store.calls:
        runner.run(call(tool))
