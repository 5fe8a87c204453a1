"""The contract suite's toy graph as a graph file: the algorithms are tested on a real store."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract.toy_files import write_property_graph


@pytest.fixture(scope="session")
def toy_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy graph, with every node without a name taken as a mediator."""
    folder = tmp_path_factory.mktemp("toy")
    load(write_property_graph(folder), folder / "toy.kg", LoadOptions(mediators="unnamed"))
    return folder / "toy.kg"


@pytest.fixture
async def graph(toy_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(toy_file), AdapterOptions()) as opened:
        yield opened
