"""What every client is sent before the first call: small enough, plain enough and complete enough for all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp_types import Tool

from kgnav_mcp.config import TOOLSETS, GraphSettings, Settings
from kgnav_mcp.render.text import count_tokens
from kgnav_mcp.server.toolsets import DEFINITIONS_LIMIT, TEXTS_LIMIT
from tests.server.clients import client

DEVELOPMENT = Path(__file__).parents[2] / "CONTRIBUTING.md"

ONE = Settings(graphs={"films": GraphSettings(location="missing.kg")})
MANY = Settings(graphs={f"graph-{number}": GraphSettings(location="missing.kg") for number in range(20)})

CONFIGURATIONS = {
    "one graph": ONE,
    "twenty graphs": MANY,
    "structured": ONE.model_copy(update={"structured": True}),
    "one toolset": ONE.model_copy(update={"toolsets": ("sog",)}),
}

INSTRUCTIONS = 2_000
"""Claude Code cuts instructions at 2 KB."""

DESCRIPTION = 1_000
LANGUAGE = 2_500
"""Characters of the description of `run_plan`, which teaches three spellings."""


@pytest.fixture(params=list(CONFIGURATIONS))
def settings(request: pytest.FixtureRequest) -> Settings:
    return CONFIGURATIONS[str(request.param)]


async def tools_of(settings: Settings) -> list[Tool]:
    async with client(settings) as connected:
        return (await connected.list_tools()).tools


def nested(schema: Any) -> list[dict[str, Any]]:
    """The schema and every schema within it."""
    if isinstance(schema, list):
        return [found for part in schema for found in nested(part)]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return []
    return [schema, *(found for part in schema.values() for found in nested(part))]  # pyright: ignore[reportUnknownVariableType]


async def test_every_tool_has_a_title_and_says_that_it_only_reads(settings: Settings) -> None:
    for tool in await tools_of(settings):
        assert tool.title, tool.name
        assert tool.annotations is not None, tool.name
        assert tool.annotations.title == tool.title
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.idempotent_hint is True
        assert tool.annotations.open_world_hint is False


async def test_tool_names_fit_every_client(settings: Settings) -> None:
    for tool in await tools_of(settings):
        assert re.fullmatch(r"[a-z0-9_]{1,30}", tool.name)


async def test_descriptions_are_short_and_say_more_than_the_name(settings: Settings) -> None:
    for tool in await tools_of(settings):
        assert tool.description, tool.name
        assert 60 < len(tool.description) < (LANGUAGE if tool.name == "run_plan" else DESCRIPTION), tool.name


async def test_every_argument_is_described(settings: Settings) -> None:
    for tool in await tools_of(settings):
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), f"{tool.name}.{name}"


async def test_input_schemas_are_plain_objects_that_refuse_what_they_do_not_name(settings: Settings) -> None:
    for tool in await tools_of(settings):
        schema = tool.input_schema
        assert schema["type"] == "object", tool.name
        assert schema["additionalProperties"] is False, tool.name
        assert not {"oneOf", "anyOf", "allOf", "not", "$ref"} & set(schema), tool.name
        assert set(schema.get("required", [])) <= set(schema["properties"]), tool.name
        # Some clients do not follow references.
        assert not any("$ref" in part for part in nested(schema)), tool.name


async def test_every_schema_has_one_type_or_says_what_else_it_accepts() -> None:
    """The strict lint of the MCP inspector, and more: clients that know no list of types drop the constraint."""
    every_tool = ONE.model_copy(update={"toolsets": tuple(TOOLSETS), "structured": True})
    for settings in (every_tool, every_tool.model_copy(update={"graphs": MANY.graphs})):
        for tool in await tools_of(settings):
            Draft202012Validator.check_schema(tool.input_schema)
            for place, schema in (*_schemas(tool.input_schema, "input"), *_schemas(tool.output_schema, "output")):
                _check_schema(f"{tool.name}: {place}", schema)


def _schemas(parts: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The schema with these parts and all schemas within it, with their places."""
    yield place, parts
    if isinstance(parts, bool):
        return
    for keyword in ("properties", "$defs", "patternProperties"):
        for name, part in parts.get(keyword, {}).items():
            yield from _schemas(part, f"{place}.{name}")
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, part in enumerate(parts.get(keyword, ())):
            yield from _schemas(part, f"{place}.{keyword}[{number}]")
    for keyword in ("items", "not", "additionalProperties"):
        if keyword in parts and (keyword, parts[keyword]) != ("additionalProperties", False):
            yield from _schemas(parts[keyword], f"{place}.{keyword}")


def _check_schema(place: str, schema: Any) -> None:
    assert schema not in (True, False), f"{place} is {schema}"
    assert len({"type", "anyOf", "$ref"} & set(schema)) == 1, f"{place} has no type, or two"
    assert isinstance(schema.get("type", ""), str), f"{place} has the types {schema['type']}"
    assert str(schema.get("$ref", "#")).startswith("#"), f"{place} refers to another document"
    assert schema.get("type") != "array" or {"items", "prefixItems"} & set(schema), (
        f"{place} has no type of its elements"
    )


async def test_all_definitions_together_cost_less_than_one_answer_may() -> None:
    tools = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in await tools_of(ONE)]
    definitions = json.dumps(tools, separators=(",", ":"))
    assert len(definitions) <= DEFINITIONS_LIMIT
    assert count_tokens(definitions) * DEFINITIONS_LIMIT / len(definitions) < ONE.budget
    texts = [(tool.get("description", ""), json.dumps(tool["inputSchema"], separators=(",", ":"))) for tool in tools]
    assert sum(len(text) for pair in texts for text in pair) <= TEXTS_LIMIT
    documented = DEVELOPMENT.read_text(encoding="utf-8")
    assert f"{DEFINITIONS_LIMIT:,} characters" in documented
    assert f"at most {TEXTS_LIMIT:,}" in documented


async def test_instructions_are_short_and_begin_with_what_this_is_for(settings: Settings) -> None:
    async with client(settings) as connected:
        instructions = connected.instructions
    assert instructions is not None
    assert len(instructions.encode()) < INSTRUCTIONS
    assert instructions.startswith("Walk a knowledge graph")


async def test_instructions_speak_only_of_tools_that_are_there(settings: Settings) -> None:
    every = {tool.name for tool in await tools_of(ONE)} - {"search", "think"}
    offered = {tool.name for tool in await tools_of(settings)}
    async with client(settings) as connected:
        named = {name for name in every if name in (connected.instructions or "")}
    assert named <= offered


async def test_a_tool_says_how_its_structure_looks_where_it_gives_one() -> None:
    structured = CONFIGURATIONS["structured"]
    assert all(tool.output_schema for tool in await tools_of(structured))
    assert not any(tool.output_schema for tool in await tools_of(ONE))


async def test_prompts_and_resources_are_described_too(settings: Settings) -> None:
    async with client(settings) as connected:
        prompts = (await connected.list_prompts()).prompts
        resources = (await connected.list_resources()).resources
        templates = (await connected.list_resource_templates()).resource_templates
    for listed in (*prompts, *resources, *templates):
        assert listed.title, listed.name
        assert listed.description, listed.name
    for prompt in prompts:
        assert all(argument.description for argument in prompt.arguments or []), prompt.name
    assert all(resource.mime_type for resource in (*resources, *templates))
