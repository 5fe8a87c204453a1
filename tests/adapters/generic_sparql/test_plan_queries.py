"""How many queries a plan costs on an endpoint, once it is open and its schema is known."""

from __future__ import annotations

from collections.abc import Mapping
from unittest.mock import patch

import pytest

from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import PlanPage
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over

RDF = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PEOPLE = f"""
@prefix ex: <http://ex.example/> .
ex:ada a ex:Person ; ex:town "York" ; ex:title "Ada" ; ex:knows ex:ben, ex:cyd .
ex:ben a ex:Person ; ex:town "York" ; ex:title "Ben" ; ex:knows ex:cyd, ex:dan .
ex:cyd a ex:Person ; ex:town "Rome" ; ex:title "Cyd", "Sid" ; ex:knows ex:dan .
ex:dan a ex:Person ; ex:town "Rome" .
[] a {RDF}Statement> ; {RDF}subject> ex:ada ; {RDF}predicate> ex:knows ; {RDF}object> ex:ben ; ex:season "spring" .
[] a {RDF}Statement> ; {RDF}subject> ex:ben ; {RDF}predicate> ex:knows ; {RDF}object> ex:dan ; ex:season "spring" .
"""
IN_YORK = "MATCH (a:Person {town: 'York'})"


async def answer(graph: GraphAdapter, cypher: str) -> PlanPage:
    runner = PlanRunner(graph)
    checked = await runner.check(parse_cypher(cypher))
    assert not checked.problems
    return await runner.run(checked.plan, limit=9)


ROWS: Mapping[str, tuple[list[tuple[object, ...]], int]] = {
    f"{IN_YORK} RETURN a.title ORDER BY a.title": ([("Ada",), ("Ben",)], 2),
    f"{IN_YORK}-[:knows]->(b) RETURN DISTINCT b.title": ([("Ben",), (("Cyd", "Sid"),), (None,)], 2),
    f"{IN_YORK} OPTIONAL MATCH (a)-[r:knows]->({{town: 'Rome'}}) RETURN a.title, count(r)": (
        [("Ada", 1), ("Ben", 2)],
        4,
    ),
    f"{IN_YORK} OPTIONAL MATCH (a)<-[r:knows]-() RETURN a.title, count(r)": ([("Ada", 0), ("Ben", 1)], 3),
    f"{IN_YORK} WHERE NOT EXISTS {{ (a)<-[:knows]-() }} RETURN a.title": ([("Ada",)], 2),
    "MATCH (a:Person)-[r:knows]->(b) RETURN b.town, count(r)": ([("Rome", 4), ("York", 1)], 1),
    "MATCH (a:Person)-[:knows {season: 'spring'}]->(b) RETURN a.title, b.title": ([("Ada", "Ben"), ("Ben", None)], 4),
    "MATCH p = shortestPath((a {title: 'Ada'})-[:knows*1..3]->(b {title: 'Sid'})) RETURN length(p)": ([(1,)], 3),
    "MATCH (a:Person {title: 'Ada'})-[*1..2]->(b:Person) RETURN DISTINCT b.town": ([("Rome",), ("York",)], 6),
}
"""The rows of each plan, and the most queries that it may cost."""


@pytest.mark.parametrize("cypher", ROWS)
async def test_a_plan_costs_few_queries(cypher: str):
    rows, queries = ROWS[cypher]
    client = InProcess(PEOPLE)
    async with opened_over(client, HERE) as graph:
        await answer(graph, cypher)
        client.queries.clear()
        page = await answer(graph, cypher)
    assert sorted((row.cells for row in page.items), key=repr) == sorted(rows, key=repr)
    assert len(client.queries) <= queries, client.queries


@pytest.mark.parametrize(
    ("cypher", "rows"),
    [
        ("MATCH (p)-[r:knows]->(q) WHERE r.season IS NOT NULL RETURN p.title", [("Ada",), ("Ben",)]),
        ("MATCH ()-[:knows]->(q) WHERE q.title CONTAINS 'Q' RETURN q", []),
        ("MATCH (p) WHERE EXISTS { (p)-[:knows]->({title: 'Sid'}) } RETURN p.title", [("Ada",), ("Ben",)]),
        ("MATCH (p) WHERE COUNT { (p)-[:knows]->() } >= 2 RETURN p.title", [("Ada",), ("Ben",)]),
    ],
)
async def test_a_plan_without_a_known_node_begins_with_its_edges_and_not_with_all_nodes(
    cypher: str, rows: list[tuple[object, ...]]
):
    async with opened_over(InProcess(PEOPLE), HERE) as graph:
        with patch.object(type(graph), "node_ids", autospec=True, side_effect=type(graph).node_ids) as listed:
            page = await answer(graph, cypher)
    assert sorted(row.cells for row in page.items) == rows
    assert not [call for call in listed.call_args_list if call.args[1:] == (None, None, None)]


async def test_an_answer_without_rows_names_the_condition_that_leaves_none():
    async with opened_over(InProcess(PEOPLE), HERE) as graph:
        page = await answer(graph, "MATCH ()-[:knows]->(q) WHERE q.title CONTAINS 'Q' RETURN q")
    assert "Nothing matches the condition q.title CONTAINS 'Q'." in page.note


async def test_whether_a_plan_is_too_large_is_asked_before_its_nodes_are_looked_for():
    async with opened_over(InProcess(PEOPLE), HERE) as graph:
        kind = type(graph)
        with (
            patch.object(kind, "has_more_matches", autospec=True, return_value=True),
            patch.object(kind, "match_pattern", autospec=True, side_effect=kind.match_pattern) as matched,
            pytest.raises(PlanTooLarge),
        ):
            await answer(graph, "MATCH (a)-[r:knows]->()-[s:knows]->(b) RETURN a, b, r.season, s.season")
    assert not matched.call_args_list
