"""The example adapter passes the whole suite, found by the entry point of a separate package."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from kgnav_mcp.adapters import GROUP
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.port import AdapterOptions
from tests.contract import example, toy_views
from tests.contract.suite import GraphAdapterContract


class TestExample(GraphAdapterContract):
    schemes: ClassVar[frozenset[str]] = frozenset({"example"})
    style: ClassVar[toy_views.Style] = toy_views.PROPERTY_GRAPH

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
        """The location of the graph, while the adapter's package is installed, also for processes that tests start."""
        folder = tmp_path_factory.mktemp("installed")
        package = folder / "kgnav_example-1.0.dist-info"
        package.mkdir()
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: kgnav-example\nVersion: 1.0\n")
        (package / "entry_points.txt").write_text(f"[{GROUP}]\nexample = {example.__name__}:open_adapter\n")
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(folder))  # pyright: ignore[reportUnknownMemberType]
            patch.setenv("PYTHONPATH", os.pathsep.join((str(folder), str(Path(__file__).parents[2]))))
            yield "example://tests.contract.example_graph"


def test_the_example_is_short():
    """README and the port promise that an adapter can be written in an afternoon."""
    assert len(Path(example.__file__).read_text(encoding="utf-8").splitlines()) <= 150


async def test_a_store_that_looks_names_up_one_by_one_refuses_more_than_a_hundred():
    async with example.open_adapter("example://tests.contract.example_graph", AdapterOptions()) as adapter:
        with pytest.raises(InvalidArgument, match="101 of the entities are names instead of ids"):
            await adapter.find_by_names([f"nobody {n}" for n in range(101)], limit=1)
