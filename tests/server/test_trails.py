"""Trails through the tools: what calls showed is recorded, shown again, and connects answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from mcp import Client
from mcp.server.auth.provider import AccessToken

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings, TrailSettings
from kgnav_mcp.errors import TrailFull
from kgnav_mcp.server import build_server, trail_recorder
from kgnav_mcp.trails import Trails
from tests.server.clients import text_of

TRAILS = Settings(toolsets=("sog", "graphwalker", "graphwalk", "linking", "plans", "trail", "maze"))
VERMEER = "johannes_vermeer"


class Walker:
    """A client with trails, and a trail about Vermeer."""

    def __init__(self, connected: Client, app: App) -> None:
        self.connected, self.app = connected, app
        self.trail = ""

    async def start(self, **arguments: object) -> str:
        text = await self.answer(
            "start_trail", question="Where was he born?", topic_entities=["Johannes Vermeer"], **arguments
        )
        self.trail = text.partition("\n")[0].removeprefix("trail: ")
        return text

    async def answer(self, tool: str, **arguments: object) -> str:
        result = await self.connected.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    async def refusal(self, tool: str, **arguments: object) -> str:
        result = await self.connected.call_tool(tool, arguments)
        assert result.is_error, text_of(result)
        return text_of(result)

    async def search(self, entity: str = VERMEER, direction: str = "outgoing") -> str:
        return await self.answer("search", entity=entity, direction=direction, trail=self.trail)

    async def verdicts(self, *answers: str) -> dict[str, str]:
        text = await self.answer("check_answer", trail=self.trail, answers=list(answers))
        assert "Judge yourself whether that path answers the question." in text.splitlines()[1]
        rows = [line.split("|") for line in text.splitlines()[4:] if "|" in line]
        return {row[0]: row[1] for row in rows}


@asynccontextmanager
async def walking(settings: Settings = TRAILS, **arguments: object) -> AsyncGenerator[Walker]:
    """A client with a trail that has just been started."""
    app = App(settings)
    async with Client(build_server(app)) as connected:
        walker = Walker(connected, app)
        await walker.start(**arguments)
        yield walker


async def test_a_trail_starts_with_its_handle_its_topics_and_its_lifetime() -> None:
    async with walking() as walker:
        text = await walker.start()
        assert text.startswith("trail: trail-")
        assert "Johannes Vermeer (johannes_vermeer). Kept for 24 hours after its last use." in text


async def test_a_topic_that_is_unknown_or_ambiguous_starts_no_trail() -> None:
    async with walking() as walker:
        error = await walker.refusal("start_trail", question="Who?", topic_entities=["Johannes Vermer"])
        assert "Johannes Vermeer (johannes_vermeer)" in error
        assert "needs the argument 'topic_entities'" in await walker.refusal("start_trail", question="Who?")


async def test_what_calls_showed_is_shown_again_with_what_failed() -> None:
    async with walking() as walker:
        await walker.search()
        await walker.answer("think", thought="He lived in | Delft", trail=walker.trail)
        await walker.refusal("search", entity="Nobody", direction="outgoing", trail=walker.trail)
        text = await walker.answer("show_trail", trail=walker.trail)
        assert "Question: Where was he born?" in text
        first, thought, failed = text.splitlines()[-3:]
        assert first.startswith('1|search(entity="johannes_vermeer", direction="outgoing")|14 rows|')
        assert "[Johannes Vermeer (johannes_vermeer), aka, Vermeer]" in first
        assert thought.startswith('2|think(thought="He lived in \\| Delft")')
        assert "error: no entity has the id or name 'Nobody'" in failed


async def test_a_long_trail_is_shown_within_the_budget_the_oldest_steps_summarised() -> None:
    async with walking() as walker:
        for _ in range(30):
            await walker.search()
            await walker.search("delft", "incoming")
        text = await walker.answer("show_trail", trail=walker.trail)
        *rows, note = text.splitlines()[5:]
        assert rows[0].startswith("1 to ")
        summarised = rows[0].partition("|")[0].removeprefix("1 to ")
        assert note == f"Steps 1 to {summarised} are summarised: kg://trail/{walker.trail}/json has them all."
        assert "search x " in rows[0]
        assert "[Johannes Vermeer (johannes_vermeer), born_in, Delft (delft)]" in rows[0]
        assert rows[-1].startswith("60|")
        assert len(text) < 8000 * 5


async def test_an_answer_that_was_shown_is_connected_and_others_are_told_apart() -> None:
    async with walking() as walker:
        await walker.search()
        await walker.answer("find_node", hint="Paris", trail=walker.trail)
        assert await walker.verdicts("Delft", "1632", "paris", "Zundert") == {
            "Delft": "connected",
            "1632": "connected",
            "paris": "seen but not connected",
            "Zundert": "never seen",
        }


async def test_an_answer_of_another_trail_is_not_seen_in_this_one() -> None:
    async with walking() as walker:
        await walker.search()
        await walker.start()
        assert await walker.verdicts("Delft") == {"Delft": "never seen"}


async def test_rows_of_a_plan_prove_with_their_edges_and_without_them_do_not() -> None:
    async with walking() as walker:
        plan = f"MATCH ({{id: '{VERMEER}'}})-[:born_in]->(c)-[:country]->(x) RETURN x"
        await walker.answer("run_plan", plan=plan, trail=walker.trail)
        assert await walker.verdicts("the_netherlands") == {"the_netherlands": "seen but not connected"}
        await walker.answer("run_plan", plan=plan, proof=True, trail=walker.trail)
        assert await walker.verdicts("the_netherlands") == {"the_netherlands": "connected"}


async def test_rows_that_were_cut_off_by_the_budget_were_not_seen() -> None:
    async with walking(Settings(toolsets=TRAILS.toolsets, budget=500)) as walker:
        shown = await walker.answer("find_node", hint="museum", limit=100, trail=walker.trail)
        async with walking() as other:
            whole = await other.answer("find_node", hint="museum", limit=100)
        found = [
            {line.split("|")[0] for line in text.splitlines()[3:] if line.count("|") > 2} for text in (shown, whole)
        ]
        cut = sorted(found[1] - found[0])
        assert found[0] < found[1]
        assert set((await walker.verdicts(*cut)).values()) == {"never seen"}
        assert set((await walker.verdicts(*found[0])).values()) == {"seen but not connected"}


async def test_the_path_goes_over_visited_entities_along_what_was_shown() -> None:
    async with walking() as walker:
        assert (await walker.answer("get_connected_path", trail=walker.trail)).startswith(
            "0 edges: a path needs at least two"
        )
        await walker.search()
        await walker.search("delft", "incoming")
        text = await walker.answer("get_connected_path", trail=walker.trail)
        assert text.startswith("1 edge\n")
        assert "johannes_vermeer|Johannes Vermeer|born_in|outgoing|delft|Delft" in text


async def test_parallel_calls_on_one_trail_lose_nothing() -> None:
    async with walking() as walker:
        places = ["delft", "paris", "zundert", VERMEER] * 5
        await asyncio.gather(*(walker.search(place, "incoming") for place in places))
        trail = await walker.app.trails.read(walker.trail)
        assert sorted(step.visited[0] for step in trail.steps) == sorted(places)


@pytest.mark.parametrize("handle", ["trail-unknown", "x" * 3_000, "../../etc/passwd", "трейл"])
async def test_an_unknown_handle_is_refused_before_the_store_is_queried(handle: str) -> None:
    async with walking() as walker:
        for tool, arguments in (("search", {"entity": VERMEER, "direction": "outgoing"}), ("show_trail", {})):
            error = await walker.refusal(tool, **arguments, trail=handle)
            assert "kept for 24 hours after their last use" in error
            assert "start_trail(question, topic_entities)" in error


async def test_examples_that_are_tried_out_for_an_error_are_not_recorded() -> None:
    async with walking() as walker:
        error = await walker.refusal("search", entity="Johanes Vermeer", direction="outgoing", trail=walker.trail)
        assert "A call that works here: search(" in error
        assert len((await walker.app.trails.read(walker.trail)).steps) == 1


async def test_a_full_trail_still_answers_and_says_that_it_did_not_record(monkeypatch: pytest.MonkeyPatch) -> None:
    async with walking() as walker:

        async def full(*_: object) -> None:
            raise TrailFull(1)

        monkeypatch.setattr(Trails, "add", full)
        text = await walker.search()
        assert text.startswith("14 rows\n")
        assert text.splitlines()[-1].startswith("Not recorded: this trail is full")


async def test_without_the_toolset_no_tool_takes_a_trail_and_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Mock()
    monkeypatch.setattr("kgnav_mcp.app.open_trail_store", opened)
    app = App(Settings())
    async with Client(build_server(app)) as connected:
        for tool in (await connected.list_tools()).tools:
            assert "trail" not in tool.input_schema["properties"], tool.name
        result = await connected.call_tool("search", {"entity": VERMEER, "direction": "outgoing", "trail": "trail-x"})
    assert "no argument 'trail'" in text_of(result)
    opened.assert_not_called()


async def test_with_the_toolset_every_tool_that_asks_the_graph_takes_one() -> None:
    async with walking() as walker:
        tools = {tool.name: tool for tool in (await walker.connected.list_tools()).tools}
        taking = {name for name, tool in tools.items() if "trail" in tool.input_schema["properties"]}
        assert set(tools) - taking == {"start_trail"}
        changing = {name for name, tool in tools.items() if tool.annotations and not tool.annotations.read_only_hint}
        assert changing == {"start_trail", "get_possible_next_cells"}


async def test_calls_without_a_trail_record_nothing() -> None:
    async with walking() as walker:
        await walker.answer("search", entity=VERMEER, direction="outgoing")
        assert (await walker.app.trails.read(walker.trail)).steps == ()


async def test_a_trail_belongs_to_the_caller_who_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def verified(client_id: str, subject: str | None) -> None:
        token = AccessToken(token="any", client_id=client_id, scopes=[], subject=subject)  # noqa: S106 - no secret
        monkeypatch.setattr(trail_recorder, "get_access_token", lambda: token)

    verified("app", "alice")
    async with walking() as walker:
        await walker.search()
        for client_id, subject in (("app", "bob"), ("other", "alice"), ("app", None)):
            verified(client_id, subject)
            assert "no trail has the handle" in await walker.refusal("show_trail", trail=walker.trail)
        verified("app", "alice")
        assert "1 row\n" in await walker.answer("show_trail", trail=walker.trail)


async def test_a_trail_stays_on_its_graph() -> None:
    graphs = {"one": GraphSettings(location="demo"), "two": GraphSettings(location="demo")}
    async with walking(Settings(toolsets=TRAILS.toolsets, graphs=graphs), graph="two") as walker:
        assert (await walker.search()).startswith("14 rows")
        error = await walker.refusal("search", entity=VERMEER, direction="outgoing", trail=walker.trail, graph="one")
        assert "this trail is on the graph two" in error


async def test_trails_in_a_file_outlive_the_server(tmp_path: Path) -> None:
    settings = Settings(toolsets=TRAILS.toolsets, trail=TrailSettings(store=str(tmp_path / "trails.db")))
    handle = ""
    async with walking(settings) as walker:
        await walker.search()
        handle = walker.trail
    async with walking(settings) as walker:
        walker.trail = handle
        assert await walker.verdicts("Delft") == {"Delft": "connected"}


async def test_a_store_of_trails_that_is_down_is_told_and_answers_without_a_trail_go_on(tmp_path: Path) -> None:
    settings = Settings(toolsets=TRAILS.toolsets, trail=TrailSettings(store=str(tmp_path / "no" / "trails.db")))
    async with Client(build_server(App(settings))) as connected:
        error = await connected.call_tool("start_trail", {"question": "Who?", "topic_entities": [VERMEER]})
        assert "the trail store cannot be used" in text_of(error)
        assert not (await connected.call_tool("search", {"entity": VERMEER, "direction": "outgoing"})).is_error


async def test_scripts_get_the_same_facts() -> None:
    app = App(Settings(toolsets=TRAILS.toolsets))
    async with Client(build_server(app, structured=True)) as connected:

        async def facts(tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
            result = await connected.call_tool(tool, dict(arguments))
            assert not result.is_error, text_of(result)
            return json.loads(json.dumps(result.structured_content))

        (started,) = (await facts("start_trail", {"question": "Who?", "topic_entities": [VERMEER]}))["rows"]
        trail = started["trail"]
        await facts("search", {"entity": VERMEER, "direction": "outgoing", "trail": trail})
        (row,) = (await facts("check_answer", {"trail": trail, "answers": ["delft"]}))["rows"]
        assert (row["verdict"], row["triples"][0]["tail"]["id"]) == ("connected", "delft")
        step, check = (await facts("show_trail", {"trail": trail}))["rows"]
        assert (step["steps"], len(step["edges"]), step["edgesMore"]) == ("1", 10, 4)
        assert (check["steps"], len(check["edges"])) == ("2", 1)
