"""`id` is the graph's own property where a node has the value, otherwise the id that answers print."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Entity
from kgnav_mcp.navigation.nodes_by_value import nodes_by_value, printed_id_note
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter

ONTOLOGY = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix oboInOwl: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
obo:DOID_4 rdfs:label "disease" ; oboInOwl:id "DOID:4" .
obo:DOID_7 rdfs:label "organ disease" ; oboInOwl:id "DOID:7" ; rdfs:subClassOf obo:DOID_4 .
obo:DOID_9 rdfs:label "odd disease" ; oboInOwl:id "obo:DOID_7" ; rdfs:subClassOf obo:DOID_4 .
obo:IAO_1 rdfs:label "a part without an id" ; rdfs:subClassOf obo:DOID_7 .
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("ids")
    (folder / "ontology.ttl").write_text(ONTOLOGY, encoding="utf-8")
    load([folder / "ontology.ttl"], folder / "ontology.kg", LoadOptions())
    return str(folder / "ontology.kg")


@pytest.fixture
async def graph(path: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(path, AdapterOptions()) as opened:
        yield opened


async def _found(
    graph: GraphAdapter, plan: str | Sequence[object] | dict[str, object]
) -> tuple[list[str], CheckedPlan]:
    runner = PlanRunner(graph)
    checked = await runner.check(parse_plan(plan).plan)
    assert not checked.problems
    page = await runner.run(checked.plan, limit=9)
    return sorted(cell.id for row in page.items for cell in row.cells if isinstance(cell, Entity)), checked


@pytest.mark.parametrize(
    ("condition", "nodes", "printed"),
    [
        ("n.id = 'DOID:4'", ["DOID:4"], []),
        ("n.id = 'obo:DOID_4'", ["DOID:4"], ["obo:DOID_4"]),
        ("n.id = 'obo:IAO_1'", ["IAO:1"], ["obo:IAO_1"]),
        ("n.id = 'obo:DOID_7'", ["DOID:9"], []),
        ("'obo:DOID_4' = n.id", ["DOID:4"], ["obo:DOID_4"]),
        ("n.id IN ['DOID:4', 'obo:IAO_1', 'obo:DOID_7']", ["DOID:4", "DOID:9", "IAO:1"], ["obo:IAO_1"]),
        ("elementId(n) = 'obo:DOID_7'", ["DOID:7"], []),
        ("elementId(n) IN ['obo:DOID_7']", ["DOID:7"], []),
        ("n.id = 'DOID:5'", [], []),
        ("n.id <> 'DOID:4'", ["DOID:7", "DOID:9"], []),
        ("NOT n.id = 'obo:DOID_4' AND n.name CONTAINS 'disease'", ["DOID:7", "DOID:9"], ["obo:DOID_4"]),
    ],
)
async def test_each_constant_is_a_value_of_the_property_or_else_a_printed_id(
    graph: GraphAdapter, condition: str, nodes: list[str], printed: list[str]
):
    found, checked = await _found(graph, f"MATCH (n) WHERE {condition} RETURN n")
    assert found == nodes
    assert [note for note in checked.notes if "that answers print" in note] == list(map(printed_id_note, printed))


@pytest.mark.parametrize(
    ("plan", "nodes"),
    [
        ("MATCH (n {id: 'obo:DOID_4'})<-[]-(m) RETURN m", ["DOID:7", "DOID:9"]),
        ({"nodes": {"n": {"id": "obo:DOID_4"}}, "return": ["n"]}, ["DOID:4"]),
        ({"nodes": {"n": {"id": ["DOID:4", "obo:DOID_7"]}}, "return": ["n"]}, ["DOID:4", "DOID:9"]),
        ({"nodes": {"n": {"element_id": "obo:DOID_7"}}, "return": ["n"]}, ["DOID:7"]),
        ([{"as": "n", "find_node": {"id": "obo:DOID_4"}}, {"return": ["n"]}], ["DOID:4"]),
        ([{"as": "n", "find_node": {"element_id": "obo:DOID_7"}}, {"return": ["n"]}], ["DOID:7"]),
    ],
)
async def test_every_language_reads_ids_alike(
    graph: GraphAdapter, plan: str | Sequence[object] | dict[str, object], nodes: list[str]
):
    assert (await _found(graph, plan))[0] == nodes


@pytest.mark.parametrize(
    ("value", "nodes", "note"),
    [
        ("DOID:4", ["DOID:4"], ""),
        ("obo:DOID_4", ["DOID:4"], printed_id_note("obo:DOID_4")),
        ("obo:DOID_7", ["DOID:9"], ""),
        ("DOID:5", [], ""),
    ],
)
async def test_nodes_by_the_property_id_are_found_by_its_value_or_else_by_the_printed_id(
    graph: GraphAdapter, value: str, nodes: list[str], note: str
):
    page = await nodes_by_value(graph, None, "id", value, limit=9)
    assert ([node.id for node in page.items], page.note) == (nodes, note)
