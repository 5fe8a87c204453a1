"""What a model reads of plans: answers and errors on the demo graph, word for word."""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from syrupy.assertion import SnapshotAssertion

from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.languages.json_steps import MAX_OMITTED
from kgnav_mcp.model import PlanPage
from kgnav_mcp.navigation import plan_queue
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan, check
from kgnav_mcp.plan import Plan
from kgnav_mcp.server import build_server, plan_runner
from kgnav_mcp.server.toolsets.plans import TOOLSET
from kgnav_mcp.store_limits import PLANS_AT_ONCE
from tests.server.clients import call, client, refused, text_of, without_cursors
from tests.server.processes import PATIENCE_S

_SHOWN = 20
"""Lines of an answer that are read."""
PLANS = Settings(toolsets=("plans", "graphrunner"))

COUNTED = (
    "MATCH (p:Painter)-[:born_in]->(c)-[:country]->(x {name: 'Netherlands'}) RETURN c, count(p) AS n ORDER BY n DESC"
)
IN_EVERY_SPELLING: dict[str, Any] = {
    "Cypher": "MATCH (p:Painter)-[:born_in]->(c)-[:country]->({id: 'the_netherlands'}) RETURN DISTINCT p, c",
    "a pattern": {
        "nodes": {"p": {"label": "Painter"}, "x": {"id": "the_netherlands"}},
        "edges": [{"from": "p", "edge": "born_in", "to": "c"}, {"from": "c", "edge": "country", "to": "x"}],
        "return": ["p", "c"],
    },
    "steps": [
        {"as": "x", "find_node": {"id": "the_netherlands"}},
        {"as": "c", "fetch_neighbors": {"from": "x", "edge_type": "country", "direction": "incoming"}},
        {
            "as": "p",
            "fetch_neighbors": {"from": "c", "edge_type": "born_in", "direction": "incoming", "node_type": "Painter"},
        },
        {"return": ["p", "c"]},
    ],
}
ANSWERS: dict[str, tuple[str, dict[str, object]]] = {
    "a count, sorted": ("run_plan", {"plan": COUNTED}),
    "edges with qualifiers": (
        "run_plan",
        {"plan": "MATCH ({name: 'Vincent van Gogh'})-[r:lived_in]->(c) WHERE r.from >= 1885 RETURN c, r, r.from"},
    ),
    "a path": (
        "run_plan",
        {"plan": "MATCH p = shortestPath(({name: 'Vincent van Gogh'})-[*..4]-({name: 'Rembrandt'})) RETURN p"},
    ),
    "proof": ("run_plan", {"plan": "MATCH (a)-[:located_in]->(b {id: 'paris'}) RETURN a LIMIT 2", "proof": True}),
    "proof of counts": (
        "run_plan",
        {"plan": "MATCH (p:Painter)-[:lived_in]->(c) RETURN c, count(p) AS n ORDER BY n DESC LIMIT 2", "proof": True},
    ),
    "nothing fits": ("run_plan", {"plan": "MATCH (a:Museum)-[:located_in]->(b {name: 'Zundert'}) RETURN a"}),
    "an edge that fits the other way round": (
        "run_plan",
        {"plan": "MATCH (v {name: 'Vincent van Gogh'})<-[:lived_in]-(c)-[:country]->(x) RETURN c, x"},
    ),
    "the first of many rows": ("run_plan", {"plan": "MATCH (a)-[:lived_in|born_in]->(b), (c:Museum) RETURN a, b, c"}),
    "a condition leaves nothing": (
        "run_plan",
        {"plan": "MATCH (p:Painter)-[:born_in]->(c) WHERE NOT EXISTS { (p)-[:born_in]->() } RETURN c"},
    ),
    "a count of nothing": ("run_plan", {"plan": "MATCH (p:Painter)-[:died_in]->({name: 'Zundert'}) RETURN count(p)"}),
    "rows that repeat": (
        "run_plan",
        {"plan": "MATCH (c {name: 'Paris'})<-[:born_in|died_in]-(p:Painter) RETURN c"},
    ),
    "edges at a time": (
        "run_plan",
        {
            "plan": {
                "nodes": {"v": {"name": "Vincent van Gogh"}},
                "edges": [{"from": "v", "edge": "lived_in", "to": "c", "as": "r", "as_of": 1886}],
                "return": ["c", "r"],
            }
        },
    ),
    "edges of steps are counted": (
        "run_plan",
        {
            "plan": [
                {"as": "p", "find_node": {"label": "Painting"}},
                {
                    "as": "m",
                    "fetch_neighbors": {
                        "from": "p",
                        "edge_type": "held_by",
                        "label": "Museum",
                        "edge_where": {"from": {">": 1950}},
                        "edge_as": "r",
                    },
                },
                {"return": ["count(r)"]},
            ]
        },
    ),
    "a checked plan": ("check_plan", {"plan": "MATCH (p:painter)-[:Born_In]->({name: 'zundert'}) RETURN p"}),
    "neighbours of many": ("fetch_neighbors", {"nodes": ["zundert", "Paris"], "edge_type": "located_in"}),
    "neighbours of a type": ("fetch_neighbors", {"nodes": ["zundert"], "node_type": "Country", "max_hops": 2}),
    "common nodes by either direction": (
        "find_common_nodes",
        {"pairs": [["paris", "located_in"], ["louvre", "located_in"]], "direction": "either"},
    ),
    "steps without a direction": (
        "run_plan",
        {
            "plan": [
                {"as": "c", "find_node": {"id": "paris"}},
                {"as": "n", "fetch_neighbors": {"from": "c", "edge_type": "located_in"}},
                {"return": ["n"]},
            ]
        },
    ),
    "common nodes": ("find_common_nodes", {"pairs": [["vincent_van_gogh", "lived_in"], ["Rembrandt", "died_in"]]}),
}
ERRORS: dict[str, tuple[str, dict[str, object]]] = {
    "several mistakes, all corrected": (
        "run_plan",
        {"plan": "MATCH (m:Musem)-[:held_by]->(p:Painting) WHERE p.yaer > 1600 RETURN m"},
    ),
    "an unknown name": ("run_plan", {"plan": "MATCH ({name: 'Vincent van Goch'})-[:born_in]->(c) RETURN c"}),
    "an unknown id": ("check_plan", {"plan": "MATCH (c {id: 'zunder'}) RETURN c"}),
    "a pattern whose names are corrected as it was written": (
        "run_plan",
        {
            "plan": {
                "nodes": {"p": {"label": "Paintr", "where": {"bron": {">": "1850"}}}, "c": {"name": "Zundrt"}},
                "edges": [{"from": "p", "edge": "born_inn", "to": "c"}],
                "return": ["p.bron", "count(c)"],
                "order": "-p.bron",
            }
        },
    ),
    "steps whose names are corrected as they were written": (
        "check_plan",
        {
            "plan": [
                {"as": "c", "find_node": {"id": "zunder"}},
                {"as": "p", "fetch_neighbors": {"from": "c", "edge_type": "born_inn", "direction": "incoming"}},
            ]
        },
    ),
    "a pattern that is corrected in Cypher, for an edge of it is turned": (
        "check_plan",
        {"plan": {"nodes": {"m": {"label": "Museum"}}, "edges": [{"from": "m", "edge": "held_by", "to": "p"}]}},
    ),
    "names that the graph has not, and one that the plan has not": (
        "check_plan",
        {"plan": "MATCH (p:Paintr)-[:born_inn]->(c) WHERE q.born = 1850 RETURN p.bron, nobody"},
    ),
    "the same in a pattern": (
        "check_plan",
        {
            "plan": {
                "nodes": {"p": {"label": "Paintr", "where": {"born": {"~": 1}, "bron": {"about": 2}}}},
                "edges": [{"from": "p", "edge": "born_inn", "to": "c"}],
                "return": ["q", "count(nobody)"],
            }
        },
    ),
    "no JSON": ("run_plan", {"plan": '{"nodes": {"p": {"label": "Painter"}}, "return": [p]}'}),
    "no Cypher": ("check_plan", {"plan": "MATCH (a RETURN b"}),
    "writing": ("run_plan", {"plan": "MATCH (a) DELETE a"}),
    "a step that is not there": ("run_plan", {"plan": [{"as": "a", "fetch_neighbors": {"from": "b"}}]}),
    "an unknown relation of common nodes": (
        "find_common_nodes",
        {"pairs": [["vincent_van_gogh", "lived_inn"], ["Rembrandt", "died_in"]]},
    ),
}


