"""The adapter under test."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest_asyncio

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.port import AdapterOptions, GraphAdapter


@pytest_asyncio.fixture(scope="class", loop_scope="class")
async def adapter(location: str, options: AdapterOptions) -> AsyncGenerator[GraphAdapter]:
    """One for a whole class, as one serves a whole session: what it keeps of one call must not spoil the next."""
    async with open_adapter(location, options) as opened:
        yield opened
