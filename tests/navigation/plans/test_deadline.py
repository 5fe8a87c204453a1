"""A plan has one deadline, and one that passes it says what it was doing."""

from __future__ import annotations

import asyncio
import gc
from itertools import count
from time import monotonic
from typing import Any

import pytest

from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Page
from kgnav_mcp.navigation.plans import budget, evaluate
from kgnav_mcp.navigation.plans import runner as plan_runner
from kgnav_mcp.navigation.plans.budget import Deadline, time_limit
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.contract.example import DictAdapter
from tests.navigation.plans.test_independent_patterns import TOY, Compiling

VISITS = "MATCH (a:Visitor)-[:visited]->(b) RETURN a"


def passed() -> Deadline:
    """A deadline of 7 s that has just passed: what has to wait now is ended."""
    return Deadline(7, monotonic())


async def hang(*_: Any, **__: Any) -> Any:
    await asyncio.Event().wait()


def test_time_goes_by_for_all_that_share_a_deadline(monkeypatch: pytest.MonkeyPatch):
    now = 1_000.0
    monkeypatch.setattr(budget, "monotonic", lambda: now)
    deadline = Deadline.after(30)
    assert 30 <= deadline.seconds_left() < 31, "a plan may take a second more than the store's time-out"
    now += 20
    assert 10 <= deadline.seconds_left() < 11
    now += 20
    assert deadline.seconds_left() == 0


async def test_a_time_out_of_something_else_is_no_time_out_of_the_plan():
    with pytest.raises(TimeoutError, match="a socket"):
        async with time_limit(Deadline.after(30), lambda: ""):
            raise TimeoutError("a socket")


async def test_an_evaluation_out_of_time_says_so_with_the_part_that_it_was_reading(monkeypatch: pytest.MonkeyPatch):
    async with DictAdapter(TOY, AdapterOptions()) as graph:
        plan = (await PlanRunner(graph).check(parse_cypher(VISITS))).plan
        monkeypatch.setattr(DictAdapter, "nodes", hang)
        with pytest.raises(StoreTimeout) as caught:
            await PlanRunner(graph, by_store=False, deadline=passed()).run(plan, limit=9)
    message = caught.value.message
    assert message.startswith("this plan did not end within 7 s: 0 of 3 parts read, reading (a:Visitor)")
    assert message.endswith("(in the graph: (:Visitor) 150, [:visited] 150)")
    assert "Make it smaller" in caught.value.next_step


async def test_a_plan_that_the_store_runs_out_of_time_says_so_with_its_sizes(monkeypatch: pytest.MonkeyPatch):
    async with Compiling(TOY, AdapterOptions()) as graph:
        plan = (await PlanRunner(graph).check(parse_cypher(VISITS))).plan
        monkeypatch.setattr(Compiling, "run", hang)
        with pytest.raises(StoreTimeout, match=r"within 7 s: the store is at work \(in the graph: \(:Visitor\) 150"):
            await PlanRunner(graph, deadline=passed()).run(plan, limit=9)


async def test_a_check_is_within_the_deadline_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(DictAdapter, "schema", hang)
    async with DictAdapter(TOY, AdapterOptions()) as graph:
        with pytest.raises(StoreTimeout, match="within 7 s: checking the plan") as caught:
            await PlanRunner(graph, deadline=passed()).check(parse_cypher(VISITS))
    assert "raise --timeout" in caught.value.next_step


async def test_an_answer_whose_explanation_is_out_of_time_is_given_and_says_so(monkeypatch: pytest.MonkeyPatch):
    now = 0.0

    async def take_all_time(*_: Any) -> str:
        nonlocal now
        now = 60.0
        return "Why."

    monkeypatch.setattr(budget, "monotonic", lambda: now)
    monkeypatch.setattr(plan_runner, "first_rows_note", take_all_time)
    monkeypatch.setattr(plan_runner, "cut_tie_note", hang)
    async with DictAdapter(TOY, AdapterOptions()) as graph:
        plan = parse_cypher("MATCH (a:Visitor)-[:visited]->(b) RETURN a, 7 AS n ORDER BY n LIMIT 1")
        page = await PlanRunner(graph).run(plan, limit=9)
    assert len(page.items) == 1
    assert page.note == "Why. There was no time to find out more about this answer."


async def test_a_note_takes_no_longer_than_the_answer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plan_runner, "_NOTE_SECONDS", 0.05)
    monkeypatch.setattr(plan_runner, "cut_tie_note", hang)
    async with DictAdapter(TOY, AdapterOptions()) as graph:
        plan = parse_cypher("MATCH (a:Visitor)-[:visited]->(b) RETURN a, 7 AS n ORDER BY n LIMIT 1")
        page = await PlanRunner(graph).run(plan, limit=9)
    assert len(page.items) == 1
    assert page.note == "There was no time to find out more about this answer."


async def test_the_sizes_in_an_error_are_left_out_if_they_are_not_known(monkeypatch: pytest.MonkeyPatch):
    async def late(*_: Any, **__: Any) -> Page[Any]:
        raise StoreTimeout(30)

    async with Compiling(TOY, AdapterOptions()) as graph:
        monkeypatch.setattr(Compiling, "run", late)
        monkeypatch.setattr(plan_runner, "sizes_of", hang)
        monkeypatch.setattr(plan_runner, "_SIZES_SECONDS", 0)
        with pytest.raises(StoreTimeout, match=r"^the store did not answer within 30 s$"):
            await PlanRunner(graph).run(parse_cypher("MATCH (a)-[:visited]->(b) RETURN a"), limit=9)


@pytest.mark.parametrize(
    "value",
    [
        "reduce(t = 0, x IN range(1, 9000) | t + x)",
        "size([x IN range(1, 9000) | x])",
        "all(x IN range(1, 9000) WHERE x > 0)",
    ],
)
async def test_an_expression_over_lists_ends_at_the_deadline_within_one_row(
    monkeypatch: pytest.MonkeyPatch, value: str
):
    seconds = count(1_000)
    monkeypatch.setattr(budget, "monotonic", lambda: float(next(seconds)))
    async with DictAdapter(TOY, AdapterOptions()) as graph:
        with pytest.raises(StoreTimeout, match=r"did not end within 99 s: .* computing the rows"):
            await PlanRunner(graph, deadline=Deadline.after(99)).run(parse_cypher(f"RETURN {value} AS v"), limit=9)


async def test_a_time_out_while_the_store_counts_matches_leaves_no_work_unawaited(monkeypatch: pytest.MonkeyPatch):
    cypher = "MATCH (a)-[:visited]->(b)<-[:visited]-(c) RETURN a, b, c"
    monkeypatch.setattr(Compiling, "has_more_rows", hang)
    async with Compiling(TOY, AdapterOptions()) as graph:
        with pytest.raises(StoreTimeout):
            await evaluate(graph, parse_cypher(cypher), limit=9, deadline=passed())
    gc.collect()  # Python warns of a coroutine that was never awaited when it is freed
