"""What GraphRunner's steps answer on the toy graph."""

from __future__ import annotations

from typing import Any

import pytest

from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import GraphAdapter
from tests.navigation.plans.writing import rows

ADA = {"as": "ada", "find_node": {"id": "ada"}}
SNAKE = {"as": "snake", "find_node": {"id": "ouroboros"}}


def known(of: str, edge_type: str = "knows", **more: Any) -> dict[str, Any]:
    """A step to those whom somebody knows."""
    return {"from": of, "edge_type": edge_type, "direction": "outgoing", **more}


async def answer(graph: GraphAdapter, *steps: dict[str, Any]) -> list[object]:
    runner, written = PlanRunner(graph), parse_plan(list(steps))
    found = await runner.check(written.plan, written.single_node_variables)
    assert not found.problems
    return [row[0] for row in rows(await runner.run(found.plan, limit=9))]


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ([SNAKE, {"as": "nobody", "fetch_neighbors": known("snake")}], ["ben", "cyd"]),
        ([{"as": "nobody", "find_node": {"id": "ben"}}], ["cyd"]),
        ([SNAKE, {"as": "nobody", "fetch_neighbors": known("snake", "eats")}], ["ben", "cyd"]),
    ],
)
async def test_what_an_empty_set_leaves_out_is_nothing(
    toy: GraphAdapter, left_out: list[dict[str, Any]], expected: list[object]
):
    others = {"as": "others", "fetch_neighbors": known("ada", **{"except": "nobody"})}
    assert await answer(toy, ADA, *left_out, others) == expected


async def test_a_set_that_is_left_out_may_leave_out_an_empty_one_itself(toy: GraphAdapter):
    nobody = {"as": "nobody", "fetch_neighbors": known("snake")}
    but_nobody = {"as": "but_nobody", "fetch_neighbors": known("ada", **{"except": "nobody"})}
    others = {"as": "others", "fetch_neighbors": known("ada", **{"except": "but_nobody"})}
    assert await answer(toy, ADA, SNAKE, nobody, but_nobody, others) == []
