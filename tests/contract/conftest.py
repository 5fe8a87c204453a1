"""Fixtures: the adapter under test, and an endpoint that spoils answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest_asyncio

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.sparql_base.stub import serving
from tests.contract.faults.relay import Relay, Source
from tests.contract.faults.suite import Endpoint
from tests.contract.toy_views import View


@pytest_asyncio.fixture(scope="class", loop_scope="class")
async def adapter(location: str, options: AdapterOptions) -> AsyncGenerator[GraphAdapter]:
    """One adapter for a whole class, as in a session: what it caches in one call must not spoil the next."""
    async with open_adapter(location, options) as opened:
        yield opened


@pytest_asyncio.fixture(scope="class", loop_scope="class")
async def endpoint(source: Source, location: str, view: View) -> AsyncGenerator[Endpoint]:
    """A store behind a relay."""
    relay = Relay(source)
    async with serving(relay) as stub:
        yield Endpoint(relay, location.replace("{url}", stub.url), view)
