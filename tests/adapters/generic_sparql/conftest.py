"""Small graphs on a live Oxigraph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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
