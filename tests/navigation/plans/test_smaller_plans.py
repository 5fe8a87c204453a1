"""What is too large for a plan is refused with how large it is, and with a plan that is not, where there is one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kgnav_mcp.errors import PlanTooLarge, StoreTimeout, Unsupported
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Count, PartSize, PlanPage
from kgnav_mcp.navigation.plans.budget import ADVICE
from kgnav_mcp.navigation.plans.check.smaller_plans import refused, timed_out
from kgnav_mcp.navigation.plans.pushdown import store_matching
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Match, Plan
from kgnav_mcp.port import AdapterOptions, Capability
from kgnav_mcp.port.pattern_queries import PatternMatch, pattern_query
from kgnav_mcp.render.problems import error_text
from tests.contract.example import DictAdapter
from tests.navigation.plans.test_independent_patterns import TOY, Compiling


@pytest.mark.parametrize(
    ("text", "smaller"),
    [
        ("MATCH (a:A) MATCH (b:B) RETURN a, b", "MATCH (a:A) MATCH (b:B) RETURN count(*)"),
        ("MATCH (a {id: 'x'})-[*1..6]-(b) RETURN b", "MATCH distance((a {id: 'x'})-[*1..6]-(b)) RETURN b"),
        ("MATCH p = (a)-[*1..6]-(b) RETURN p", "MATCH p = (a)-[*1..2]-(b) RETURN p"),
    ],
)
def test_a_refusal_offers_a_smaller_plan(text: str, smaller: str):
    offered = refused(PlanTooLarge(10, (), next_step=ADVICE), parse_cypher(text)).next_step.partition(
        " For instance: "
    )[2]
    assert " ".join(offered.split()) == smaller
    assert parse_cypher(offered)


@pytest.mark.parametrize(
    ("text", "once", "shorter"),
    [
        (
            "MATCH (a)-[:R*]->(b) RETURN b",
            "MATCH (a)-[:R*]->(b) RETURN DISTINCT b",
            "MATCH (a)-[:R*1..2]->(b) RETURN b",
        ),
        (
            "MATCH (a)-[:R*]-(b) RETURN count(b)",
            "MATCH (a)-[:R*]-(b) RETURN count(DISTINCT b) AS `count(b)`",
            "MATCH (a)-[:R*1..2]-(b) RETURN count(b)",
        ),
        ("MATCH (a)-[r:R*]->(b) RETURN r, b", None, "MATCH (a)-[r:R*1..2]->(b) RETURN r, b"),
    ],
)
def test_too_many_paths_are_refused_with_distinct_ends_and_with_an_upper_bound(
    text: str, once: str | None, shorter: str
):
    advice = " ".join(refused(PlanTooLarge(10, (), next_step=ADVICE), parse_cypher(text)).next_step.split())
    ends, _, bounded = advice.partition(" Or shorter: " if once else " Shorter: ")
    assert bounded == shorter
    assert (ends.partition(" Each end once: ")[2] or None) == once


LONG = "|".join(f"a_relation_with_a_long_name_{number}" for number in range(9))


@pytest.mark.parametrize(
    ("text", "once", "shorter"),
    [
        (
            f"MATCH (a)-[:{LONG}*]->(b) RETURN a, b",
            "RETURN DISTINCT a, b",
            "*1..2 in place of *",
        ),
        (
            f"MATCH (a:`{'A' * 120}`)-[*]->(b) RETURN a, b",
            "RETURN DISTINCT a, b",
            f"MATCH (a:{'A' * 120})-[*1..2]->(b) RETURN a, b",
        ),
        (
            f"MATCH (a)-[:{LONG}*]->(b) RETURN a.`{LONG}`, b",
            "RETURN DISTINCT, count(DISTINCT x)",
            "*1..2 in place of *",
        ),
    ],
)
def test_of_long_plans_with_too_many_paths_both_alternatives_are_named_briefly(text: str, once: str, shorter: str):
    sizes = [PartSize(f"[:a_relation_with_a_long_name_{number}]", Count(1000 + number)) for number in range(9)]
    for known in (sizes[:1], sizes):
        error = refused(PlanTooLarge(100_000, known, next_step=ADVICE), parse_cypher(text))
        told = " ".join(error_text(error).split())
        assert len(told) <= 400
        if known is not sizes:
            assert told.endswith(f"Each end once: {once} Or shorter: {shorter}")
        assert "1,000 for [:a_relation_with_a_long_name_0]" in told
        assert ("and 7 more parts" in told) is (known is sizes)
        assert "Each end once: RETURN DISTINCT" in told
        assert " Or shorter: " in told


@pytest.mark.parametrize("text", ["MATCH (a)-[:R]->(b) RETURN a", "MATCH (a)-[*3..4]-(b) RETURN a, count(*)"])
def test_a_plan_without_a_smaller_one_is_refused_with_general_advice(text: str):
    error = refused(PlanTooLarge(10, (), next_step=ADVICE), parse_cypher(text))
    assert error.next_step == ADVICE


class Slow(Compiling):
    """A store whose time is over for every plan."""

    async def run(self, *_: Any, **__: Any) -> Any:
        raise StoreTimeout(30)


async def test_that_the_time_of_a_store_was_over_is_said_with_how_large_the_parts_of_the_plan_are():
    async with Slow(TOY, AdapterOptions()) as graph:
        with pytest.raises(StoreTimeout) as caught:
            await PlanRunner(graph).run(parse_cypher("MATCH (a:Visitor)-[:visited]->(b) RETURN a"), limit=9)
    said = "the store did not answer within 30 s (in the graph: (:Visitor) 150, [:visited] 150)"
    assert caught.value.message == said
    assert "Make it smaller" in caught.value.next_step


class Counted(DictAdapter):
    """A store that never ends matching a pattern, but knows how many matches there are of it."""

    capabilities = DictAdapter.capabilities | {Capability.PLANS}

    def __init__(self, matches: int) -> None:
        super().__init__(TOY, AdapterOptions())
        self.matches = matches
        self.asked: list[Match] = []

    async def run(self, plan: Plan, *, limit: int, **_: Any) -> PlanPage:
        asked = pattern_query(plan)
        if any(edge.path for edge in asked.match.edges):
            raise Unsupported("no paths here")
        await asyncio.sleep(0.1)
        return asked.page([PatternMatch(("x",) * len(asked.nodes), 1)] * min(limit, 1), limit)

    async def neighbours(self, *arguments: Any, **options: Any) -> Any:
        await asyncio.sleep(0.1)
        return await super().neighbours(*arguments, **options)

    async def has_more_rows(self, plan: Plan, than: int) -> bool:
        self.asked += plan.pipelines[0].matches
        return self.matches > than


@pytest.mark.parametrize(
    ("text", "edges", "sizes"),
    [
        ("MATCH (a:Visitor)-[:visited]->(b)<-[:visited]-(c) RETURN a, c", 2, "150 for (:Visitor), 150 for [:visited]"),
        ("MATCH (a:Visitor)-[*1..3]->(b) RETURN a, b", 3, "150 for (:Visitor), 769 for any relation"),
        ("MATCH (a:Visitor)-[:visited*]-(b) RETURN a, b", 4, "150 for (:Visitor), 150 for [:visited]"),
    ],
)
async def test_a_pattern_with_too_many_matches_is_refused_before_they_are_read(
    text: str, edges: int, sizes: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store_matching, "_PROBED_AFTER_S", 0)
    async with Counted(matches=1_000) as graph:
        with pytest.raises(PlanTooLarge) as caught:
            await PlanRunner(graph, bound=500).run(parse_cypher(text), limit=9)
    assert len(graph.asked[-1].edges) == edges
    assert sizes in caught.value.message
    async with Counted(matches=500) as graph:
        await PlanRunner(graph, bound=50_000).run(parse_cypher(text), limit=9)
    assert graph.asked


def test_a_time_out_names_five_sizes_and_counts_the_others():
    sizes = [PartSize(f"[:r{number}]", Count(number)) for number in range(1, 9)]
    error = timed_out(StoreTimeout(30.0, "this plan did not end"), parse_cypher("MATCH (a)-->(b) RETURN a"), sizes)

    assert "[:r5] 5, and 3 more parts)" in error.message
    assert "[:r6]" not in error.message
