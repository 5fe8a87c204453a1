"""Small graphs on live stores, and adapters that the tests of a class share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.services import Oxigraph

Load = Callable[[str, str], str]


@pytest.fixture(scope="session")
def loaded(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Loads Turtle into a named graph and gives its location: the same one for the same name."""
    known: dict[str, str] = {}

    def load(name: str, turtle: str) -> str:
        graph = f"http://ex.example/{name}"
        if name not in known:
            path: Path = tmp_path_factory.mktemp("endpoint") / f"{name}.ttl"
            path.write_text(turtle, encoding="utf-8")
            oxigraph.load(path, graph)
        known[name] = f"sparql+{oxigraph.url}?default-graph-uri={graph}#prefix.ex=http://ex.example/"
        return known[name]

    return load


@pytest_asyncio.fixture(scope="class", loop_scope="class")
async def adapter(location: str) -> AsyncGenerator[GraphAdapter]:
    """One adapter for all tests of a class: opening one reads the schema of its graph."""
    async with open_adapter(location, AdapterOptions()) as opened:
        yield opened
