"""What clients write in place of leaving an argument out, or of a list, means what it means to them."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from kgnav_mcp.config import TOOLSETS, GraphSettings, Settings
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.trail_recorder import TRAIL
from tests.sampling import sampled_rows
from tests.server.clients import DEMO, SPECS, call, client, refused

TWO = Settings(graphs={name: GraphSettings(location="demo") for name in ("art", "more")}, toolsets=tuple(TOOLSETS))
"""Two graphs, so that every tool has the optional argument `graph`; and every toolset."""

TOOLS = [tool for name, tool in SPECS.items() if name != "start_trail"]
"""All tools but `start_trail`, which never answers the same twice."""
REQUIRED = {
    tool.name: {**tool.example, **({TRAIL: "trail-x"} if TRAIL in tool.arguments.model_fields else {})}
    for tool in TOOLS
}
"""A call of each tool; of those that work on a trail, with one that there is not."""

NOTHING: list[object] = ["", "  \n", None, [], [""], ["", "  "], [None], {}]
"""What strict function calling sends for an argument that says nothing."""


def optional(arguments: type[Arguments]) -> list[str]:
    return [*(name for name, field in arguments.model_fields.items() if not field.is_required()), "graph"]


OPTIONAL = [(tool.name, name) for tool in TOOLS for name in optional(tool.arguments)]


def test_every_tool_is_tried() -> None:
    assert {("find_node", "node_type"), ("find_node", "limit"), ("search", "question")} <= set(OPTIONAL)


@pytest.mark.parametrize(("tool", "name"), sampled_rows(OPTIONAL, 3))
async def test_an_optional_argument_that_says_nothing_is_left_out(tool: str, name: str) -> None:
    is_list = name == "properties_to_filter_for"
    nothing = NOTHING if is_list else NOTHING[:4]
    others = {other: value for other, value in REQUIRED[tool].items() if other != name}
    async with client(TWO) as connected:
        await connected.call_tool(tool, others)  # the first cell of a maze starts a trail, and says so
        left_out = await connected.call_tool(tool, others)
        for value in nothing:
            assert await connected.call_tool(tool, {**others, name: value}) == left_out, repr(value)


async def test_all_optional_arguments_at_once_say_nothing() -> None:
    async with client(TWO) as connected:
        for tool in TOOLS:
            left_out = await connected.call_tool(tool.name, REQUIRED[tool.name])
            for nothing in ("", None):
                given = {**dict.fromkeys(optional(tool.arguments), nothing), **REQUIRED[tool.name]}
                assert await connected.call_tool(tool.name, given) == left_out, (tool.name, nothing)


async def test_a_cursor_does_not_tell_left_out_from_empty() -> None:
    settings = Settings(row_limit=20)
    plain = {"entity": "the_netherlands", "direction": "outgoing", "properties_to_filter_for": ["contains"]}
    first = await call("search", plain, settings)
    cursor = first.partition('next: cursor "')[2].partition('"')[0]
    second = await call("search", {**plain, "cursor": cursor}, settings)
    for other in (
        {"question": ""},
        {"question": None},
        {"properties_to_filter_for": "contains"},
        {"properties_to_filter_for": '["contains"]'},
        {"properties_to_filter_for": ["contains", ""]},
    ):
        assert await call("search", {**plain, "cursor": cursor, **other}, settings) == second, other
    assert (await refused("search", {**plain, "cursor": cursor, "question": "which?"}, settings)).startswith("Invalid")


@pytest.mark.parametrize(
    "given", ["capital", ["capital"], '["capital"]', ' [ "capital" ] ', ["capital", ""], ["", None, "capital"]]
)
async def test_a_list_may_be_one_element_or_json_text(given: object) -> None:
    hub = {"entity": "the_netherlands", "direction": "outgoing"}
    meant = await call("search", {**hub, "properties_to_filter_for": ["capital"]})
    assert await call("search", {**hub, "properties_to_filter_for": given}) == meant
    triples = await call("get_triples", {"entity": "the_netherlands", "relations": ["capital"]})
    assert await call("get_triples", {"entity": "the_netherlands", "relations": given}) == triples


@pytest.mark.parametrize("limit", ["2", " 2 ", 2.0, "2.0"])
async def test_a_number_may_be_text(limit: object) -> None:
    hint = {"hint": "van Gogh"}
    assert await call("find_node", {**hint, "limit": limit}) == await call("find_node", {**hint, "limit": 2})


@pytest.mark.parametrize("value", ["null", "[1]", "{}", '{"a": 1}', "true", "1", '"x"'])
async def test_a_text_that_looks_like_json_is_a_text(value: str) -> None:
    arguments: dict[str, object] = {"label": "*", "property_name": "name", "property_value": value}
    assert (await call("get_node_by_property", arguments)).startswith("0 nodes")
    assert await call("think", {"thought": value}) == value
    assert "'zundert'" in await refused("get_triples", {"entity": "zundert", "relations": "{}"})


@pytest.mark.parametrize("nothing", ["", None, [], [""], "[]"])
async def test_a_list_that_a_tool_needs_may_not_be_empty(nothing: object) -> None:
    error = await refused("get_triples", {"entity": "zundert", "relations": nothing})
    assert error.startswith("Invalid call: 'relations' is ")


async def test_what_a_schema_allows_for_nothing_is_understood() -> None:
    """A client that checks its arguments against the published schema can always say nothing."""
    async with client(TWO) as connected:
        for tool in (await connected.list_tools()).tools:
            for name, schema in tool.input_schema["properties"].items():
                if name in tool.input_schema.get("required", ()):
                    continue
                allowed = [value for value in NOTHING if _is_valid(value, schema)]
                needed = schema.get("default") is not None  # a number or a name to choose: the default says nothing
                assert allowed or needed, (tool.name, name)
                on_trail = TRAIL in REQUIRED.get(tool.name, ())
                for value in allowed if tool.name in REQUIRED and not (on_trail and name == TRAIL) else ():
                    given = {**REQUIRED[tool.name], name: value}
                    result = await connected.call_tool(tool.name, given)
                    assert result.is_error is on_trail, (tool.name, name, value)


def _is_valid(value: Any, schema: dict[str, Any]) -> bool:
    try:
        jsonschema.validate(value, schema)
    except jsonschema.ValidationError:
        return False
    return True


async def test_empty_arguments_of_a_prompt_are_left_out() -> None:
    async with client(DEMO) as connected:
        plain = await connected.get_prompt("search_on_graph", {"question": "?"})
        assert await connected.get_prompt("search_on_graph", {"question": "?", "graph": " "}) == plain


@pytest.mark.parametrize("kind", ["Node", "NODE", "Relationship"])
async def test_the_entity_type_may_have_any_letter_case(kind: str) -> None:
    arguments: dict[str, object] = {"property_name": "born", "entity_name": "Painter"}
    if kind == "Relationship":
        arguments = {"property_name": "office", "entity_name": "ruler_of"}
    meant = await call("get_unique_property_values", {**arguments, "entity_type": kind.lower()})
    assert await call("get_unique_property_values", {**arguments, "entity_type": kind}) == meant
