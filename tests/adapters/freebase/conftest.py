"""A small Freebase with what the toy graph does not have: a hub, names of relations, other namespaces."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.results import Answer
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.freebase.graph import GRAPH, write
from tests.services import Virtuoso


@pytest.fixture(scope="session")
def freebase(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The location of the graph on a live server."""
    path: Path = tmp_path_factory.mktemp("freebase") / "small.nt"
    write(path)
    virtuoso.load(path, GRAPH)
    return f"freebase+{virtuoso.url}?default-graph-uri={GRAPH}"


@pytest.fixture
async def graph(freebase: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(freebase, AdapterOptions()) as opened:
        yield opened


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that are sent from now on."""
    queries: list[str] = []
    selected = SparqlClient.select

    async def select(client: SparqlClient, query: str, *, seconds: float | None = None, waits: bool = True) -> Answer:
        queries.append(query)
        return await selected(client, query, seconds=seconds, waits=waits)

    monkeypatch.setattr(SparqlClient, "select", select)
    return queries
