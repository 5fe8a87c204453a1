"""The toy graph as a graph file, for tests of the adapter alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.session import Parameter, Row, Session
from tests.contract import toy_files


@pytest.fixture(scope="session")
def toy_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy graph, loaded once from node and edge files. Tests that change the file copy it first."""
    folder = tmp_path_factory.mktemp("toy")
    load(toy_files.write_property_graph(folder), folder / "toy.kg", LoadOptions(mediators="unnamed"))
    return folder / "toy.kg"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What SQLite does for the plans that run, step by step."""
    found: list[str] = []
    all_rows = Session.all

    def explained(self: Session, query: str, *parameters: Parameter) -> list[Row]:
        if query.startswith("WITH t"):
            found.extend(row[3] for row in all_rows(self, f"EXPLAIN QUERY PLAN {query}", *parameters))
        return all_rows(self, query, *parameters)

    monkeypatch.setattr(Session, "all", explained)
    return found