@pytest.fixture(autouse=True)
def patient_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, too, what steps omit and what LIMIT cuts is counted."""
    monkeypatch.setattr(plan_runner, "OMITTED_S", PATIENCE_S)
    monkeypatch.setattr("kgnav_mcp.navigation.plans.runner.TOTAL_SECONDS", PATIENCE_S)


@pytest.mark.parametrize("what", ANSWERS)
async def test_the_answer_is_as_it_was_read_and_found_good(what: str, snapshot: SnapshotAssertion):
    tool, arguments = ANSWERS[what]
    text = without_cursors(await call(tool, arguments, PLANS))
    assert "\n".join(text.splitlines()[:_SHOWN]) == snapshot


async def test_more_omitted_matches_than_are_counted_are_stated_as_a_lower_bound(tmp_path: Path):
    edges = [f"n{number}\tnear\thub\n" for number in range(MAX_OMITTED + 1)]
    (tmp_path / "hub.tsv").write_text(f"head\trelation\ttail\nhub\tnear\tn0\n{''.join(edges)}", encoding="utf-8")
    load([tmp_path / "hub.tsv"], tmp_path / "hub.kg")
    hub = Settings(graphs={"hub": GraphSettings(location=str(tmp_path / "hub.kg"))}, toolsets=("graphrunner",))

    exact = await call("fetch_neighbors", {"nodes": ["hub"]}, hub)
    assert exact.startswith("1 row\n")
    assert "incoming matches left out: 1,000. " in exact  # n0 is shown already

    (tmp_path / "more.tsv").write_text(f"head\trelation\ttail\n{''.join(edges)}", encoding="utf-8")
    load([tmp_path / "more.tsv"], tmp_path / "hub.kg")
    assert "incoming matches left out: 1,000+. " in await call("fetch_neighbors", {"nodes": ["hub"]}, hub)


async def test_other_tools_answer_while_plans_wait_and_one_too_many_is_refused(monkeypatch: pytest.MonkeyPatch):
    release, run = asyncio.Event(), plan_runner.PlanRunner.run

    async def blocked(self: plan_runner.PlanRunner, plan: Plan, **options: Any) -> PlanPage:
        await release.wait()
        return await run(self, plan, **options)

    monkeypatch.setattr(plan_runner.PlanRunner, "run", blocked)
    arguments = {"plan": "MATCH (n) RETURN count(n)"}
    async with client(Settings(toolsets=("plans", "linking"))) as connected:
        calls = [asyncio.ensure_future(connected.call_tool("run_plan", arguments)) for _ in range(11)]
        done, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        found = await connected.call_tool("find_node", {"hint": "Rembrandt"})
        release.set()
        answers = await asyncio.gather(*waiting)
    (too_many,) = [text_of(one.result()) for one in done]
    assert "Rate limited: 2 plans run on this graph and 8 are waiting. Next: Try again in" in " ".join(too_many.split())
    assert "rembrandt" in text_of(found)
    assert not any(one.is_error for one in answers)


async def test_matches_that_cannot_be_counted_in_time_are_said_to_be_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plan_runner, "OMITTED_S", 0.0)
    answer = await call("fetch_neighbors", {"nodes": ["paris"], "edge_type": "located_in"}, PLANS)
    assert answer.startswith("1 row\n")
    assert "incoming matches left out: not counted in time. " in answer


@pytest.mark.parametrize("what", ERRORS)
async def test_the_error_says_what_is_wrong_and_what_would_be_right(what: str, snapshot: SnapshotAssertion):
    tool, arguments = ERRORS[what]
    assert await refused(tool, arguments, PLANS) == snapshot


async def test_every_spelling_of_a_question_has_the_same_answer():
    answers = [await call("run_plan", {"plan": plan}, PLANS) for plan in IN_EVERY_SPELLING.values()]
    rows = [{line for line in answer.splitlines() if line.count("|") == 3} for answer in answers]

    assert len(rows[0]) > 20
    assert rows[0] == rows[1] == rows[2]


async def test_a_plan_that_was_mended_runs():
    tool, arguments = ERRORS["several mistakes, all corrected"]
    told = await refused(tool, arguments, PLANS)
    corrected = re.search("^Corrected plan: (.*)$", told, re.MULTILINE)

    assert corrected is not None
    assert "rows" in await call("run_plan", {"plan": corrected[1]}, PLANS)


async def test_a_label_on_a_graph_without_any_is_left_out_by_the_mended_plan(tmp_path: Path):
    (tmp_path / "films.tsv").write_text("head\trelation\ttail\nUp\tdirected_by\tPete\n", encoding="utf-8")
    load([tmp_path / "films.tsv"], tmp_path / "films.kg")
    films = Settings(graphs={"films": GraphSettings(location=str(tmp_path / "films.kg"))}, toolsets=("plans",))
    told = await refused("run_plan", {"plan": "MATCH (f:Film)-[:directed_by]->(p:Person) RETURN p"}, films)
    assert "- (f:Film): this graph has no labels: omit it" in told
    assert "Corrected plan: MATCH (f)-[:directed_by]->(p) RETURN p\n" in told


async def test_pages_of_a_plan_together_are_the_whole_answer():
    plan = {"plan": "MATCH (p:Painter) RETURN p, p.born ORDER BY p.born"}
    whole = (await call("run_plan", plan, PLANS)).splitlines()
    small = Settings(toolsets=("plans",), budget=700)
    rows: list[str] = []
    cursor: dict[str, object] = {}
    while True:
        page = await call("run_plan", {**plan, **cursor}, small)
        rows += [line for line in page.splitlines() if line.count("|") == 2][2:]
        found = re.search('next: cursor "(.*?)"', page.partition("\n")[0])
        if found is None:
            break
        cursor = {"cursor": found[1]}
    assert cursor
    assert rows == [line for line in whole if line.count("|") == 2][2:]


def test_the_words_for_plans_leave_the_context_to_the_question():
    (run,) = (tool for tool in TOOLSET.tools if tool.name == "run_plan")
    assert len(run.description) <= 2_500


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_that_asks_for_progress_is_told_how_far_a_long_plan_is(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, messages = asyncio.Event(), list[tuple[float, float | None, str | None]]()

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        messages.append((progress, total, message))
        if len(messages) > 1:
            told.set()

    async def slow(*arguments: Any, **options: Any) -> CheckedPlan:
        await told.wait()
        return await check(*arguments, **options)

    monkeypatch.setattr("kgnav_mcp.concurrency.PROGRESS_INTERVAL", 0.01)
    monkeypatch.setattr("kgnav_mcp.navigation.plans.runner.check", slow)
    plan = {"plan": "MATCH (p:Painter) RETURN p LIMIT 1"}
    async with asyncio.timeout(PATIENCE_S), Client(build_server(App(PLANS)), mode=mode) as connected:
        result = await connected.call_tool("run_plan", plan, progress_callback=listen)
        assert not result.is_error
        assert messages[:2] == [(1, None, "checking the plan"), (2, None, "checking the plan")]
        assert not (await connected.call_tool("run_plan", plan)).is_error, "without a token nothing is sent"


async def test_a_plan_is_not_parsed_by_the_thread_of_the_event_loop(monkeypatch: pytest.MonkeyPatch):
    threads: list[int] = []
    parse = plan_runner.parse_plan

    def noted(*given: Any) -> Any:
        threads.append(threading.get_ident())
        return parse(*given)

    monkeypatch.setattr(plan_runner, "parse_plan", noted)
    await call("run_plan", {"plan": "MATCH (n) RETURN count(n)"}, PLANS)

    assert len(threads) == 1
    assert threading.get_ident() not in threads


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_plan", {"plan": COUNTED}),
        ("fetch_neighbors", {"nodes": ["zundert"], "node_type": "Painter", "direction": "either"}),
        ("find_common_nodes", {"pairs": [["zundert", "located_in"], ["breda", "located_in"]]}),
    ],
)
async def test_what_may_read_much_waits_for_its_place(
    tool: str, arguments: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(plan_queue, "_WAITING_SHARE", 0)
    app = App(PLANS)
    async with Client(build_server(app)) as one, AsyncExitStack() as places:
        assert not (await one.call_tool(tool, arguments)).is_error
        for _ in range(PLANS_AT_ONCE):
            await places.enter_async_context(app.graph().plan_queue.place(60))
        assert text_of(await one.call_tool(tool, arguments)).startswith("Rate limited: this plan waited")
