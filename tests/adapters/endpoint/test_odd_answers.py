"""Answers that some endpoints give, and that the engines of these tests do not: they change no answer of a tool."""

from __future__ import annotations

from kgnav_mcp.model import Count, Direction
from kgnav_mcp.port import GraphAdapter, ValueOwner
from tests.adapters.endpoint.inprocess import HERE
from tests.adapters.sparql.inprocess import InProcess, opened_over

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
        *[await graph.neighbours([ids[1]], side, paths=[("ex:director",)], limit=50) for side in Direction],
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
