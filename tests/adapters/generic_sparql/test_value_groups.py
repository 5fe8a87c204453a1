"""Groups by the values of properties: an endpoint computes them, with the answers that the evaluator has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgnav_mcp.adapters.sparql_base.plans import groups
from kgnav_mcp.errors import PlanTooLarge, Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Cell, PlanPage
from kgnav_mcp.navigation.plans.pushdown import grouping
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Column,
    Match,
    NodePattern,
    Pipeline,
    Plan,
    Project,
    Property,
)
from kgnav_mcp.port import GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over

EX = "http://ex.example/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
GENRES = ("crime", "drama", "war")
"""Films have these in turn, except each seventh, which has none."""
AGES = ('"01"^^xsd:integer', "1", "1.0", '"2"', "2e0", "2", '"true"^^xsd:boolean', '"7 years"')
MARKS = ('"b | c", 1', '"b | c", true', '"é % "@fr, "b | c", 2.5', '"b | c"@en, "b | c", "01"^^xsd:integer, 1', "7")
"""Values of each fifth film."""
ACTORS, FILMS, ROLES = 40, 21, 4
BOUND = 30
"""Rows that may be held: fewer than actors, but more than genres or ages."""


def turtle() -> str:
    lines = [f"@prefix ex: <{EX}> .", "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."]
    for film in range(FILMS):
        genre = f' ; ex:genre "{GENRES[film % 3]}"' if film % 7 else ""
        if film % 5 == 0:
            lines.append(f"ex:f{film} a ex:Short ; ex:mark {MARKS[film // 5]} .")
        if film % 4 == 0:
            lines.append(f'ex:f{film} a ex:Brief . ex:Brief <{LABEL}> "Short" .')
        lines.append(f"ex:f{film} a ex:Film ; ex:year {1990 + film % 4}{genre} .")
    for actor in range(ACTORS):
        age = f" ; ex:age {AGES[actor % 9]}" if actor % 9 < len(AGES) else ""
        pets = ' ; ex:pet "cat"' + (', "dog"' if actor == 3 else "")
        films = ", ".join(f"ex:f{(actor * 5 + role * role) % FILMS}" for role in range(ROLES))
        born_in = f"ex:c{actor % 3}"
        lines.append(f"ex:a{actor} a ex:Actor ; ex:wage {actor}.{actor % 10}5 ; ex:born_in {born_in}{age}{pets} ;")
        lines.append(f"  ex:acts_in {films} ; ex:{'directs' if actor % 2 else 'writes'} ex:f{actor % FILMS} .")
    return "\n".join(lines)


ACTS = "MATCH (a)-[:acts_in]->(f)"
PUSHED = [
    f"{ACTS} RETURN f.genre AS g, count(*) AS n ORDER BY n DESC LIMIT 2",
    f"{ACTS} RETURN a.age AS k, count(*) AS n",
    f"{ACTS} RETURN f.genre AS g, f.year AS y, count(f) AS n ORDER BY n DESC LIMIT 10",
    f"{ACTS} RETURN f.genre AS g, sum(f.year) AS s, avg(f.year) AS m, min(f.year) AS lo, max(f.year) AS hi",
    f"{ACTS} RETURN f.genre AS g, count(a.age) AS n, sum(a.age) AS s, avg(a.age) AS m",
    f"{ACTS} RETURN f.genre AS g, collect(DISTINCT f.year) AS years, count(DISTINCT a.age) AS ages",
    f"{ACTS} RETURN f.genre AS g, count(DISTINCT a) AS n, count(*) AS m ORDER BY n DESC, g",
    f"{ACTS} RETURN f.genre AS g, min(a.wage) AS lo, max(a.wage) AS hi, count(DISTINCT f) AS n",
    f"{ACTS} WITH f.genre AS g, count(*) AS n WHERE n > 40 RETURN g, n",
    f"{ACTS} WHERE f.genre IN ['crime', 'war'] OR f.year = 1990 RETURN f.year AS y, count(*) AS n",
    f"{ACTS} WHERE f.year > 1991 RETURN f.genre AS g, count(*) AS n",
    f"{ACTS} RETURN toUpper(f.genre) AS g, f.year % 2 AS odd, count(*) AS n",
    f"{ACTS} RETURN DISTINCT f.genre AS g, f.year AS y",
    "MATCH (a:Actor)-[r:acts_in|directs|writes]->(f) RETURN type(r) AS t, f.genre AS g, count(*) AS n",
    "MATCH (a)-[r:directs]->(f) RETURN type(r) AS t, f.genre AS g, count(*) AS n",
    "MATCH (a)-[:acts_in]->(f)<-[:acts_in]-(b) RETURN f.genre AS g, count(*) AS n",
    "MATCH (a:Actor) RETURN a.age AS k, count(*) AS n",
    f"{ACTS} RETURN a.age AS k, count(DISTINCT f) AS n",
    "MATCH (a:Actor) RETURN sum(a.wage) > 800 AS rich",
    f"{ACTS} RETURN count(DISTINCT a) AS n, count(*) / count(DISTINCT f) AS m, max(f.year) AS y",
    f"{ACTS} RETURN f.genre AS g, sum(f.year) / count(DISTINCT a) AS s ORDER BY count(DISTINCT f) DESC, g",
]
LISTS = [
    f"{ACTS} RETURN a.pet AS p, count(*) AS n",
    f"{ACTS} RETURN a.pet AS p, f.mark AS m, count(*) AS n ORDER BY n DESC LIMIT 5",
    f"{ACTS} RETURN f.genre AS g, f.mark AS m, count(f.year) AS n, sum(f.year) AS s",
    f"{ACTS} RETURN DISTINCT a.pet AS p, f.genre AS g",
    f"{ACTS} RETURN f.mark AS m, count(DISTINCT a) AS n",
    f"{ACTS} RETURN labels(a) AS k, labels(f) AS m, count(*) AS n",
    "MATCH (a)-[r:acts_in|directs]->(f) RETURN labels(f)[0] AS k, type(r) AS t, count(*) AS n",
    f"{ACTS} WHERE 'Short' IN labels(f) RETURN f.mark AS m, count(*) AS n",
    f"{ACTS} RETURN labels(f) AS k, max(f.year) AS y, count(DISTINCT f) AS n",
    f"{ACTS} UNWIND labels(f) AS k RETURN k, count(*) AS n ORDER BY n DESC, k",
    f"{ACTS} UNWIND labels(f) AS k RETURN f.year AS y, k, count(a) + count(k) AS n ORDER BY y + 1, n DESC LIMIT 5",
    f"{ACTS} UNWIND labels(f) AS k WITH k, count(f) AS n WHERE n > 30 RETURN k, n",
]
OTHERS = [
    f"{ACTS} RETURN f.genre AS g, count(f.mark) AS n, collect(DISTINCT f.mark) AS marks",
    f"{ACTS} WHERE a.pet = 'dog' RETURN a.pet AS p, count(*) AS n",
    f"{ACTS} RETURN a.pet AS p, count(a.pet) AS n",
    f"{ACTS} RETURN f.genre AS g, max(a.age) AS oldest",
    f"{ACTS} WHERE a.age = 99 RETURN f.genre AS g, count(*) AS n",
]
"""Not grouped by the endpoint: several values, an order of texts, no rows."""


async def answer(graph: GraphAdapter, cypher: str, bound: int, *, by_store: bool) -> PlanPage:
    runner = PlanRunner(graph, bound, by_store=by_store)
    checked = await runner.check(parse_plan(cypher).plan)
    assert not checked.problems
    return await runner.run(checked.plan, limit=100)


def plain(page: PlanPage) -> list[tuple[Cell, ...]]:
    """The cells, with sums of fractions as far as decimal and binary ones agree."""
    return [tuple(round(cell, 9) if isinstance(cell, float) else cell for cell in row.cells) for row in page.items]


@pytest.mark.parametrize("cypher", PUSHED + LISTS)
async def test_groups_by_values_need_no_more_rows_than_groups(cypher: str):
    async with opened_over(InProcess(turtle()), HERE) as graph:
        expected = await answer(graph, cypher, 10_000, by_store=False)
        found = await answer(graph, cypher, BOUND, by_store=True)
    assert plain(found) == plain(expected)
    assert found.stop is expected.stop


@pytest.mark.parametrize("cypher", OTHERS)
async def test_what_an_endpoint_groups_in_another_way_has_the_evaluators_answer(cypher: str):
    async with opened_over(InProcess(turtle()), HERE) as graph:
        expected = await answer(graph, cypher, 10_000, by_store=False)
        for _ in range(2):  # the second time it is known that a property has several values
            found = await answer(graph, cypher, 10_000, by_store=True)
            assert plain(found) == plain(expected)


NEAR = "MATCH (x {id: 'ex:a8'})-[:acts_in]->(f)<-[:acts_in]-(b)"
FROM_A_NODE = [
    f"{NEAR} RETURN DISTINCT f.genre AS g",
    f"{NEAR} RETURN DISTINCT b.age AS k, f.year AS y",
    f"{NEAR} RETURN f.genre AS g, count(*) AS n",
    f"{NEAR} RETURN f.genre AS g, count(DISTINCT b) AS n",
    "MATCH (x {id: 'ex:a8'})-[:acts_in]->(f)<-[r:directs|writes]-(b) RETURN type(r) AS t, b.age AS k, count(*) AS n",
    f"{NEAR} RETURN b.pet AS p, count(*) AS n",
]


@pytest.mark.parametrize("cypher", FROM_A_NODE)
@pytest.mark.parametrize("few", [3, groups.MAX_FEW])
async def test_few_matches_near_a_node_are_grouped_after_one_pass_over_them(
    monkeypatch: pytest.MonkeyPatch, cypher: str, few: int
):
    monkeypatch.setattr(groups, "MAX_FEW", few)
    client = InProcess(turtle())
    async with opened_over(client, HERE) as graph:
        expected = await answer(graph, cypher, 10_000, by_store=False)
        client.queries.clear()
        found = await answer(graph, cypher, 10_000, by_store=True)
    assert plain(found) == plain(expected)
    assert any("AS ?total" in query for query in client.queries) is (few == 3)


async def test_an_aggregate_of_many_values_is_computed_by_the_endpoint(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grouping, "_GROUPS", 5)
    cypher = f"{ACTS} RETURN f.genre AS g, sum(a.wage) AS s, count(DISTINCT a.wage) AS n, count(*) AS m"
    async with opened_over(InProcess(turtle()), HERE) as graph:
        expected = await answer(graph, cypher, 10_000, by_store=False)
        found = await answer(graph, cypher, 200, by_store=True)
        assert plain(found) == plain(expected)
        with pytest.raises(PlanTooLarge):
            await answer(graph, f"{ACTS} RETURN a, f, f.genre, count(*)", BOUND, by_store=True)


def sums_of(property_name: str, *keys: str) -> Plan:
    """The plan for the sum of a property of each person, by other properties."""
    one, *others = (Property("n", name, (f"{EX}{name}",)) for name in (property_name, *keys))
    columns = (*(Column(key.name, key) for key in others), Column("sum", Aggregate(AggregateFunction.SUM, one)))
    match = Match((NodePattern("n", ((f"{EX}Person",),)),))
    return Plan((Pipeline((match, Project(columns))),), in_any_order=True)


async def test_a_sum_of_integers_stays_exact_and_one_that_a_store_cannot_add_is_refused_by_it():
    plan = sums_of("age")
    people = "@prefix ex: <http://ex.example/> . ex:a a ex:Person ; ex:age {} . ex:b a ex:Person ; ex:age {} ."
    async with opened_over(InProcess(people.format(2**62, 2**61)), HERE) as graph:
        assert [row.cells for row in (await graph.run(plan, limit=9)).items] == [(2**62 + 2**61,)]
        with pytest.raises(Unsupported):
            await graph.run(replace(plan, in_any_order=False), limit=9)
    for other in ("'NaN'^^<http://www.w3.org/2001/XMLSchema#double>", "'1 1'^^<http://www.w3.org/2001/XMLSchema#int>"):
        async with opened_over(InProcess(people.format("3", other)), HERE) as graph:
            with pytest.raises(Unsupported):
                await graph.run(plan, limit=9)


@pytest.mark.parametrize("facts", ["ex:town ex:york", "ex:town 'York', 'Eboracum'"])
async def test_a_key_that_is_a_node_or_has_several_values_is_refused(facts: str):
    people = f"@prefix ex: <{EX}> . ex:a a ex:Person ; ex:age 3 ; {facts} . ex:b a ex:Person ; ex:town 'Rome' ."
    async with opened_over(InProcess(people), HERE) as graph:
        for _ in range(2):
            with pytest.raises(Unsupported):
                await graph.run(sums_of("age", "town"), limit=9)
