"""No answer is over its budget, whatever is in the graph and whatever a caller writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from kgnav_mcp.config import TOOLSETS, GraphSettings, Settings
from kgnav_mcp.render.text import count_tokens
from tests.sampling import extended
from tests.server.clients import call, client, reading_examples, text_of
from tests.server.vast import LONG, VAST, WORDS, load_vast, text

BUDGETS = (500, 8000)
OWN_WORDS = 400
"""Tokens of a prompt's own words, which stand beside what the budget bounds."""

HUGE = text("quux ", 200_000)
LONG_HINT = text("quux", 1_000)
ANY = {"label": "*", "property_name": "id"}

ANSWERS: list[tuple[str, dict[str, object]]] = [
    *(("search", {"entity": name, "direction": "outgoing"}) for name in ("hub", "sole", "plain")),
    *(("search", {"entity": name, "direction": "incoming"}) for name in ("hub", "sole", "plain")),
    ("search", {"entity": "hub", "direction": "incoming", "question": "who likes it?"}),
    (
        "search",
        {"entity": "sole", "direction": "outgoing", "properties_to_filter_for": ["sees", "name", "description"]},
    ),
    *(("search", {"entity": ["hub", "sole", "plain"], "direction": side}) for side in ("outgoing", "incoming")),
    ("search", {"entity": ["hub", "sole", "plain"], "direction": "outgoing", "properties_to_filter_for": ["note"]}),
    ("get_relations", {"entity": ["hub", "sole", "plain"]}),
    ("get_triples", {"entity": ["hub", "sole", "plain"], "relations": ["knows", "name"]}),
    ("get_relations", {"entity": "hub"}),
    ("get_relations", {"entity": "plain", "question": "who knows it?"}),
    ("get_triples", {"entity": "hub", "relations": ["knows"]}),
    ("get_triples", {"entity": "hub", "relations": ["name", "note", "description"]}),
    *(("get_node_by_property", {"label": "*", "property_name": "number", "property_value": n}) for n in (1, 2, 4)),
    *(("get_all_nearest_neighbors", {**ANY, "property_value": name}) for name in ("hub", "sole", "plain")),
    *(
        ("get_unique_property_values", {"property_name": name, "entity_name": "*", "entity_type": "node"})
        for name in ("name", "note", "description")
    ),
    ("get_unique_property_values", {"property_name": "how", "entity_name": "*", "entity_type": "relationship"}),
    *(("find_node", {"hint": hint, "limit": 100}) for hint in ("hub", "plain", "all work", "id-id", "hud")),
    *(("describe_graph", {"name": name}) for name in ("Plain", "knows", "name", "")),
    ("run_plan", {"plan": "MATCH (a {id: 'hub'})-[r]-(b) RETURN a, collect(b) AS far, collect(r.how) AS how"}),
    ("run_plan", {"plan": "MATCH (a {id: 'hub'})-[r]-(b) RETURN r, a.name", "proof": True}),
    ("think", {"thought": text(WORDS, LONG)}),
    ("think", {"thought": HUGE}),
]

MISTAKES: list[tuple[str, dict[str, object]]] = [
    ("search", {"entity": "hub", "direction": "outgoing", "properties_to_filter_for": ["nope"]}),
    ("get_triples", {"entity": "plain", "relations": ["know"]}),
    ("search", {"entity": HUGE, "direction": "outgoing"}),
    ("search", {"entity": LONG_HINT, "direction": "outgoing"}),
    ("search", {"entity": ["hub", HUGE], "direction": "outgoing"}),
    ("search", {"entity": [f"{LONG_HINT} {n}" for n in range(100)], "direction": "outgoing"}),
    ("search", {"entity": ["hub"] * 1_001, "direction": "outgoing"}),
    ("search", {"entity": "hub", "direction": "outgoing", "properties_to_filter_for": [HUGE]}),
    ("search", {"entity": "hub", "direction": "outgoing", "properties_to_filter_for": HUGE}),
    ("search", {"entity": "hub", "direction": "outgoing", "properties_to_filter_for": ["x"] * 100_000}),
    ("search", {"entity": "hub", "direction": "outgoing", "cursor": HUGE}),
    ("search", {"entity": "hub", "direction": HUGE}),
    ("search", {"entity": "hub", "direction": "outgoing", HUGE: 1}),
    ("search", {"entity": "hub", "direction": "outgoing", **{f"{n}": 1 for n in range(10_000)}}),
    ("get_relations", {"entity": "hub", "question": HUGE}),
    ("get_node_by_property", {"label": HUGE, "property_name": "number", "property_value": 1}),
    ("get_node_by_property", {"label": LONG_HINT, "property_name": "number", "property_value": 1}),
    ("get_node_by_property", {"label": "*", "property_name": HUGE, "property_value": 1}),
    ("get_node_by_property", {"label": "*", "property_name": LONG_HINT, "property_value": 1}),
    ("find_node", {"hint": HUGE}),
    ("find_node", {"hint": "x", "node_type": HUGE}),
    ("describe_graph", {"name": LONG_HINT}),
]
"""Calls that fail, and what a caller wrote in them."""

NONE_THERE: list[tuple[str, dict[str, object]]] = [
    ("find_node", {"hint": LONG_HINT}),
    ("get_node_by_property", {"label": "Plain", "property_name": "number", "property_value": LONG_HINT}),
    ("get_all_nearest_neighbors", {**ANY, "property_value": LONG_HINT}),
]


