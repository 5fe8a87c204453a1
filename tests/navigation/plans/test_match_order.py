"""Plans that begin with a pattern of a condition."""

from __future__ import annotations

import pytest

from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.contract.example import DictAdapter
from tests.navigation.plans.writing import rows

NODES = [f"n{number}" for number in range(30)]
GRAPH = {
    "nodes": {node: ["Thing"] for node in (*NODES, "lone")},
    "rows": [(head, "knows", tail, ()) for head in NODES for tail in NODES],
}
"""Few nodes with many edges."""


@pytest.mark.parametrize("condition", ["EXISTS { (p)-[:knows]->() }", "COUNT { (p)-[:knows]->() } >= 2"])
async def test_a_plan_with_more_edges_than_the_bound_runs_if_its_nodes_are_fewer(condition: str):
    async with DictAdapter("tests.navigation.plans.test_match_order", AdapterOptions()) as graph:
        checked = await PlanRunner(graph).check(parse_cypher(f"MATCH (p) WHERE {condition} RETURN count(p)"))
        assert rows(await evaluate(graph, checked.plan, limit=9, bound=500)) == [(30,)]
