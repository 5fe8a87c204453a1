"""The toy graph as a graph file, for tests of the adapter alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from tests.contract import toy_files


@pytest.fixture(scope="session")
def toy_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy graph, loaded once from node and edge files. Tests that change the file copy it first."""
    folder = tmp_path_factory.mktemp("toy")
    load(toy_files.write_property_graph(folder), folder / "toy.kg", LoadOptions(mediators="unnamed"))
    return folder / "toy.kg"