@pytest.fixture(scope="module")
def vast(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return load_vast(tmp_path_factory.mktemp("vast"))


def settings(file: Path, budget: int, *, structured: bool = False) -> Settings:
    graphs = {"vast": GraphSettings(location=str(file))}
    return Settings(graphs=graphs, budget=budget, structured=structured)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "structured"),
    [
        (500, True),
        (8000, False),
        *(pytest.param(*each, marks=pytest.mark.extended) for each in ((500, False), (8000, True))),
    ],
)
async def test_no_answer_is_over_the_budget_whatever_is_in_the_graph(budget: int, structured: bool, vast: Path) -> None:
    async with client(settings(vast, budget, structured=structured)) as connected:
        schemas = {tool.name: tool.output_schema for tool in (await connected.list_tools()).tools}
        for tool, arguments in ANSWERS:
            result = await connected.call_tool(tool, arguments)
            shown_call = (tool, str(arguments)[:200])
            assert not result.is_error, (shown_call, text_of(result))
            sent = json.dumps(result.structured_content, ensure_ascii=False) if structured else ""
            assert count_tokens(text_of(result)) + count_tokens(sent) <= budget, shown_call
            if structured:
                validator: Any = Draft202012Validator(schemas[tool] or {})
                validator.validate(result.structured_content)


@pytest.mark.parametrize(("tool", "arguments"), reading_examples().items(), ids=reading_examples())
async def test_no_tool_is_over_a_small_budget(tool: str, arguments: dict[str, object]) -> None:
    text = await call(tool, arguments, Settings(budget=BUDGETS[0], toolsets=tuple(TOOLSETS)))
    assert count_tokens(text) <= BUDGETS[0]


@pytest.mark.slow
@pytest.mark.parametrize("budget", [BUDGETS[0], extended(BUDGETS[1])])
async def test_no_error_is_over_the_budget_nor_repeats_more_than_a_little_of_the_call(budget: int, vast: Path) -> None:
    async with client(settings(vast, budget)) as connected:
        for tool, arguments in (*MISTAKES, *NONE_THERE):
            result = await connected.call_tool(tool, arguments)
            shown_call = (tool[:50], str(arguments)[:200])
            assert result.is_error is ((tool, arguments) in MISTAKES), (shown_call, text_of(result)[:500])
            assert not text_of(result).startswith("Error executing"), shown_call
            assert count_tokens(text_of(result)) <= budget, shown_call
            for echo in (text("quux ", 250), text("quux", 250)):
                assert echo not in text_of(result), shown_call


@pytest.mark.parametrize("budget", BUDGETS)
async def test_no_resource_prompt_or_completion_is_over_the_budget(budget: int, vast: Path) -> None:
    async with client(settings(vast, budget)) as connected:
        parts = ("schema", "schema/Plain", "schema/knows", "entity/hub", "entity/sole", "entity/plain")
        for uri in ("kg://graphs", *(f"kg://vast/{part}" for part in parts)):
            (content,) = (await connected.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            assert count_tokens(content.text) <= budget, uri
        for name in ("search_on_graph", "graphwalker", "graphwalk"):
            (message,) = (await connected.get_prompt(name, {"question": "?" * (budget // 2)})).messages
            assert isinstance(message.content, TextContent)
            assert count_tokens(message.content.text) <= budget + OWN_WORDS, name
        for template, argument, typed in (
            ("kg://{graph}/schema/{name}", "name", ""),
            ("kg://{graph}/entity/{id}", "id", "a"),
            ("kg://{graph}/entity/{id}", "id", ""),
        ):
            reference = ResourceTemplateReference(uri=template)
            found = await connected.complete(reference, {"name": argument, "value": typed}, {"graph": "vast"})
            assert count_tokens("\n".join(found.completion.values)) <= budget, template


async def test_what_is_asked_of_prompts_and_resources_is_not_repeated_at_length(vast: Path) -> None:
    async with client(settings(vast, 8000)) as connected:
        for failing in (
            connected.get_prompt("search_on_graph", {"question": HUGE}),
            connected.get_prompt("search_on_graph", {"question": "?", "graph": HUGE}),
            connected.get_prompt("search_on_graph", {"question": "?", HUGE: "x"}),
            connected.call_tool(HUGE, {}),
            connected.get_prompt(HUGE, {"question": "?"}),
            connected.read_resource(f"kg://vast/entity/{quote(HUGE)}"),
            connected.read_resource(f"kg://vast/entity/{LONG_HINT}"),
            connected.read_resource(f"kg://vast/schema/{LONG_HINT}"),
        ):
            with pytest.raises(MCPError) as refused:
                await failing
            assert len(refused.value.error.message) < 3_000
        await _completed(connected)


async def _completed(connected: Client) -> None:
    reference = PromptReference(name="search_on_graph")
    found = await connected.complete(reference, {"name": "graph", "value": HUGE})
    assert found.completion.values == []


async def test_an_id_that_is_too_long_is_said_to_be_so_and_in_no_example(vast: Path) -> None:
    async with client(settings(vast, 8000)) as connected:
        result = await connected.call_tool("search", {"entity": "plain", "direction": "outgoing"})
    assert "... (an id of 100,000 characters, too long to be shown)" in text_of(result)
    async with client(settings(vast, 8000)) as connected:
        arguments = {"label": "*", "property_name": "number", "property_value": 4}
        found = text_of(await connected.call_tool("get_node_by_property", arguments))
    assert "too long to be shown" in found
    assert "Next: search" not in found


async def test_a_name_is_clipped_with_its_length(vast: Path) -> None:
    async with client(settings(vast, 8000)) as connected:
        for tool, arguments in (
            ("get_triples", {"entity": "hub", "relations": ["name"]}),
            ("get_node_by_property", {"label": "*", "property_name": "number", "property_value": 1}),
            ("find_node", {"hint": "hub"}),
        ):
            answer = text_of(await connected.call_tool(tool, arguments))
            assert f"... ({VAST:,} characters)" in answer, tool
