"""Graph files pass the contract, loaded from a property graph and from RDF."""

from __future__ import annotations

from typing import ClassVar

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from tests.contract import toy_files, toy_views, toy_wikibase
from tests.contract.suite import GraphAdapterContract, GraphFormContract
from tests.contract.suite.base import ALL


@pytest.fixture(scope="module")
def property_graph(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph loaded from node and edge files."""
    folder = tmp_path_factory.mktemp("property_graph")
    load(toy_files.write_property_graph(folder), folder / "toy.kg", LoadOptions(mediators="unnamed"))
    return str(folder / "toy.kg")


@pytest.fixture(scope="module")
def rdf(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph loaded from Turtle."""
    folder = tmp_path_factory.mktemp("rdf")
    load(toy_files.write_rdf(folder), folder / "toy.kg", LoadOptions(mediators="unnamed"))
    return str(folder / "toy.kg")


@pytest.fixture(scope="module")
def wikibase(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph loaded from the RDF of a Wikibase."""
    folder = tmp_path_factory.mktemp("wikibase")
    load([toy_wikibase.write(folder)], folder / "toy.kg", LoadOptions(mediators="unnamed"))
    return str(folder / "toy.kg")


class TestEmbeddedFromPropertyGraph(GraphAdapterContract):
    schemes: ClassVar[frozenset[str]] = frozenset({"file"})
    style: ClassVar[toy_views.Style] = toy_views.PROPERTY_GRAPH
    row_by_row: ClassVar[int] = ALL
    plans: ClassVar[int] = 8
    pages: ClassVar[int] = 200

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, property_graph: str) -> str:
        return property_graph


class TestEmbeddedFromRdf(GraphFormContract):
    style: ClassVar[toy_views.Style] = toy_views.RDF

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, rdf: str) -> str:
        return rdf


class TestEmbeddedFromWikibase(GraphFormContract):
    style: ClassVar[toy_views.Style] = toy_views.WIKIDATA

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, wikibase: str) -> str:
        return wikibase
