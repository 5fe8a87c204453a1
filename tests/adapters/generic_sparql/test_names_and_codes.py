"""Names, codes and values of properties are found in any language and datatype where a store looks up terms."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.generic_sparql import text_forms
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.services import Oxigraph, Virtuoso

TURTLE = """
@prefix ex: <http://ex.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:a rdfs:label "Ann"@fr . ex:b rdfs:label "Ann"@en . ex:c rdfs:label "Ann" . ex:d rdfs:label "Ann"^^xsd:token .
ex:e rdfs:label "Anna"@en ; skos:altLabel "Ann"@nl-BE . ex:f rdfs:label "Bo"@nl .
ex:g rdfs:label "Ann"^^xsd:string ; ex:code "X9"^^xsd:string . ex:h rdfs:label "Cy"@en ; ex:code "X9" .
ex:a ex:motto "So"@en , "Ainsi"@fr ; ex:seat ex:f . ex:b ex:motto "So" ; ex:seat "Bo" . ex:c ex:motto "So"^^xsd:string .
ex:d ex:motto "So"^^ex:saying ; ex:seat ex:g . ex:e ex:motto "so"@en ; ex:next ex:a .
ex:f ex:motto "So"@de-AT ; ex:next ex:e .
ex:g ex:size "So" , 7 . ex:h ex:size "7" ; ex:seat "Bo"@nl .
"""
LABELLED_ANN = ["ex:a", "ex:b", "ex:c", "ex:d", "ex:g"]


class NamesAndCodes:
    """What holds on each store."""

    @pytest.mark.parametrize(
        "cypher",
        [
            "MATCH (n {name: 'Ann'}) RETURN n",
            "MATCH (n) WHERE n.name IN ['Ann', 'Zed'] RETURN n",
            "UNWIND ['Ann'] AS x MATCH (n) WHERE n.name = x RETURN n",
            "WITH 'Ann' AS x MATCH (n) WHERE n.name = x RETURN n",
        ],
    )
    async def test_a_plan_finds_a_name_in_any_language_and_datatype(self, location: str, cypher: str):
        async with open_adapter(location, AdapterOptions()) as graph:
            runner = PlanRunner(graph)
            checked = await runner.check(parse_plan(cypher).plan)
            page = await runner.run(checked.plan, limit=9)
        assert sorted(str(getattr(row.cells[0], "id", None)) for row in page.items) == LABELLED_ANN

    @pytest.mark.parametrize(
        ("cypher", "nodes"),
        [
            ("MATCH (n {motto: 'So'}) RETURN n", ["a", "b", "c", "d", "f"]),
            ("MATCH (n) WHERE n.motto IN ['So', 'so'] AND n.motto = 'Ainsi' RETURN n", ["a"]),
            ("MATCH (n)-[:next]->(m) WHERE EXISTS { (n)-[:next]->({motto: 'So'}) } RETURN n", ["e"]),
            ("MATCH (n)-[:next]->() WHERE NOT EXISTS { (n)-[:next]->({motto: 'So'}) } RETURN n", ["f"]),
            ("MATCH (n)-[:next]->({motto: 'so'}) RETURN n", ["f"]),
            ("MATCH (n {size: '7'}) RETURN n", ["h"]),
            ("MATCH (n {size: 7}) RETURN n", ["g"]),
            ("MATCH (n {size: 'So'}) RETURN n", ["g"]),
            ("MATCH (n {seat: 'Bo'}) RETURN n", ["a", "b", "h"]),
            ("UNWIND ['Ann', 'Bo'] AS x MATCH (n {seat: x}) RETURN n", ["a", "b", "d", "h"]),
        ],
    )
    async def test_a_text_equals_values_of_any_language_and_datatype_and_names_of_nodes(
        self, location: str, cypher: str, nodes: list[str]
    ):
        async with open_adapter(location, AdapterOptions()) as graph:
            runner = PlanRunner(graph)
            checked = await runner.check(parse_plan(cypher).plan)
            page = await runner.run(checked.plan, limit=9)
        assert sorted(str(getattr(row.cells[0], "id", None)) for row in page.items) == [f"ex:{node}" for node in nodes]

    async def test_find_node_finds_a_name_in_any_language_and_datatype(self, location: str):
        async with open_adapter(location, AdapterOptions()) as graph:
            candidates = (await graph.find("Ann", limit=9)).items
        assert sorted(one.entity.id for one in candidates if one.score == 1.0) == LABELLED_ANN

    async def test_a_code_with_the_datatype_string_is_found(self, location: str):
        async with open_adapter(location, AdapterOptions()) as graph:
            matches = await graph.find_by_values(["X9"], limit=9)
        assert sorted(one.entity.id for one in matches["X9"]) == ["ex:g", "ex:h"]

    async def test_an_answer_says_that_names_in_some_languages_only_were_compared(
        self, location: str, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(text_forms, "_MAX_FORMS", 2)
        async with open_adapter(location, AdapterOptions()) as graph:
            checked = await PlanRunner(graph).check(parse_plan("MATCH (n {name: 'Ann'}) RETURN n").plan)
        assert any(note.startswith("Only names in en or without a language were compared") for note in checked.notes)


class TestOnOxigraph(NamesAndCodes):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("names-and-codes", TURTLE)


class TestOnVirtuoso(NamesAndCodes):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("names-and-codes", TURTLE)
