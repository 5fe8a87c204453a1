"""Answers that some endpoints give, and that the engines of these tests do not: they change no answer of a tool."""

from __future__ import annotations

import pytest

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Count, Direction, Entity
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import GraphAdapter, ValueOwner
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over

FILMS = """\
PREFIX ex: <http://ex.example/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
ex:film a ex:Film ; rdfs:label "Solaris"@en ; ex:director ex:man ; ex:year 1972 .
ex:man rdfs:label "Andrei"@en .
"""


async def _answers(graph: GraphAdapter) -> list[object]:
    """What each verb answers, on entities with edges in one direction only."""
    ids = ["ex:film", "ex:man", "ex:nobody"]
    return [
        await graph.find("Solaris", limit=5),
        await graph.find("Nothing of this name", limit=5),
        *[await graph.relations(ids, side, hops=2, limit=50) for side in Direction],
        *[await graph.neighbours(ids, side, limit=50) for side in Direction],
        *[await graph.neighbours([ids[1]], side, relation_paths=[("ex:director",)], limit=50) for side in Direction],
        await graph.nodes("Film", "year", "1972", limit=5),
        await graph.nodes("Film", "year", "1973", limit=5),
        await graph.values("year", "Film", ValueOwner.NODE, limit=5),
        await graph.schema(limit=50),
        await graph.schema("director", limit=50),
        await graph.schema("year", limit=50),
    ]


async def test_a_row_for_no_group_changes_no_answer():
    async with opened_over(InProcess(FILMS), HERE) as graph:
        expected = await _answers(graph)
    async with opened_over(InProcess(FILMS, empty_groups=True), HERE) as graph:
        assert await _answers(graph) == expected


async def test_a_degree_that_no_row_states_is_counted_in_another_way_or_not_known():
    without_rows = [(r"VALUES \?s { [^}]+ } \?[so] \?p \?[so] } GROUP BY", ())]
    async with opened_over(InProcess(FILMS, answers=without_rows), HERE) as graph:
        (found,) = (await graph.find("Solaris", limit=5)).items
        assert found.degree == Count(4)
    async with opened_over(InProcess(FILMS, answers=[*without_rows, (r"UNION { \?o \?p <", ())]), HERE) as graph:
        (found,) = (await graph.find("Solaris", limit=5)).items
        assert found.degree == Count.unknown()


FIRMS = """\
PREFIX ex: <http://ex.example/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
ex:acme rdfs:label "Acme" ; ex:address [ a ex:Address ; ex:street "Main Street" ; ex:geo [ a ex:Geo ; ex:zone 3 ] ] .
ex:beta rdfs:label "Beta" ; ex:address [ a ex:Address ; ex:street "Main Street" ] .
"""


async def test_blank_nodes_are_found_where_an_expression_loses_them():
    # Comunica finds no triples of a blank node that `(?s AS ?b)` has bound.
    client = InProcess(FIRMS, answers=[(r"\(\?\w+ AS \?\w+\) WHERE", ())])
    async with opened_over(client, HERE) as graph:
        found = await graph.nodes("Address", "street", "Main Street", limit=5)
        assert [node.id.partition(">")[0] for node in found.items] == ["_:ex:acme", "_:ex:beta"]
        outgoing = await graph.neighbours(["ex:acme"], Direction.OUTGOING, relation_paths=[("ex:address",)], limit=5)
        tails = [item.triple.tail for item in outgoing.items]
        assert [tail.id for tail in tails if isinstance(tail, Entity)] == [found.items[0].id]
        runner = PlanRunner(graph)
        plan = parse_plan("MATCH (d)-[:address]->(a:Address)-[:geo]->(g) RETURN d.label, a.street, g.zone").plan
        rows = (await runner.run((await runner.check(plan)).plan, limit=9)).items
        assert [row.cells for row in rows] == [("Acme", "Main Street", 3)]


async def test_listed_blank_nodes_whose_triples_are_lost_are_refused():
    client = InProcess(FIRMS, answers=[(r"AS \?out\)", ())])
    async with opened_over(client, HERE) as graph:
        with pytest.raises(Unsupported, match="returns 2 blank nodes here, but no triples of them"):
            await graph.nodes("Address", "street", "Main Street", limit=5)


@pytest.mark.parametrize("turtle", ["", "PREFIX ex: <http://ex.example/> ex:film ex:year 1972 ."])
async def test_a_graph_without_edges_has_no_edge_of_any_relation(turtle: str):
    async with opened_over(InProcess(turtle), HERE) as graph:
        runner = PlanRunner(graph)
        for pattern in ("(a)-[r]->(b)", "(a)--(b)", "(a)-[*]->(b)", "(a) WHERE (a)-->()"):
            checked = await runner.check(parse_plan(f"MATCH {pattern} RETURN count(a) AS n").plan)
            page = await runner.run(checked.plan, limit=1)
            assert [row.cells for row in page.items] == [(0,)], pattern
