"""What an answer says of rows that come first because they have nothing to be sorted by."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.contract.example import DictAdapter

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
    return (await people.run(checked.plan, limit=9)).note


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
    assert note == f"{told}DESC begins with rows without it. WHERE p.age IS NOT NULL leaves them out."
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
