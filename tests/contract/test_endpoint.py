"""The generic SPARQL adapter passes the contract on live stores: Oxigraph with RDF 1.2, Virtuoso with RDF 1.1."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlencode

import pytest

from tests.contract import toy_files, toy_views
from tests.contract.suite import GraphAdapterContract, StoreContract
from tests.services import Blazegraph, Oxigraph, Virtuoso

GRAPH = "http://toy.example/endpoint"
OPTIONS = {"mediators": "unnamed"} | {
    f"prefix.{name}": namespace
    for name, namespace in toy_files.NAMESPACES.items()
    if namespace.startswith("http://toy.example/")
}


@pytest.fixture(scope="module")
def toy_location(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as RDF, loaded into its own named graph."""
    for path in toy_files.write_rdf(tmp_path_factory.mktemp("endpoint")):
        oxigraph.load(path, GRAPH)
    return f"sparql+{oxigraph.url}?default-graph-uri={GRAPH}#{urlencode(OPTIONS)}"


class TestEndpointOnOxigraph(GraphAdapterContract):
    schemes: ClassVar[frozenset[str]] = frozenset({"sparql+http", "sparql+https"})
    style: ClassVar[toy_views.Style] = toy_views.RDF

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, toy_location: str) -> str:
        return toy_location


@pytest.fixture(scope="module")
def virtuoso_location(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as RDF 1.1, loaded into its own named graph."""
    for path in toy_files.write_rdf(tmp_path_factory.mktemp("endpoint"), statements=True):
        virtuoso.load(path, GRAPH)
    return f"sparql+{virtuoso.url}?default-graph-uri={GRAPH}#{urlencode(OPTIONS | {'full_text': 'virtuoso'})}"


class TestEndpointOnVirtuoso(StoreContract):
    style: ClassVar[toy_views.Style] = toy_views.RDF

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso_location: str) -> str:
        return virtuoso_location


@pytest.fixture(scope="module")
def blazegraph_location(blazegraph: Blazegraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as RDF 1.1, loaded into its own named graph."""
    for path in toy_files.write_rdf(tmp_path_factory.mktemp("endpoint"), statements=True):
        blazegraph.load(path, GRAPH)
    return f"sparql+{blazegraph.url}?default-graph-uri={GRAPH}#{urlencode(OPTIONS)}"


class TestEndpointOnBlazegraph(StoreContract):
    style: ClassVar[toy_views.Style] = toy_views.RDF

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, blazegraph_location: str) -> str:
        return blazegraph_location
