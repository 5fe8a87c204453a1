"""The same Turtle has the same names of labels and datatypes in a graph file and behind an endpoint."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.nodes_by_value import nodes_by_value
from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, FarEndFilter, GraphAdapter
from tests.adapters.sparql_base.inprocess import InProcess, opened_over

TURTLE = """
@prefix ex: <http://ex.example/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix schema: <http://schema.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
ex:ann a schema:Person ; rdfs:label "Ann"@en ; ex:knows ex:bob ; ex:age 30 ;
  schema:nick "S" ; foaf:nick "F" ; ex:note "x", "y"@de .
ex:bob a foaf:Person ; rdfs:label "Bob"@en ; ex:knows ex:ann .
ex:knows a owl:ObjectProperty .
ex:lyon a ex:City . ex:City rdfs:label "Town" .
"""
ENDPOINT = "sparql+http://127.0.0.1/sparql#prefix.ex=http://ex.example/"


@pytest.fixture(params=["graph file", "endpoint"])
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    if request.param == "endpoint":
        async with opened_over(InProcess(TURTLE), ENDPOINT) as opened:
            yield opened
        return
    (tmp_path / "g.ttl").write_text(TURTLE, encoding="utf-8")
    load([tmp_path / "g.ttl"], tmp_path / "g.kg")
    async with open_adapter(str(tmp_path / "g.kg"), AdapterOptions()) as opened:
        yield opened


async def test_labels_are_shown_by_their_name_or_else_by_their_id(graph: GraphAdapter) -> None:
    schema = await graph.schema(limit=9)
    assert sorted((facts.id, facts.label, facts.shown) for facts in schema.labels) == [
        ("ex:City", "Town", "Town"),
        ("foaf:Person", "Person", "foaf:Person"),
        ("owl:ObjectProperty", "Object property", "owl:ObjectProperty"),
        ("schema:Person", "Person", "schema:Person"),
    ]
    (knows,) = (facts for facts in schema.relations if facts.relation.id == "ex:knows")
    assert sorted(end[:2] for end in knows.ends) == [("foaf:Person", "schema:Person"), ("schema:Person", "foaf:Person")]
    described = await graph.describe(["ex:ann", "ex:knows", "ex:lyon"])
    assert [entity.types for entity in described.values()] == [
        ("schema:Person",),
        ("owl:ObjectProperty",),
        ("Town",),
    ]


async def test_plain_texts_are_strings_and_those_with_a_language_are_told_from_them(graph: GraphAdapter) -> None:
    kinds = {facts.relation.id: set(facts.datatypes) for facts in (await graph.schema(limit=9)).properties}
    assert kinds["rdfs:label"] == kinds["ex:note"] == {"langString", "string"}
    assert (kinds["ex:age"], kinds["foaf:nick"]) == ({"xsd:integer"}, {"string"})


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("Person", ["Ann", "Bob"]),
        ("foaf:Person", ["Bob"]),
        ("http://xmlns.com/foaf/0.1/Person", ["Bob"]),
        ("ObjectProperty", [None]),
        ("Object property", [None]),
        ("Town", [None]),
        ("City", [None]),
        ("ex:City", [None]),
    ],
)
async def test_every_spelling_of_a_label_selects_its_nodes(graph: GraphAdapter, label: str, names: list[str]) -> None:
    checked = await PlanRunner(graph).check(parse_cypher(f"MATCH (n:`{label}`) RETURN n.name AS name ORDER BY name"))
    assert checked.problems == ()
    for page in (
        await PlanRunner(graph).run(checked.plan, limit=9),
        await evaluate(graph, checked.plan, limit=9, bound=99),
    ):
        assert len(page.items) == len(names)
        assert names == [None] or [row.cells for row in page.items] == [(name,) for name in names]


async def test_a_label_does_not_match_nodes_of_another_one_that_ends_alike(graph: GraphAdapter) -> None:
    cypher = "MATCH ({name: 'Ann'})-[:`ex:knows`*1..2]->(n:`foaf:Person`) RETURN n.name AS name, labels(n) AS labels"
    checked = await PlanRunner(graph).check(parse_cypher(cypher))
    page = await PlanRunner(graph).run(checked.plan, limit=9)
    assert [row.cells for row in page.items] == [("Bob", ("foaf:Person",))]


@pytest.mark.parametrize("iri", ["http://xmlns.com/foaf/0.1/nick", "<http://xmlns.com/foaf/0.1/nick>"])
async def test_the_iri_of_a_relation_does_not_mean_another_one_that_ends_alike(graph: GraphAdapter, iri: str) -> None:
    found = await search(graph, "ex:ann", Direction.OUTGOING, only=[iri], limits=Limits())
    assert found.rows is not None
    assert [row.relation.id for row in found.rows.items] == ["foaf:nick"]
    checked = await PlanRunner(graph).check(parse_cypher(f"MATCH (n {{name: 'Ann'}}) RETURN n.`{iri}` AS nick"))
    assert [row.cells for row in (await PlanRunner(graph).run(checked.plan, limit=9)).items] == [("F",)]


@pytest.mark.parametrize("label", ["foaf:Person", "http://xmlns.com/foaf/0.1/Person"])
async def test_far_ends_and_nodes_are_filtered_by_every_spelling_of_a_label(graph: GraphAdapter, label: str) -> None:
    found = await search(graph, "ex:ann", Direction.OUTGOING, far=FarEndFilter(label=label), limits=Limits())
    assert found.rows is not None
    assert [row.tail for row in found.rows.items] == [Entity("ex:bob", "Bob")]
    for node, expected in (("ex:bob", ["ex:bob"]), ("ex:ann", [])):
        page = await nodes_by_value(graph, label, "id", node, limit=5)
        assert [entity.id for entity in page.items] == expected


async def test_far_ends_of_an_endpoint_are_filtered_by_a_label_that_means_two_classes() -> None:
    async with opened_over(InProcess(TURTLE), ENDPOINT) as graph:
        far = FarEndFilter(label="Person")
        found = await search(graph, ["ex:ann", "ex:bob"], Direction.OUTGOING, far=far, limits=Limits())
    assert found.rows is not None
    assert {row.head.id for row in found.rows.items} == {"ex:ann", "ex:bob"}
