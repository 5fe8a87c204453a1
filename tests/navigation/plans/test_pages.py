"""Answers of plans: pages, proof, bounds, parts of a graph, what is said of them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kgnav_mcp.errors import InvalidCursor, PlanTooLarge, Unsupported
from kgnav_mcp.model import AnchoredPage, Certainty, Count, Direction, Link, PlanPage, Stop
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import (
    AggregateFunction,
    Connective,
    CountOf,
    Exists,
    Joined,
    Match,
    NodePattern,
    Not,
    PathKind,
    Pipeline,
    Plan,
)
from kgnav_mcp.port import AdapterOptions, Capability, GraphAdapter
from tests.contract import toy as definition
from tests.contract.example import DictAdapter
from tests.navigation.plans.writing import (
    compared,
    edge,
    give,
    is_id,
    matching,
    named,
    node,
    path,
    plain,
    plan,
    rows,
    total,
)

COUNT = named("n", total(AggregateFunction.COUNT))
VISITS = matching(edge("v", "visited", "h"), where=is_id("h", "harbour"))


@pytest.mark.parametrize("size", [1, 7, 1_000])
async def test_pages_put_together_are_the_whole_answer(toy: GraphAdapter, size: int):
    asked = plan(VISITS, give("r.year", "v", skip=100))
    whole = await evaluate(toy, asked, limit=1_000)
    found: list[object] = []
    after: str | None = None
    while True:
        page = await evaluate(toy, asked, limit=size, after=after)
        assert page.total == Count(definition.VISITORS - 100)
        found += rows(page)
        if page.stop is Stop.COMPLETE:
            break
        assert (page.stop, len(page.items)) == (Stop.LIMIT, size)
        after = page.positions[-1]
    assert found == rows(whole)


@pytest.mark.parametrize("position", ["nonsense", "", "3", "-1.x", "٣.x"])
async def test_a_position_of_another_answer_is_refused(toy: GraphAdapter, position: str):
    with pytest.raises(InvalidCursor):
        await evaluate(toy, plan(VISITS, give("v")), limit=5, after=position)
    other = await evaluate(toy, plan(VISITS, give("r.year")), limit=5)
    with pytest.raises(InvalidCursor):
        await evaluate(toy, plan(VISITS, give("v")), limit=5, after=other.positions[-1])


async def test_each_row_has_the_edges_that_prove_it_if_the_caller_wants_proof(toy: GraphAdapter):
    way = path("q", "", "h", PathKind.REACHABLE, 1, variable="s")
    asked = plan(
        matching(edge("p", "dislikes", "q"), way, where=is_id("h", "harbour")), give("p"), give("p", distinct=True)
    )
    (row,) = (await evaluate(toy, asked, limit=5, proof=True)).items
    assert [plain(one) for one in row.proof] == [("cyd", "dislikes", "ada"), ("ada", "lives_at", "harbour")]
    assert (await evaluate(toy, asked, limit=5)).items[0].proof == ()


async def test_a_sum_rests_on_the_edges_of_all_its_rows(toy: GraphAdapter):
    page = await evaluate(toy, plan(matching(edge("p", "knows", "q")), give("p", COUNT)), limit=9, proof=True)
    assert [(row.cells[1], len(row.proof)) for row in page.items] == [(3, 3), (1, 1), (1, 1)]


async def test_a_question_of_yes_or_no_answers_with_its_first_witness(toy: GraphAdapter):
    asked = Plan((Pipeline((VISITS, give("v"))),), only_exists=True)
    page = await evaluate(toy, asked, limit=5, proof=True)
    assert (rows(page), page.total) == ([("visitor000",)], Count(1))
    assert len(page.items[0].proof) == 1


async def test_sizes_tell_how_many_matched_each_part_in_the_order_of_the_plan(toy: GraphAdapter):
    parts = node("p", "Person"), edge("p", "knows", "q"), node("q"), edge("q", "lives_at", "h", "s")
    page = await evaluate(toy, plan(matching(*parts), give("p", "h")), limit=9)
    assert [(size.part, size.count.value) for size in page.sizes] == [
        ("(p:Person)", 6),
        ("(q)", 4),
        ("(h)", 1),
        ("(p)-[r:knows]->(q)", 5),
        ("(q)-[s:lives_at]->(h)", 1),
    ]


async def test_an_empty_answer_names_the_first_part_that_nothing_matches(toy: GraphAdapter):
    asked = matching(edge("p", "knows", "q"), edge("q", "moored_at", "h", "s"), where=is_id("p", "ada"))
    page = await evaluate(toy, plan(asked, give("h")), limit=9)
    assert (page.items, page.total, page.note) == ((), Count(0), "Nothing matches (q)-[s:moored_at]->(h).")
    page = await evaluate(toy, plan(matching(node("p", "Person"), where=is_id("p", "nobody")), give("p")), limit=9)
    assert page.note == "Nothing matches (p:Person) WHERE elementId(p) IN ['nobody']."
    counted = plan(matching(node("x", "Ghost")), give(named("n", total(AggregateFunction.COUNT))))
    assert (await evaluate(toy, counted, limit=9)).note == "", "a count of zero is an answer"


async def test_a_plan_with_more_rows_than_the_bound_is_refused_with_the_sizes(toy: GraphAdapter):
    asked = plan(
        matching(edge("p", "lives_at", "h"), edge("v", "visited", "h", "s"), where=is_id("p", "ada")), give("v")
    )
    with pytest.raises(PlanTooLarge) as caught:
        await evaluate(toy, asked, limit=5, bound=100)
    sizes = {size.part: size.count for size in caught.value.sizes}
    assert sizes["(v)-[s:visited]->(h)"] == Count.at_least(definition.VISITORS)
    assert sizes["(p)-[r:lives_at]->(h)"] == Count(1)
    assert "at least 150" in caught.value.message
    assert "label" in caught.value.next_step
    assert "LIMIT" in caught.value.next_step


async def test_a_hub_in_the_middle_of_a_path_is_bounded(toy: GraphAdapter):
    for kind, lengths in ((PathKind.TRAILS, (1, 3)), (PathKind.REACHABLE, (1,)), (PathKind.SHORTEST, (1,))):
        around = path("p", "", "q", kind, *lengths, either=True)
        with pytest.raises(PlanTooLarge):
            await evaluate(toy, plan(matching(around, where=is_id("p", "ada")), give("q")), limit=5, bound=200)


async def test_rows_that_nodes_without_an_edge_between_them_would_make_are_counted_before_any_is_read():
    async with Counting() as graph:
        pairs = matching(node("a", "Visitor"), node("b", "Boat"))
        with pytest.raises(PlanTooLarge) as caught:
            await evaluate(graph, plan(pairs, give("a", "b")), limit=5, bound=1_000)
        assert graph.calls == {"nodes": 2}
        assert [size.count.value for size in caught.value.sizes] == [definition.VISITORS, definition.BOATS]


class Capped(DictAdapter):
    """A store that gives three rows at once, and says so."""

    async def neighbours(self, ids: Sequence[str], direction: Direction | None, **rest: Any) -> AnchoredPage[Link]:
        page = await super().neighbours(ids, direction, **rest)
        if len(page.items) <= 3:
            return page
        return AnchoredPage(page.items[:3], page.positions[:3], Count.at_least(3), Stop.ROW_CAP, "capped", page.anchors)


async def test_what_a_store_cuts_is_told_and_never_taken_for_the_whole():
    async with Capped("tests.contract.example_graph", AdapterOptions()) as graph:
        page = await evaluate(graph, plan(VISITS, give("v")), limit=2)
        assert (page.stop, page.total) == (Stop.LIMIT, Count.at_least(3))
        page = await evaluate(graph, plan(VISITS, give("v")), limit=9)
        assert (page.stop, page.total) == (Stop.ROW_CAP, Count.at_least(3))
        page = await evaluate(graph, plan(VISITS, give(COUNT)), limit=9)
        assert rows(page) == [(3,)]
        assert page.stop is Stop.ROW_CAP
        assert "lower bounds" in page.note
        assert page.sizes[-1].count.certainty is Certainty.AT_LEAST


class Counting(DictAdapter):
    """Counts the calls of each verb."""

    def __init__(self) -> None:
        super().__init__("tests.contract.example_graph", AdapterOptions())
        self.calls: Counter[str] = Counter()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in {"describe", "neighbours", "nodes", "edges", "relations"}:
            return found

        def counted(*arguments: Any, **options: Any) -> Any:
            self.calls[name] += 1
            return found(*arguments, **options)

        return counted


async def test_a_count_describes_no_node_and_many_nodes_cost_no_more_calls_than_few():
    async with Counting() as graph:
        around = matching(edge("v", "rented", "b"), edge("b", "used_by", "s", "u"), where=Not(compared("v", "=", "b")))
        await evaluate(graph, plan(matching(NodePattern("v", (("Visitor",),))), around, give(COUNT)), limit=9)
        assert "describe" not in graph.calls
        assert sum(graph.calls.values()) <= 6


async def test_a_count_of_a_label_or_a_relation_reads_no_row():
    async with Counting() as graph:
        for asked, expected in (
            (matching(node("v", "Visitor")), definition.VISITORS),
            (matching(node("v", "Nobody")), 0),
            (matching(edge("p", "visited", "h")), definition.VISITORS),
        ):
            page = await evaluate(graph, plan(asked, give(COUNT)), limit=9, bound=10)
            assert (rows(page), [size.count.value for size in page.sizes]) == ([(expected,)], [expected])
        assert set(graph.calls) <= {"nodes", "neighbours"}
        around = matching(edge("p", "visited", "h"), node("h", "Place"))
        with pytest.raises(PlanTooLarge):
            await evaluate(graph, plan(around, give(COUNT)), limit=9, bound=10)


async def test_edges_of_a_hub_are_counted_and_tested_without_reading_them():
    async with Counting() as graph:
        around = matching(edge("v", "visited", "h"))
        hubs = matching(node("h", "Place"), where=Exists(around))
        page = await evaluate(graph, plan(hubs, give("h", named("n", CountOf(around)))), limit=9, bound=10)
        assert rows(page) == [("harbour", definition.VISITORS)]
        none = matching(node("h", "Planet"), where=Exists(around))
        assert (await evaluate(graph, plan(none, give("h")), limit=9)).items == ()


@pytest.mark.parametrize(("bound", "counts", "reads"), [(60, 1, 2), (10_000, 0, 1)])
async def test_a_search_between_two_known_nodes_ends_where_they_meet(bound: int, counts: int, reads: int):
    """With a low bound the edges of one end are counted, for which this adapter reads them, before all are read."""
    async with Counting() as graph:
        near = matching(path("p", "", "q", PathKind.SHORTEST, either=True), where=compared("p", "<>", "q"))
        both = matching(*near.nodes, where=None)
        ends = [is_id("p", "ada"), is_id("q", "ben")]
        asked = Match(both.nodes, near.edges, (), Joined(Connective.AND, tuple(ends)))
        page = await evaluate(graph, plan(asked, give("r")), limit=9, bound=bound)
        assert len(page.items) == 1
        assert graph.calls["relations"] == counts
        assert graph.calls["neighbours"] - graph.calls["relations"] == reads


async def test_the_event_loop_goes_on_while_rows_are_joined(toy: GraphAdapter):
    pauses: list[float] = []

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            pauses.append(time.perf_counter() - before)

    watching = asyncio.create_task(watch())
    pairs = matching(node("a", "Visitor"), node("b", "Visitor"), where=compared("a", "<>", "b"))
    await evaluate(toy, plan(pairs, give(COUNT)), limit=1)
    watching.cancel()
    assert len(pauses) > 20


class Giving(DictAdapter):
    """Runs plans, but for pages behind the first."""

    capabilities = DictAdapter.capabilities | {Capability.PLANS}

    async def run(self, plan: Plan, *, limit: int, after: str | None = None) -> PlanPage:
        if after is not None:
            raise Unsupported("a value of a later row has no form in a query")
        page = await evaluate(self, plan, limit=limit, by_store=False)
        return replace(page, positions=tuple(f"{place}.tag" for place, _ in enumerate(page.items, 1)))


async def test_what_a_store_cannot_go_on_with_is_evaluated_from_there():
    async with Giving("tests.contract.example_graph", AdapterOptions()) as graph:
        runner, asked = PlanRunner(graph), plan(matching(edge("p", "knows", "q")), give("p", "q"))
        whole, after, found = rows(await evaluate(graph, asked, limit=99)), None, list[tuple[object, ...]]()
        stop = Stop.LIMIT
        while stop is Stop.LIMIT:
            page = await runner.run(asked, limit=2, after=after)
            found += rows(page)
            after, stop = page.positions[-1], page.stop
        assert (found, stop) == (whole, Stop.COMPLETE)
