"""Nodes whose key holds an IRI are found by every form of it."""

from __future__ import annotations

from typing import LiteralString

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import AmbiguousEntity, UnknownEntity
from kgnav_mcp.navigation.references import resolve_entity
from kgnav_mcp.port import AdapterOptions
from tests.adapters.documented_ids import documented_ids
from tests.adapters.neo4j.graphs import fill
from tests.neo4j_service import Neo4j

STATEMENTS: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT FOR (n:Disease) REQUIRE n.iri IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Gene) REQUIRE n.iri IS UNIQUE",
    """
    CREATE (:Disease {iri: 'http://purl.obolibrary.org/obo/DOID_734', name: 'urethral cancer'}),
           (:Disease {iri: 'http://purl.obolibrary.org/obo/X_1', name: 'x'}),
           (:Gene {iri: 'http://purl.obolibrary.org/obo/X_1', name: 'y'}),
           (:Gene {iri: 'http://go.example/7', name: 'z'}),
           (:Loose {uri: 'http://purl.obolibrary.org/obo/DOID_99', name: 'loose'})
    """,
)


@pytest.fixture(scope="module")
def ontology(neo4j: Neo4j) -> str:
    return fill(neo4j, STATEMENTS)


async def test_each_documented_form_finds_the_node(ontology: str) -> None:
    (forms,) = (each for each in documented_ids() if each.store == "Neo4j")
    async with open_adapter(ontology, AdapterOptions()) as graph:
        for text in (forms.printed, *forms.accepted):
            assert (await graph.describe([text]))[text].id == forms.printed
            assert [one.entity.id for one in (await graph.find(text, limit=5)).items] == [forms.printed]


async def test_an_iri_of_a_property_without_a_constraint_is_a_code(ontology: str) -> None:
    async with open_adapter(ontology, AdapterOptions()) as graph:
        assert (await resolve_entity(graph, "DOID:99")).label == "loose"


async def test_the_iri_of_two_nodes_is_ambiguous(ontology: str) -> None:
    async with open_adapter(ontology, AdapterOptions()) as graph:
        assert await graph.describe(["X:1"]) == {}
        with pytest.raises(AmbiguousEntity) as caught:
            await resolve_entity(graph, "X:1")
        assert {each.label for each in caught.value.candidates} == {"x", "y"}


async def test_an_id_in_another_letter_case_and_with_zeros_is_offered(ontology: str) -> None:
    async with open_adapter(ontology, AdapterOptions()) as graph:
        with pytest.raises(UnknownEntity) as caught:
            await resolve_entity(graph, "doid:0000734")
        assert [each.label for each in caught.value.nearest] == ["urethral cancer"]


async def test_prefixes_may_be_configured(ontology: str) -> None:
    options = AdapterOptions(extra={"prefixes": {"go": "http://go.example/"}})
    async with open_adapter(ontology, options) as graph:
        assert (await graph.describe(["go:7"]))["go:7"].label == "z"
