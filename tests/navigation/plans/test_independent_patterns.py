"""Patterns that have nothing to do with each other are counted apart, and refused before one of them is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Count, Entity, Page
from kgnav_mcp.navigation.plans import evaluate, runner
from kgnav_mcp.navigation.plans.evaluate.independent_patterns import independent_counts
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, Capability
from tests.contract.example import DictAdapter
from tests.contract.toy import BOATS, VISITORS
from tests.navigation.plans.writing import rows

TOY = "tests.contract.example_graph"


class Compiling(DictAdapter):
    """Would run any plan."""

    capabilities = DictAdapter.capabilities | {Capability.PLANS}

    async def run(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the store was asked for a product")


class Recorded(DictAdapter):
    """Notes what is read of it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.read: list[int] = []

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        self.read.append(limit)
        return await super().nodes(label, property_name, value, limit=limit, after=after)

    async def neighbours(self, ids: Sequence[str], *arguments: Any, **options: Any) -> Any:
        self.read.append(len(ids))
        return await super().neighbours(ids, *arguments, **options)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("MATCH (a:Visitor), (b:Boat), (c:Visitor) RETURN count(*)", VISITORS * BOATS * VISITORS),
        ("MATCH (a:Visitor) MATCH (b:Boat)-[:moored_at]->(h) RETURN count(b)", VISITORS * BOATS),
        ("MATCH (a:Visitor), (b:Boat) WHERE b.length > 900 RETURN count(*)", 0),
        ("MATCH (p)-[:knows]->(q), (b:Boat)-[:moored_at]->(h) RETURN count(*)", 5 * BOATS),
    ],
)
async def test_a_count_of_a_product_is_the_product_of_counts(text: str, count: int):
    async with DictAdapter(TOY, AdapterOptions()) as graph:
        plan = (await PlanRunner(graph).check(parse_cypher(text))).plan
        page = await PlanRunner(graph, bound=1_000).run(plan, limit=9)
        assert rows(page) == [(count,)]
        assert page.columns == plan.columns


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:A), (b:B) RETURN a, count(*)",
        "MATCH (a:A), (b:B) RETURN count(DISTINCT a)",
        "MATCH (a:A), (b:B) WHERE a.x = b.x RETURN count(*)",
        "MATCH (a)-[:R]->(b), (c)-[:R|S]->(d) RETURN count(*)",
        "MATCH (a:A) OPTIONAL MATCH (b:B) RETURN count(*)",
        "MATCH (a:A) MATCH (a)-->(b) RETURN count(*)",
        "MATCH (a:A), (b:B) RETURN count(*) SKIP 1",
        "MATCH (a:A), (b:B) RETURN count(*) UNION MATCH (a) RETURN count(*)",
    ],
)
def test_what_is_more_than_a_product_is_not_taken_apart(text: str):
    assert independent_counts(parse_cypher(text)) == []


def test_edges_of_other_relations_or_of_another_clause_may_be_counted_apart():
    assert len(independent_counts(parse_cypher("MATCH (a)-[:R]->(b), (c)-[:S]->(d) RETURN count(*)"))) == 2
    assert len(independent_counts(parse_cypher("MATCH (a)-[:R]->(b) MATCH (c)-[:R]->(d) RETURN count(*)"))) == 2


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:Visitor) MATCH (b:Boat) RETURN a, b",
        "MATCH (a:Visitor), (b:Boat) RETURN a, b",
        "MATCH (a:Visitor) WITH a MATCH (b:Boat) RETURN a, b",
        "MATCH (a:Visitor) MATCH (b:Boat) MATCH (b)-[:moored_at]->(h) RETURN a, h",
    ],
)
async def test_a_product_over_the_bound_is_refused_before_anything_is_read(text: str):
    async with Recorded(TOY, AdapterOptions()) as graph:
        plan = parse_cypher(text)
        with pytest.raises(PlanTooLarge) as caught:
            await evaluate(graph, plan, limit=9, bound=1_000)
        assert [size.count.value for size in caught.value.sizes[:2]] == [VISITORS, BOATS]
        assert set(graph.read) == {0}, "they are only counted"


@pytest.mark.parametrize("second", ["(c)-->(d)", "(c)--(d)"])
async def test_edges_of_any_relation_are_at_least_those_of_the_largest_relation(second: str):
    async with Recorded(TOY, AdapterOptions()) as graph:
        plan = parse_cypher(f"MATCH (a)-->(b), {second} RETURN a, d")
        with pytest.raises(PlanTooLarge) as caught:
            await evaluate(graph, plan, limit=9, bound=VISITORS**2)
        assert [size.count for size in caught.value.sizes] == [Count.at_least(VISITORS + BOATS)] * 2


async def test_a_product_that_a_store_cannot_sort_is_refused_without_a_query(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runner, "_PRODUCT", VISITORS * BOATS - 1)
    async with Compiling(TOY, AdapterOptions()) as graph:
        with pytest.raises(PlanTooLarge):
            await PlanRunner(graph).run(parse_cypher("MATCH (a:Visitor) MATCH (b:Boat) RETURN a, b LIMIT 3"), limit=9)
        edges = parse_cypher("MATCH (a)-[:visited]->(b) MATCH (c)-[:moored_at]->(d) RETURN a, c LIMIT 3")
        with pytest.raises(PlanTooLarge) as caught:
            await PlanRunner(graph).run(edges, limit=9)
        assert [size.count.value for size in caught.value.sizes] == [VISITORS, BOATS]
        twice = parse_cypher("MATCH (a)-[:visited]->(b), (c)-[:visited]->(d) RETURN a, c")
        with pytest.raises(PlanTooLarge) as caught:
            await PlanRunner(graph).run(twice, limit=9)
        assert [size.count.value for size in caught.value.sizes] == [VISITORS, VISITORS]
