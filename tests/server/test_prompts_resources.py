"""Prompts, resources and completions speak of the served graph."""

from __future__ import annotations

import csv
import logging
import re
from importlib.resources import files
from urllib.parse import quote

import pytest
from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from kgnav_mcp.config import GraphSettings, Settings
from tests.server.clients import DEMO, call, client

PROMPTS = ("search_on_graph", "graphwalker", "graphwalk")


async def prompt(name: str, settings: Settings = DEMO, question: str = "?") -> str:
    async with client(settings) as connected:
        (message,) = (await connected.get_prompt(name, {"question": question})).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


async def resource(uri: str, settings: Settings = DEMO) -> str:
    async with client(settings) as connected:
        (content,) = (await connected.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "text/markdown"
    return content.text


@pytest.mark.parametrize("name", PROMPTS)
async def test_a_prompt_holds_question_schema_and_an_example_of_this_graph(name: str) -> None:
    text = await prompt(name, question="Who painted Guernica?")
    assert text.endswith("Question: Who painted Guernica?")
    assert "graph demo: " in text
    assert "An example on this graph:" in text


async def test_the_example_of_a_prompt_is_a_walk_that_works() -> None:
    text = await prompt("search_on_graph")
    calls = [line for line in text.splitlines() if line.startswith("search(entity=")]
    shown = [line.strip() for line in text.splitlines() if line.startswith("  shows ")]
    assert len(calls) == len(shown) == 2
    for line, step in zip(calls, shown, strict=True):
        entity = line.split('"')[1]
        relation, _, far = step.removeprefix("shows ").partition(" -> ")
        far_id = far.rpartition("(")[2].rstrip(")") if far.endswith(")") else far
        arguments = {"entity": entity, "direction": "outgoing", "properties_to_filter_for": [relation]}
        assert f"|{far_id}|" in await call("search", arguments)


def _properties_in_files(folder: str, owner: str) -> dict[str, set[str]]:
    """For each label or relation, the properties of which the demo's CSV files have a value."""
    found: dict[str, set[str]] = {}
    for path in sorted((files("kgnav_mcp") / "demo" / folder).iterdir(), key=str):
        for row in csv.DictReader(path.read_text("utf-8").splitlines()):
            columns = {re.split("[:@]", name)[0] for name, value in row.items() if value and not name.startswith(":")}
            for each in row[owner].split(";"):
                found.setdefault(each, set()).update(columns)
    return found


async def test_a_prompt_says_which_label_and_which_relation_has_which_properties() -> None:
    text = await prompt("graphwalk")
    schema = text[text.index("The graph:") : text.index("An example")]
    tables = [part.splitlines() for part in schema.split("\n\n")]
    labels, relations = ([line.split("|") for line in table[3:] if "|" in line] for table in tables[1:3])
    expected = _properties_in_files("nodes", ":LABEL")
    assert {row[0]: set(row[3].split(", ")) for row in labels} == expected
    expected = _properties_in_files("edges", ":TYPE")
    listed = {row[0]: set(re.sub(r" \(\w+\)", "", row[3]).split(", ")) - {""} for row in relations}
    assert len(listed) > 25
    assert listed == {relation: expected[relation] for relation in listed}


async def test_prompts_belong_to_their_toolsets() -> None:
    async with client(Settings(toolsets=("sog", "linking"))) as connected:
        assert [prompt.name for prompt in (await connected.list_prompts()).prompts] == ["search_on_graph"]
        assert [tool.name for tool in (await connected.list_tools()).tools] == ["find_node", "describe_graph", "search"]


async def test_a_prompt_on_an_unreadable_graph_says_what_is_wrong() -> None:
    settings = Settings(graphs={"gone": GraphSettings(location="nowhere/gone.kg")})
    text = await prompt("search_on_graph", settings)
    assert "The graph cannot be read now." in text
    assert "Store down" in text


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        (
            "search_on_graph",
            {"question": "?", "graph": "films"},
            "Not found: unknown graph 'films'.\nNext: Use one",
        ),
        ("search_on_graph", {}, "Invalid call: the prompt search_on_graph needs the argument 'question'."),
        ("search_on_graph", {"question": "?", "grph": "demo"}, "Invalid call: search_on_graph has no argument 'grph'"),
        (
            "search_on_graph",
            {"question": "?" * 4001},
            "Invalid call: the question has 4,001 characters; the limit is 4,000",
        ),
        ("walk", {"question": "?"}, "Not found: unknown prompt 'walk'. The prompts are: search_on_graph, graphwalker"),
    ],
)
async def test_a_prompt_that_cannot_be_is_an_error_of_the_protocol_and_no_traceback(
    name: str, arguments: dict[str, str], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with client() as connected:
        with pytest.raises(MCPError, match=f"^{re.escape(words)}") as caught:
            await connected.get_prompt(name, arguments)
    assert caught.value.error.code == INVALID_PARAMS
    assert [record for record in caplog.records if record.levelno >= logging.WARNING or record.exc_info] == []


async def test_resource_names_are_names() -> None:
    async with client() as connected:
        resources = (await connected.list_resources()).resources
        templates = (await connected.list_resource_templates()).resource_templates
    assert [listed.name for listed in (*resources, *templates)] == ["graphs", "schema", "schema_part", "entity"]


async def test_the_graphs_are_listed_without_secrets() -> None:
    settings = Settings(graphs={"shop": GraphSettings(location="bolt://user:secret@localhost:7687")})
    text = await resource("kg://graphs", settings)
    assert "shop|bolt://localhost:7687|kg://shop/schema" in text
    assert "secret" not in text


async def test_a_schema_and_a_part_of_it_can_be_read() -> None:
    assert (await resource("kg://demo/schema")).startswith("graph demo: 639 entities")
    assert "born_in" in await resource("kg://demo/schema/Painter")


async def test_an_entity_is_read_in_both_directions() -> None:
    text = await resource("kg://demo/entity/zundert")
    assert text.startswith("outgoing: ")
    assert "born_in|born in|vincent_van_gogh|Vincent van Gogh" in text.partition("incoming: ")[2]


async def test_an_id_with_slashes_and_spaces_is_an_id_and_no_path() -> None:
    uri = f"kg://demo/entity/{quote('http://x.org/a b/../c', safe='')}"
    async with client() as connected:
        with pytest.raises(MCPError, match=re.escape("no entity has the id or name 'http://x.org/a b/../c'")):
            await connected.read_resource(uri)


async def test_a_cursor_of_a_resource_goes_on_with_the_tool() -> None:
    settings = Settings(hub_threshold=1000, budget=600)
    text = await resource("kg://demo/entity/the_netherlands", settings)
    cursor = text.partition('next: cursor "')[2].partition('"')[0]
    arguments = {"entity": "the_netherlands", "direction": "outgoing", "cursor": cursor}
    assert (await call("search", arguments, settings)).startswith("showing rows ")


@pytest.mark.parametrize(
    ("template", "argument", "typed", "expected"),
    [
        ("kg://{graph}/schema", "graph", "de", "demo"),
        ("kg://{graph}/schema/{name}", "name", "paint", "Painter"),
        ("kg://{graph}/schema/{name}", "name", "born_", "born_in"),
        ("kg://{graph}/entity/{id}", "id", "Vincent van G", "vincent_van_gogh"),
    ],
)
async def test_graphs_labels_relations_and_entities_are_completed(
    template: str, argument: str, typed: str, expected: str
) -> None:
    reference = ResourceTemplateReference(uri=template)
    async with client() as connected:
        found = await connected.complete(reference, {"name": argument, "value": typed}, {"graph": "demo"})
    assert expected in found.completion.values


async def test_the_graph_of_a_prompt_is_completed() -> None:
    reference = PromptReference(name="search_on_graph")
    async with client() as connected:
        found = await connected.complete(reference, {"name": "graph", "value": ""})
    assert found.completion.values == ["demo"]
