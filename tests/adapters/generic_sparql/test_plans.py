"""Plans on a live endpoint whose classes and relations have no names of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import KgnavError
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.adapters.generic_sparql.conftest import Load

TURTLE = """
@prefix ex: <http://ex.example/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
ex:rex a ex:Big_Dog ; ex:bites ex:pat, ex:sam .
ex:pat a ex:Post_Man .
ex:sam a ex:Sailor .
[] a rdf:Statement ; rdf:subject ex:rex ; rdf:predicate ex:bites ; rdf:object ex:sam ; ex:seenOn "Monday" .
"""


@pytest.mark.parametrize(
    ("cypher", "rows"),
    [
        ("MATCH (a:Big_Dog)-[r:bites]->(b:Post_Man) RETURN count(r)", [1]),
        ("MATCH (a)-[:bites]->(b) WHERE b:Sailor RETURN count(b)", [1]),
        ("MATCH (a)-[:bites {seenOn: 'Monday'}]->(b) RETURN elementId(b)", ["ex:sam"]),
        ("MATCH (a)-[r:bites]->(b) WHERE r.seenOn = 'Sunday' RETURN count(b)", [0]),
    ],
)
async def test_classes_and_qualifiers_are_called_by_the_last_part_of_their_ids(
    loaded: Load, cypher: str, rows: list[object]
):
    async with open_adapter(loaded("nameless", TURTLE), AdapterOptions()) as adapter:
        runner = PlanRunner(adapter)
        checked = await runner.check(parse_plan(cypher).plan)
        assert not checked.problems
        page = await runner.run(checked.plan, limit=9)
        assert [row.cells[0] for row in page.items] == rows


UNTYPED = """
@prefix ex: <http://ex.example/> .
ex:ada a ex:Person, "Person" ; ex:knows ex:ben, [ ex:age 7 ] . ex:ben a "Person" .
ex:cyd a [ ex:of ex:ada ] ; ex:age 9 .
"""


@pytest.mark.parametrize(
    ("cypher", "rows"),
    [
        ("MATCH (n) RETURN count(n)", [6]),
        ("MATCH (n) RETURN labels(n) AS l, count(*)", [[], ["ex:Person"]]),
        ("MATCH (n)-[:knows]->(m) RETURN elementId(n)", ["ex:ada", "ex:ada"]),
        ("MATCH (n)-[r]->(m) RETURN type(r), count(*)", ["ex:knows", "ex:of", "rdf:type"]),
    ],
)
async def test_blank_nodes_are_counted_and_values_and_blank_nodes_are_no_labels(
    loaded: Load, cypher: str, rows: list[object]
):
    async with open_adapter(loaded("untyped", UNTYPED), AdapterOptions()) as adapter:
        schema = await adapter.schema(limit=9)
        assert [label.id for label in schema.labels] == ["ex:Person"]
        runner = PlanRunner(adapter)
        page = await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=9)
        assert [list(cell) if isinstance(cell := row.cells[0], tuple) else cell for row in page.items] == rows


RESULTS = """
@prefix ex: <http://ex.example/> .
[] a ex:ResultSet ; ex:solution [ ex:binding [ ex:value ex:x1 ; ex:variable "a" ] ] .
ex:root ex:first [ ex:next [ ex:next [ ex:next [ ex:leaf "deep" ] ] ] ] .
"""
TWINS = """
@prefix ex: <http://ex.example/> .
[] ex:binding [ ex:value ex:x1 ; ex:variable "a" ], [ ex:value "" ] .
[] ex:binding [ ex:value ex:x1 ; ex:variable "a" ], [ ex:value "other" ] .
"""


@pytest.mark.parametrize(
    ("cypher", "number"),
    [
        ("MATCH (a)-[:type]->(b)<-[:type]-(c) RETURN count(*)", 0),
        ("MATCH (a)-[:binding]->(b)<-[:binding]-(c) RETURN count(*)", 0),
        ("MATCH (a)-[:solution*1..3]->(b) RETURN count(*)", 1),
        ("MATCH (n) WHERE n.leaf = 'deep' RETURN count(n)", 1),
        ("MATCH (a)-[:next*1..3]->(b) WHERE b.leaf = 'deep' RETURN count(*)", 3),
    ],
)
async def test_a_blank_node_is_the_same_however_it_is_reached(loaded: Load, cypher: str, number: int):
    async with open_adapter(loaded("results", RESULTS), AdapterOptions()) as adapter:
        runner = PlanRunner(adapter)
        page = await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=9)
        assert page.items[0].cells == (number,)


async def test_a_blank_node_that_looks_like_others_that_were_not_read_is_not_mistaken_for_one(loaded: Load):
    async with open_adapter(loaded("twins", TWINS), AdapterOptions()) as adapter:
        runner = PlanRunner(adapter)
        plan = (await runner.check(parse_plan("MATCH (n)-[:binding]->(m) WHERE m.value = '' RETURN n, m").plan)).plan
        with pytest.raises(KgnavError, match="blank nodes"):
            await runner.run(plan, limit=9)
        plan = (await runner.check(parse_plan("MATCH (n)-[:binding]->(m) RETURN count(m)").plan)).plan
        assert (await runner.run(plan, limit=9)).items[0].cells == (4,)


NAMELESS = """
@prefix ex: <http://ex.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:ada a ex:Person ; rdfs:label "Ada" ; ex:knows ex:dan . ex:dan a ex:Person ; ex:knows ex:ada .
"""


@pytest.mark.parametrize(("in_file", "name"), [(True, "dan"), (False, None)])
async def test_a_node_without_a_name_has_the_name_that_a_graph_file_shows_and_none_on_an_endpoint(
    loaded: Load, tmp_path: Path, in_file: bool, name: str | None
):
    source = tmp_path / "nameless.ttl"
    source.write_text(NAMELESS, encoding="utf-8")
    load([source], tmp_path / "nameless.kg", LoadOptions())
    location = str(tmp_path / "nameless.kg") if in_file else loaded("one-without-a-name", NAMELESS)
    async with open_adapter(location, AdapterOptions()) as adapter:
        runner = PlanRunner(adapter)
        plan = parse_plan("MATCH (n:Person)-[:knows]->({name: 'Ada'}) RETURN n.name, n.`rdfs:label`").plan
        page = await runner.run((await runner.check(plan)).plan, limit=9)
        assert [row.cells for row in page.items] == [(name, None)]


IN_NAMESPACES = """
@prefix data: <http://data.example/people/> . @prefix ex: <http://ex.example/> .
data:Dan_Brown a ex:Person ; ex:knows data:ada . data:ada a ex:Person .
[] a ex:Statement ; ex:about "Dan Brown" .
"""


async def test_a_node_without_a_name_is_found_by_the_last_part_of_its_iri_in_the_graphs_own_namespaces(loaded: Load):
    location = loaded("in-namespaces", IN_NAMESPACES).partition("#")[0]
    async with open_adapter(location, AdapterOptions()) as adapter:
        found = await adapter.find("dan brown", limit=9)
        assert [one.entity.id for one in found.items] == ["http://data.example/people/Dan_Brown"]
        runner = PlanRunner(adapter)
        checked = await runner.check(parse_plan("MATCH ({name: 'Dan Brown'})-[:knows]->(n) RETURN n.id").plan)
        assert not checked.problems
        page = await runner.run(checked.plan, limit=9)
        assert [row.cells for row in page.items] == [("http://data.example/people/ada",)]
