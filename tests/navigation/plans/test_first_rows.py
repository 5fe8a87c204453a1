"""What an answer says of its first rows: they have nothing to be sorted by, or LIMIT cut others."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans import runner
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.contract.example import DictAdapter
from tests.server.processes import PATIENCE_S

AGES = {"ada": "36", "bob": None, "cy": "40", "dan": None}
GRAPH = {
    "nodes": {name: ["Person"] for name in AGES},
    "rows": [
        *((name, "name", (name, None, None), ()) for name in AGES),
        *((name, "age", (age, "integer", None), ()) for name, age in AGES.items() if age),
    ],
}


@pytest.fixture
async def people() -> AsyncGenerator[PlanRunner]:
    async with DictAdapter("tests.navigation.plans.test_first_rows", AdapterOptions()) as graph:
        yield PlanRunner(graph)


async def _note(people: PlanRunner, cypher: str) -> str:
    checked = await people.check(parse_cypher(cypher))
    assert checked.problems == ()
    return (await people.run(checked.plan, limit=99)).note


@pytest.mark.parametrize(
    ("cypher", "told"),
    [
        ("RETURN p ORDER BY p.age DESC", "The first row has no p.age: "),
        ("RETURN p, p.age AS years ORDER BY years DESC", "The first 2 rows have no p.age: "),
        ("RETURN p, p.age ORDER BY p.age DESC LIMIT 1", "The first row has no p.age: "),
    ],
)
async def test_first_rows_without_the_value_are_told_with_the_condition_that_leaves_them_out(
    people: PlanRunner, cypher: str, told: str
):
    note = await _note(people, f"MATCH (p:Person) {cypher}")
    assert note == f"{told}DESC puts rows without it first. WHERE p.age IS NOT NULL excludes them."
    assert await _note(people, f"MATCH (p:Person) WHERE p.age IS NOT NULL {cypher}") == ""


@pytest.mark.parametrize(
    "cypher",
    [
        "RETURN p ORDER BY p.age",
        "RETURN p, p.age AS years ORDER BY years",
        "RETURN p ORDER BY p.name DESC",
        "RETURN count(p) AS n ORDER BY n DESC",
    ],
)
async def test_other_orders_have_no_such_note(people: PlanRunner, cypher: str):
    assert await _note(people, f"MATCH (p:Person) {cypher}") == ""


@pytest.mark.parametrize(
    ("cypher", "told"),
    [
        ("MATCH (p:Person) RETURN p.age IS NULL AS none, p ORDER BY none LIMIT 1", "1 more row has none = false."),
        ("MATCH (p:Person) WITH p.age IS NULL AS none, 7 AS n RETURN n ORDER BY n LIMIT 1", "3 more rows have n = 7."),
        ("MATCH (p:Person) WITH 7 AS n RETURN n, count(*) ORDER BY n LIMIT 1", ""),
        ("MATCH (p:Person) RETURN p, p.name AS n ORDER BY n LIMIT 2", ""),
        ("MATCH (p:Person) WITH p, 7 AS n RETURN p ORDER BY n LIMIT 2", ""),
        ("MATCH (p:Person) WITH p, 7 AS n RETURN p, n ORDER BY n", ""),
    ],
)
async def test_a_tie_that_the_limit_cuts_is_told_with_the_number_of_rows_left_out(
    people: PlanRunner, cypher: str, told: str
):
    assert await _note(people, cypher) == (f"LIMIT cut a tie: {told}" if told else "")


PAINTERS, CITIES = 81, 39
"""Painters of the demo graph, and places where they were born."""


@pytest.mark.parametrize(
    ("returned", "without"),
    [
        ("p LIMIT 2", PAINTERS),
        ("p ORDER BY p.name LIMIT 2", PAINTERS),
        ("p ORDER BY p.name SKIP 1 LIMIT 2", PAINTERS - 1),
        ("p.name AS name ORDER BY name LIMIT 2", PAINTERS),
        ("p LIMIT 81", None),
        ("p SKIP 79 LIMIT 2", None),
        ("count(*) LIMIT 1", None),
        ("p", None),
    ],
)
async def test_the_number_of_rows_without_limit_is_told_if_it_cut_some(returned: str, without: int | None):
    note = await _note_of_demo(f"MATCH (p:Painter) RETURN {returned}")
    assert note == (f"Without LIMIT there are {without} rows." if without else "")


@pytest.mark.parametrize(
    "returned",
    [
        "RETURN DISTINCT c LIMIT 3",
        "RETURN c.name, count(p) LIMIT 3",
        "RETURN c ORDER BY count(p) DESC LIMIT 1",
        "WITH DISTINCT c ORDER BY c.name LIMIT 3 RETURN c.name AS city",
    ],
)
async def test_rows_without_limit_are_those_of_the_result(returned: str):
    note = await _note_of_demo(f"MATCH (p:Painter)-[:born_in]->(c) {returned}")
    assert note == f"Without LIMIT there are {CITIES} rows."


async def _note_of_demo(cypher: str) -> str:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runner, "TOTAL_SECONDS", PATIENCE_S)
        async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
            return await _note(PlanRunner(graph), cypher)
