"""ARK-V1's steps through a client: kept on the trail, told as one summary, connected at the end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import CallToolResult

from kgnav_mcp.config import Settings, describe_settings
from kgnav_mcp.config.settings import TrailSettings
from tests.server.clients import client, text_of

ARK = Settings(toolsets=("ark",), trail=TrailSettings(steps=2, retries=2))
BORN = {
    "anchor": "Claude Monet",
    "relation": "born in",
    "triples": [["Claude Monet", "born_in", "Paris", {"date": "1840-11-14"}]],
    "inference": "He is from Paris.",
}
COUNTRY = {
    "anchor": "paris",
    "relation": "country",
    "triples": ["paris", "country", "france"],
    "inference": "In France.",
}


async def begun(connected: Client) -> str:
    """The handle of a new trail."""
    arguments = {"question": "Which country is Monet from?", "topic_entities": ["claude_monet"]}
    answer = text_of(await connected.call_tool("start_trail", arguments))
    return answer.split()[1]


async def test_steps_are_told_as_one_summary_that_a_client_can_go_on_with_alone() -> None:
    async with client(ARK) as connected:
        trail = await begun(connected)
        first = text_of(await connected.call_tool("add_step", {"trail": trail, **BORN}))
        assert first.splitlines()[:3] == ["1 step", "Question: Which country is Monet from?", f"Trail: {trail}"]
        assert "1 of 2 steps left. Next: add_step" in first
        second = text_of(await connected.call_tool("add_step", {"trail": trail, **COUNTRY, "done": True}))
        assert "1|claude_monet|Claude Monet|born_in|" in second
        assert "[Claude Monet (claude_monet), born_in, Paris (paris)] (date: 1840-11-14)|He is from Paris." in second
        assert "2|paris|Paris|country|[Paris (paris), country, France (france)]|In France." in second
        assert second.endswith("Reasoning is done. Next: check_answer(trail, answers).")
        proof = text_of(await connected.call_tool("check_answer", {"trail": trail, "answers": ["France"]}))
        assert "France|connected|" in proof


async def test_a_refused_step_is_kept_as_one_that_failed_and_shows_nothing() -> None:
    async with client(ARK) as connected:
        trail = await begun(connected)
        wrong = {**BORN, "triples": [["claude_monet", "born_in", "london"]]}
        for advice in ("Next: Cite triples", "Next: 2 steps in a row were refused"):
            result = await connected.call_tool("add_step", {"trail": trail, **wrong})
            assert result.is_error
            assert "It has: [Claude Monet (claude_monet), born_in, Paris (paris)] (date: 1840-11-14)" in text_of(result)
            assert advice in text_of(result)
        assert "2|add_step(" in text_of(await connected.call_tool("show_trail", {"trail": trail}))
        proof = text_of(await connected.call_tool("check_answer", {"trail": trail, "answers": ["paris"]}))
        assert "paris|never seen" in proof


@pytest.mark.parametrize(
    "triple",
    [
        ["a", "b"],
        ["a", "b", "c", {}, {}],
        ["a", "b", None],
        ["a", "b", {}],
        ["a", "b", "c", "since"],
        ["a", "b", "c" * 9_000],
    ],
)
async def test_what_is_no_triple_is_refused_with_how_one_is_written(triple: list[object]) -> None:
    async with client(ARK) as connected:
        arguments = {"trail": await begun(connected), **BORN, "triples": [*BORN["triples"], triple]}
        result = await connected.call_tool("add_step", arguments)
        assert result.is_error
        assert text_of(result).startswith(
            'Invalid call: cited triple 2 is not a list of head, relation and tail.\nNext: Write ["head"'
        )


async def test_of_two_steps_at_once_a_trail_takes_only_as_many_as_it_may() -> None:
    async with client(ARK) as connected:
        trail = await begun(connected)
        results: list[CallToolResult] = []

        async def add() -> None:
            results.append(await connected.call_tool("add_step", {"trail": trail, **BORN}))

        async with asyncio.TaskGroup() as tasks:
            for _ in range(6):
                tasks.create_task(add())
    assert [result.is_error for result in results].count(False) == 2


async def test_a_blank_handle_is_an_unknown_trail() -> None:
    async with client(ARK) as connected:
        result = await connected.call_tool("add_step", {"trail": " ", **BORN})
        assert result.is_error
        assert "no trail has the handle" in text_of(result)


async def test_that_the_limits_of_steps_are_not_the_papers_is_said_where_they_are_named() -> None:
    async with client(ARK) as connected:
        (tool,) = [tool for tool in (await connected.list_tools()).tools if tool.name == "add_step"]
    assert "This server limits the steps and the refusals in a row; ARK-V1 gives no numbers." in (
        tool.description or ""
    )
    meanings = {facts.key: (facts.default, facts.meaning) for facts in describe_settings()}
    page = (Path(__file__).parents[2] / "docs" / "trails.md").read_text(encoding="utf-8")
    for key, limit in (("trail.steps", "K_max"), ("trail.retries", "C_max")):
        default, meaning = meanings[key]
        assert meaning.startswith(f"{limit}: ")
        assert "ARK-V1 gives no number" in meaning
        assert f"{default} {'steps' if limit == 'K_max' else 'refusals'}" in page
    assert "ARK-V1 has both limits, K_max and C_max, but gives no numbers; these are this project's" in " ".join(
        page.split()
    )
