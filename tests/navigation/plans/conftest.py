"""The toy graph behind the adapter over a Python dict."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract.example import DictAdapter


@pytest.fixture
async def toy() -> AsyncGenerator[GraphAdapter]:
    async with DictAdapter("tests.contract.example_graph", AdapterOptions()) as opened:
        yield opened
