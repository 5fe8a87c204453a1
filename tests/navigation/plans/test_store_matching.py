"""What is done if a store that runs plans has too little time for a part of one."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest

from kgnav_mcp.errors import InvalidStore, StepLimitReached, StoreTimeout, Unsupported
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.budget import Deadline
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import AdapterOptions, Capability
from tests.contract.example import DictAdapter
from tests.navigation.plans.test_independent_patterns import TOY

HUNTS = parse_cypher("MATCH (a)-[:hunts]->(b) RETURN DISTINCT b")


class Failing(DictAdapter):
    """A store that fails at each part of a plan."""

    capabilities = DictAdapter.capabilities | {Capability.PLANS}

    def __init__(self, error: Exception) -> None:
        super().__init__(TOY, AdapterOptions())
        self.error = error

    async def run(self, plan: Plan, **_: Any) -> Any:
        raise self.error if plan.in_any_order else Unsupported("no whole plans")


@pytest.mark.parametrize("error", [StoreTimeout(30), InvalidStore("half an answer"), Unsupported("no patterns")])
async def test_what_the_store_fails_at_is_matched_edge_by_edge_while_there_is_time(error: Exception):
    async with DictAdapter(TOY, AdapterOptions()) as alone, Failing(error) as graph:
        expected = await evaluate(alone, HUNTS, limit=9)
        found = await evaluate(graph, HUNTS, limit=9, deadline=Deadline.after(30))
    assert found.items == expected.items
    assert found.items


async def test_the_time_out_of_a_store_is_raised_if_little_time_is_left():
    async with Failing(StoreTimeout(30)) as graph:
        with pytest.raises(StoreTimeout):
            await evaluate(graph, HUNTS, limit=9, deadline=Deadline(30, monotonic() + 2))


async def test_the_limit_of_steps_is_raised_however_much_time_is_left():
    async with Failing(StepLimitReached(30)) as graph:
        with pytest.raises(StepLimitReached):
            await evaluate(graph, HUNTS, limit=9, deadline=Deadline.after(30))
