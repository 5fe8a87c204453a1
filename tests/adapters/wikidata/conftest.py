"""A small Wikibase on a live Oxigraph."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.wikidata.graph import GRAPH, write
from tests.services import Oxigraph


@pytest.fixture(scope="session")
def wikibase_location(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The location of the graph on a live server."""
    oxigraph.load(write(tmp_path_factory.mktemp("wikibase") / "small.nt"), GRAPH)
    return f"wikidata+{oxigraph.url}?default-graph-uri={GRAPH}"


@pytest.fixture
async def graph(wikibase_location: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(wikibase_location, AdapterOptions()) as opened:
        yield opened
