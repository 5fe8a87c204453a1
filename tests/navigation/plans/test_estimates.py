"""How much work plans are, and what becomes of one that is too much."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from kgnav_mcp.errors import PlanOverBudget, StepLimitReached, Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import AnchoredPage, Count, Link, PlanPage, Schema
from kgnav_mcp.navigation.plans import runner as plan_runner
from kgnav_mcp.navigation.plans.check.estimates import estimated_steps, max_joined_values
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import AdapterOptions, Capability
from kgnav_mcp.store_limits import store_limits
from tests.contract.example import DictAdapter

GRAPH: dict[str, Any] = {
    "nodes": {f"{label}{number}": [label] for label in "abc" for number in range(20)},
    "rows": [
        (f"{head}{number}", f"{head}{tail}", f"{tail}{(number * 5 + step) % 20}", ())
        for head, tail in ("ab", "bc")
        for number in range(20)
        for step in range(5)
    ],
}
"""Three labels of 20 nodes, and two relations by which each of the nodes leads to 5 of the next label."""


def opened() -> DictAdapter:
    return DictAdapter("tests.navigation.plans.test_estimates", AdapterOptions())


@pytest.mark.parametrize(
    ("cypher", "number"),
    [
        ("MATCH (n) RETURN n.name", 1),
        ("MATCH (n) RETURN n.name + ' ' + n.age AS t", 3),
        ("MATCH (n) RETURN toLower([n.name, 'x', n.age] + 'y') AS t", 4),
        ("MATCH (n) WITH n.name AS a WITH a + a AS a, 1 AS b WITH a + a AS a RETURN a", 4),
        ("WITH [1, 2, 3] AS l UNWIND l AS x WITH l + x AS l RETURN collect(l) AS all", 6),
        ("MATCH (n) WITH count(n) AS c RETURN c + c AS c UNION MATCH (n) RETURN count(n) AS c", 2),
        (f"WITH 'a' AS a {'WITH a + a AS a ' * 60} RETURN size(a) AS n", 2**60),
    ],
)
def test_the_values_that_are_joined_to_one_are_counted_from_clause_to_clause(cypher: str, number: int):
    assert max_joined_values(parse_plan(cypher).plan) == number


@pytest.mark.parametrize(("doublings", "in_store"), [(3, True), (60, False)])
async def test_a_plan_that_joins_very_many_values_is_no_query_of_the_store(
    doublings: int, *, in_store: bool, monkeypatch: pytest.MonkeyPatch
):
    ran: list[Plan] = []

    async def run(_self: DictAdapter, plan: Plan, **_: object) -> PlanPage:
        ran.append(plan)
        raise Unsupported("a plan")

    monkeypatch.setattr(DictAdapter, "capabilities", DictAdapter.capabilities | {Capability.PLANS})
    monkeypatch.setattr(DictAdapter, "run", run)
    plan = parse_plan(f"WITH 'a' AS a {'WITH a + a AS a ' * doublings} RETURN size(a) AS n").plan
    async with opened() as graph:
        with nullcontext() if in_store else pytest.raises(PlanOverBudget):
            await PlanRunner(graph).run(plan, limit=1)
    assert bool(ran) is in_store


async def estimated(text: str) -> float:
    async with opened() as graph:
        found = await PlanRunner(graph).check(parse_plan(text).plan)
        return estimated_steps(await SchemaNames.of(graph), found.plan)


SORTED, SCAN = 4, 0.1


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("MATCH (x:a) RETURN x", 20 + SORTED * 20),
        ("MATCH (x:a)-[:ab]->(y) RETURN x", 100 + SORTED * 100),
        ("MATCH (x)-[:ab]->(y)-[:bc]->(z) RETURN x, z", 500 * 2 + SORTED * 500 * 2),
        ("MATCH (x:a)-[:ab]->(y:b)<-[:ab]-(z) RETURN x, y, z", 500 * 2 + SORTED * 500 * 3),
        ("MATCH (x:a)-[:ab]->(y) RETURN count(y) AS n", SCAN * (100 + 100) + SORTED),
        ("MATCH (x:a)-[r:ab]->(y) RETURN y, count(r) AS n", SCAN * (100 + 100 * 2) + SORTED * 20 * 2),
        ("MATCH (x:a)-[r:ab]->(y) RETURN labels(y), count(r) AS n", SCAN * (100 + 100 * 2) + SORTED * 3 * 2),
        ("MATCH (x)-[r]->(y) RETURN type(r), count(*) AS n", SCAN * (200 + 200 * 2) + SORTED * 2 * 2),
        ("MATCH (x:a)-[:ab]->(y)-[:bc]->(z) RETURN labels(z), count(*) AS n", 500 * 2 + 500 * 2 + SORTED * 3 * 2),
        ("MATCH (x:a)-[r:ab]->(y) RETURN y LIMIT 3", 100 + SORTED * 3),
        ("MATCH (x:a), (y:b) RETURN x", 400 + SORTED * 400),
        ("MATCH (x:a {id: 'a1'})-[:ab]->(y) RETURN y", 5 + SORTED * 5),
        ("MATCH (x:a) OPTIONAL MATCH (x)-[:bc]->(y) RETURN x", 20 + 100 + SORTED * 100),
        ("MATCH (x:b)-[:ab]-(y) RETURN y", 200 + SORTED * 200),
    ],
)
async def test_the_work_of_a_plan_is_known_from_what_the_schema_counts(text: str, steps: float):
    assert await estimated(text) == pytest.approx(steps)


async def test_a_longer_path_is_more_work():
    works = [await estimated(f"MATCH (x:a)-[*1..{longest}]->(y) RETURN y") for longest in (1, 2, 3)]

    assert works == sorted(works)
    assert works[2] > 3 * works[0]


async def test_shortest_paths_are_searched_between_each_two_of_their_ends():
    named, one = [
        await estimated(f"MATCH (x:a {condition}), (y:c), p = shortestPath((x)-[*1..2]->(y)) RETURN p")
        for condition in ("", "{id: 'a1'}")
    ]

    assert named > 20 * 20 * 2 * 10 > 10 * one


async def test_nothing_is_too_much_where_the_number_of_nodes_is_not_known(monkeypatch: pytest.MonkeyPatch):
    schema = DictAdapter.schema

    async def uncounted(self: DictAdapter, name: str | None = None, *, limit: int) -> Schema:
        return replace(await schema(self, name, limit=limit), entities=Count.unknown())

    monkeypatch.setattr(DictAdapter, "schema", uncounted)
    assert await estimated("MATCH (x:a)-[*1..3]->(y) RETURN y") == 0


async def test_a_plan_that_is_too_much_is_answered_or_refused_by_the_steps_of_its_questions(
    monkeypatch: pytest.MonkeyPatch,
):
    neighbours, needed = DictAdapter.neighbours, 5

    async def counting(self: DictAdapter, *given: Any, **more: Any) -> AnchoredPage[Link]:
        if (allowed := store_limits().steps) is not None and allowed < needed:
            raise StepLimitReached(allowed)
        return await neighbours(self, *given, **more)

    monkeypatch.setattr(DictAdapter, "neighbours", counting)
    monkeypatch.setattr(plan_runner, "_MAX_STEPS", 200)
    async with opened() as graph:
        runner = PlanRunner(graph)
        small, large = [
            (await runner.check(parse_plan(text).plan)).plan
            for text in ("MATCH (x:a {id: 'a1'})-[:ab]->(y) RETURN y", "MATCH (x:a)-[:ab]->(y)-[:bc]->(z) RETURN x, z")
        ]
        monkeypatch.setattr(plan_runner, "_STORE_STEPS", needed)
        answered = await runner.run(large, limit=10)
        monkeypatch.setattr(plan_runner, "_STORE_STEPS", needed - 1)
        allowed = await runner.run(small, limit=10)
        with pytest.raises(PlanOverBudget, match=r"takes more than 4 steps of the store, at \[:ab\] 100") as refused:
            await runner.run(large, limit=10)

    assert answered.total.value == 500
    assert allowed.total.value == 5
    assert "Make it smaller" in refused.value.next_step
