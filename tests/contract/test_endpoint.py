"""The generic SPARQL adapter passes the contract on live stores: Oxigraph with RDF 1.2, the others with RDF 1.1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import urlencode

import pytest

from tests.contract import toy_files, toy_views
from tests.contract.suite import GraphAdapterContract, NameAndCountContract, StoreContract
from tests.contract.suite.lists import NodeContract, ValueContract
from tests.services import Blazegraph, Fuseki, Oxigraph, Rdf4j, Virtuoso

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


@pytest.mark.one_in(6)
class TestEndpointOnVirtuoso(StoreContract):
    style: ClassVar[toy_views.Style] = toy_views.RDF

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso, virtuoso_location: str) -> Iterator[str]:
        """On a store that refuses no query by its own estimates, which vary from run to run: 4,495 s for 0.1 s."""
        with virtuoso.limits(MaxQueryCostEstimationTime=2**31 - 1):
            yield virtuoso_location


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


@pytest.fixture(scope="module")
def fuseki_location(fuseki: Fuseki, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as RDF 1.1, loaded into its own named graph."""
    for path in toy_files.write_rdf(tmp_path_factory.mktemp("endpoint"), statements=True):
        fuseki.load(path, GRAPH)
    return f"sparql+{fuseki.url}?default-graph-uri={GRAPH}#{urlencode(OPTIONS)}"


class TestEndpointOnFuseki(NameAndCountContract, NodeContract, ValueContract):
    style: ClassVar[toy_views.Style] = toy_views.RDF

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, fuseki_location: str) -> str:
        return fuseki_location


@pytest.fixture(scope="module")
def rdf4j_location(rdf4j: Rdf4j, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as RDF 1.1, loaded into its own named graph."""
    for path in toy_files.write_rdf(tmp_path_factory.mktemp("endpoint"), statements=True):
        rdf4j.load(path, GRAPH)
    return f"sparql+{rdf4j.url}?default-graph-uri={GRAPH}#{urlencode(OPTIONS)}"


class TestEndpointOnRdf4j(NameAndCountContract, NodeContract, ValueContract):
    style: ClassVar[toy_views.Style] = toy_views.RDF

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, rdf4j_location: str) -> str:
        return rdf4j_location
