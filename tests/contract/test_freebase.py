"""Freebase on a live Virtuoso passes the contract."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tests.contract import toy_files, toy_views
from tests.contract.suite import GraphAdapterContract
from tests.services import Virtuoso

GRAPH = "http://toy.example/contract"


@pytest.fixture(scope="module")
def toy_location(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as Freebase writes it, loaded into its own named graph."""
    for path in toy_files.write_freebase(tmp_path_factory.mktemp("freebase")):
        virtuoso.load(path, GRAPH)
    return f"freebase+{virtuoso.url}?default-graph-uri={GRAPH}"


@pytest.mark.one_in(3, first=2, of="ten_thousand")
class TestFreebaseOnVirtuoso(GraphAdapterContract):
    groups_by_values: ClassVar[bool] = False
    schemes: ClassVar[frozenset[str]] = frozenset({"freebase+http", "freebase+https"})
    style: ClassVar[toy_views.Style] = toy_views.FREEBASE

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, toy_location: str) -> str:
        return toy_location
