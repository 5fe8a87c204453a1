"""Worked examples in prompts: every table is a tool's own answer on the served graph."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from mcp import Client

from kgnav_mcp.config import TOOLSETS, Settings, load_settings
from kgnav_mcp.errors import ConfigurationError, StoreTimeout
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.sample_walks import Walk, worked_walks
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.render.text import count_tokens
from kgnav_mcp.server.worked_examples import TRAIL_SHOWN
from tests.server.clients import SPECS, client, text_of
from tests.server.test_prompts_resources import prompt

PROMPTS = ("search_on_graph", "graphwalker", "graphwalk", "graphrunner", "ark_v1")
EVERY = Settings(toolsets=tuple(TOOLSETS), shots=3)
CALL = re.compile(rf"({'|'.join(SPECS)})\(.*\)")


def examples_of(text: str) -> list[list[str]]:
    """The lines of each example in a prompt."""
    section = text.partition("Examples on this graph:")[2].partition("\n\nRules: ")[0]
    return [part.splitlines() for part in re.split(r"\n\nExample \d\n", section)[1:]]


def parsed(call: str) -> tuple[str, dict[str, Any]]:
    tree = ast.parse(re.sub(r"\b(true|false)\b", lambda found: found[0].title(), call), mode="eval").body
    assert isinstance(tree, ast.Call)
    assert isinstance(tree.func, ast.Name)
    return tree.func.id, {str(given.arg): ast.literal_eval(given.value) for given in tree.keywords}


async def answer_to(connected: Client, call: str, trail: str) -> str:
    tool, arguments = parsed(call.replace(TRAIL_SHOWN, trail))
    result = await connected.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def assert_calls_give_what_is_shown(connected: Client, lines: list[str]) -> None:
    """Every call of an example gives the lines that stand under it."""
    trail = ""
    places = [n for n, line in enumerate(lines) if CALL.fullmatch(line)]
    assert places
    for place, after in zip(places, [*(n - 1 for n in places[1:]), len(lines) - 2], strict=True):
        given = await answer_to(connected, lines[place], trail)
        if lines[place].startswith("start_trail("):
            trail = given.split()[1]
        shown = [line for line in lines[place + 1 : after] if not line.startswith("(left out here: ")]
        assert shown
        assert set(shown) <= set(given.replace(trail or "?", TRAIL_SHOWN if trail else "?").splitlines())
        assert not lines[place - 1].startswith(("(", "--")), "a sentence stands before each call"


@pytest.mark.parametrize("name", PROMPTS)
async def test_every_call_of_an_example_gives_the_lines_that_stand_under_it(name: str) -> None:
    examples = examples_of(await prompt(name, EVERY))
    assert len(examples) == 3
    async with client(EVERY) as connected:
        for lines in examples:
            await assert_calls_give_what_is_shown(connected, lines)


async def test_the_answer_of_an_example_has_every_row_of_its_last_relation() -> None:
    async with client(Settings(structured=True)) as connected:
        for lines in examples_of(await prompt("search_on_graph", EVERY)):
            _, arguments = parsed([line for line in lines if CALL.fullmatch(line)][-1])
            relation = lines[-2].split(" has exactly these rows")[0]
            result = await connected.call_tool("search", {**arguments, "properties_to_filter_for": [relation]})
            assert result.structured_content is not None
            labels = [row["value"]["label"] for row in result.structured_content["rows"]]
            assert lines[-1] == f"Final answer: {json.dumps(labels, ensure_ascii=False)}"


async def test_one_example_alone_passes_a_hub() -> None:
    settings = Settings(shots=1)
    ((*lines,),) = examples_of(await prompt("search_on_graph", settings))
    hub = next(n for n, line in enumerate(lines) if "too many neighbours to list (" in line)
    assert "property|propertyLabel|rows|examples" in lines[hub + 1 : hub + 3]
    filtered = next(line for line in lines[hub + 3 :] if line.startswith("search("))
    assert "properties_to_filter_for=" in filtered


async def test_no_shots_are_no_example_and_none_set_is_the_short_one() -> None:
    none = await prompt("search_on_graph", Settings(shots=0))
    assert "xample" not in none
    assert "\n\n\n" not in none
    assert "An example on this graph:" in await prompt("search_on_graph")


async def test_a_store_that_stops_to_answer_gives_fewer_examples_and_the_prompt_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def first_walk(graph: GraphAdapter, limits: Limits) -> AsyncGenerator[Walk]:
        async for walk in worked_walks(graph, limits):
            yield walk
            raise StoreTimeout(30)

    monkeypatch.setattr("kgnav_mcp.server.worked_examples.worked_walks", first_walk)
    text = await prompt("graphwalker", Settings(shots=3))
    assert len(examples_of(text)) == 1
    assert "\n\n1 of 3 examples: " in text
    assert StoreTimeout(30).message in text


async def test_a_time_out_bounds_all_examples_together() -> None:
    text = await prompt("graphwalker", Settings(shots=3, timeout=0.001))
    assert "0 of 3 examples: the store gave no more within 0.001 s." in text


async def test_examples_take_half_of_the_budget_at_most_and_say_how_many_fit() -> None:
    text = await prompt("search_on_graph", Settings(shots=5, budget=2000))
    examples = examples_of(text)
    assert 0 < len(examples) < 5
    assert f"{len(examples)} of 5 examples: half of the budget of 2,000 tokens is used up." in text
    assert count_tokens(text) <= 2000 + 400


async def test_the_handle_of_no_trail_is_in_an_example() -> None:
    text = await prompt("ark_v1", EVERY)
    assert TRAIL_SHOWN in text
    assert not re.search(r"trail-\w", text)


def test_shots_are_zero_to_five() -> None:
    assert load_settings({"shots": "2"}).shots == 2
    assert load_settings({}).shots is None
    for wrong in ("6", "-1", "many"):
        with pytest.raises(ConfigurationError, match="--shots"):
            load_settings({"shots": wrong})
