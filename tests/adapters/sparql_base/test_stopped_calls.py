"""A call that a client cancels, or whose time is over, leaves no query running in the store: over stdio and HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Literal

import pytest
from mcp import Client

from tests.adapters.sparql_base.test_stopping import until_idle, until_queries
from tests.server.clients import text_of
from tests.server.processes import on_http, on_stdio
from tests.services import Blazegraph, Fuseki, Rdf4j, RdfService, Virtuoso

GRAPH = "http://example.org/complete"
PLAN = {"plan": "MATCH (a)-[:p]->(b)-[:p]->(c)-[:p]->(d)-[:p]->(e) WHERE a <> e RETURN count(*)"}
"""Takes hours on the graph of this test."""
NODES = 80

Transport = Literal["stdio", "HTTP"]
TRANSPORTS: tuple[Transport, ...] = ("stdio", "HTTP")


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph in which an edge leads from each node to each node."""
    path = tmp_path_factory.mktemp("complete") / "complete.nt"
    # RDF4J groups slowly where names differ in few characters: their hashes collide.
    names = [f"<http://example.org/{sha256(bytes([n])).hexdigest()}>" for n in range(NODES)]
    lines = (f"{a} <http://example.org/p> {b} ." for a in names for b in names)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@asynccontextmanager
async def serving(
    store: RdfService, complete: Path, folder: Path, transport: Transport, *, seconds: int
) -> AsyncGenerator[Client]:
    """A client of a server whose graph is in this store, and whose calls take at most so many seconds."""
    store.load(complete, GRAPH)
    location = f"sparql+{store.url}?default-graph-uri={GRAPH}#prefix.ex=http://example.org/"
    arguments = ("--graph", location, "--timeout", str(seconds))
    if transport == "stdio":
        async with Client(on_stdio(folder, *arguments)) as client:
            yield client
        return
    with on_http(folder, *arguments) as server:
        async with Client(server.url) as client:
            yield client


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_call_that_its_client_cancels_ends_its_query(
    blazegraph: Blazegraph, complete: Path, tmp_path: Path, transport: Transport
):
    async with serving(blazegraph, complete, tmp_path, transport, seconds=600) as client:
        call = asyncio.create_task(client.call_tool("run_plan", PLAN))
        await until_queries(blazegraph, 1)
        call.cancel()
        await asyncio.wait([call])
        await until_queries(blazegraph, 0)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_call_whose_time_is_over_ends_its_query(
    blazegraph: Blazegraph, complete: Path, tmp_path: Path, transport: Transport
):
    async with serving(blazegraph, complete, tmp_path, transport, seconds=2) as client:
        await refuse(client)
        await until_queries(blazegraph, 0)


async def test_fuseki_computes_nothing_after_a_call_whose_time_is_over(fuseki: Fuseki, complete: Path, tmp_path: Path):
    async with serving(fuseki, complete, tmp_path, "HTTP", seconds=2) as client:
        await refuse(client)
        await until_idle(fuseki)


async def test_rdf4j_computes_nothing_after_a_call_whose_time_is_over(rdf4j: Rdf4j, complete: Path, tmp_path: Path):
    async with serving(rdf4j, complete, tmp_path, "stdio", seconds=2) as client:
        await refuse(client)
        await until_idle(rdf4j)


async def test_virtuoso_computes_nothing_after_a_call_whose_time_is_over(
    virtuoso: Virtuoso, complete: Path, tmp_path: Path
):
    async with serving(virtuoso, complete, tmp_path, "HTTP", seconds=2) as client:
        await refuse(client)
        await asyncio.to_thread(virtuoso.until, busy=False)


async def refuse(client: Client) -> None:
    """Run the plan, which ends in an error."""
    result = await client.call_tool("run_plan", PLAN)
    assert result.is_error, text_of(result)
