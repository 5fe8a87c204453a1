"""The shop on a live server, for the tests of one module."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.neo4j.graphs import SHOP, fill
from tests.neo4j_service import Neo4j


@pytest.fixture(scope="module")
def shop(neo4j: Neo4j) -> str:
    """The address of a store with the shop in it."""
    return fill(neo4j, SHOP)


@pytest.fixture
async def graph(shop: str) -> AsyncGenerator[GraphAdapter]:
    """The shop, opened without options."""
    async with open_adapter(shop, AdapterOptions()) as opened:
        yield opened
