"""The toy graph as a file, served over MCP; and a stub of a language model's API."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.config import GraphSettings
from tests.contract.toy_files import write_property_graph
from tests.rankers.stub_endpoint import StubEndpoint


@pytest.fixture(scope="session")
def toy_graph(tmp_path_factory: pytest.TempPathFactory) -> GraphSettings:
    """The toy graph, with every node without a name taken as a mediator."""
    folder = tmp_path_factory.mktemp("toy")
    load(write_property_graph(folder), folder / "toy.kg", LoadOptions(mediators="unnamed"))
    return GraphSettings(location=str(folder / "toy.kg"))


@pytest.fixture
async def endpoint() -> AsyncGenerator[StubEndpoint]:
    async with StubEndpoint() as stub:
        yield stub
