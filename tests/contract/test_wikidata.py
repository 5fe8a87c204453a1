"""Wikidata's form of the toy graph, and its truthy values alone, pass the contract on live stores."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tests.contract import toy_views, toy_wikibase
from tests.contract.suite import GraphAdapterContract, StoreContract
from tests.services import Oxigraph, Virtuoso

GRAPH = "http://toy.example/wikidata"
TRUTHY = "http://toy.example/wikidata-truthy"


@pytest.fixture(scope="module")
def toy_location(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as Wikidata writes it, loaded into a graph of its own."""
    oxigraph.load(toy_wikibase.write(tmp_path_factory.mktemp("wikidata")), GRAPH)
    return f"wikidata+{oxigraph.url}?default-graph-uri={GRAPH}"


class TestWikidataOnOxigraph(GraphAdapterContract):
    schemes: ClassVar[frozenset[str]] = frozenset({"wikidata+http", "wikidata+https"})

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, toy_location: str) -> str:
        return toy_location

    @pytest.fixture(scope="class")
    @classmethod
    def view(cls) -> toy_views.View:
        return toy_views.view(toy_views.WIKIDATA)


@pytest.fixture(scope="module")
def truthy_location(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as a truthy dump of Wikidata has it."""
    oxigraph.load(toy_wikibase.write(tmp_path_factory.mktemp("wikidata"), truthy=True), TRUTHY)
    return f"wikidata+{oxigraph.url}?default-graph-uri={TRUTHY}"


class TestTruthyWikidataOnOxigraph(StoreContract):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, truthy_location: str) -> str:
        return truthy_location

    @pytest.fixture(scope="class")
    @classmethod
    def view(cls) -> toy_views.View:
        return toy_views.view(toy_views.TRUTHY)


@pytest.fixture(scope="module")
def virtuoso_location(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same on Virtuoso."""
    virtuoso.load(toy_wikibase.write(tmp_path_factory.mktemp("wikidata")), GRAPH)
    return f"wikidata+{virtuoso.url}?default-graph-uri={GRAPH}"


class TestWikidataOnVirtuoso(StoreContract):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso_location: str) -> str:
        return virtuoso_location

    @pytest.fixture(scope="class")
    @classmethod
    def view(cls) -> toy_views.View:
        return toy_views.view(toy_views.WIKIDATA)
