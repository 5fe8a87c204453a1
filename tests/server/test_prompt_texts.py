"""Texts of prompts: a researcher's own in place of this project's, with the same placeholders."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client, MCPError
from mcp_types import TextContent

from kgnav_mcp.app import App
from kgnav_mcp.config import Settings, load_settings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.server import build_server
from kgnav_mcp.server.prompts import PLACEHOLDERS
from tests.server.clients import client
from tests.server.processes import on_http, on_stdio

TOOLS_PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def folder(tmp_path: Path, **texts: str) -> Path:
    """A folder with these texts: `__` in a name stands for the dot."""
    for name, text in texts.items():
        (tmp_path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return tmp_path


async def prompt(settings: Settings, name: str = "search_on_graph", **arguments: str) -> str:
    async with client(settings) as connected:
        return await text_of(connected, name, **arguments)


async def text_of(connected: Client, name: str = "search_on_graph", **arguments: str) -> str:
    (message,) = (await connected.get_prompt(name, {"question": "Who?", **arguments})).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


async def test_a_text_of_the_folder_replaces_the_prompt_of_its_name_alone(tmp_path: Path) -> None:
    texts = folder(tmp_path, search_on_graph__md="S {schema} E {examples} T {topic_entities} Q {question} .\n")
    settings = Settings(prompts=str(texts))
    ours = await prompt(Settings())
    text = await prompt(settings, topic_entities="Vincent van Gogh")
    graph = ours[ours.index("The graph:\n") : ours.index("\n\nAn example on this graph:")]
    example = ours[ours.index("An example on this graph:") : ours.index("\n\nRules: ")]
    assert text == f"S {graph} E {example} T Vincent van Gogh (vincent_van_gogh) Q Who? ."
    assert await prompt(settings, "graphwalker") == await prompt(Settings(), "graphwalker")


async def test_braces_that_are_no_placeholder_stay_and_the_question_is_at_the_end_of_a_text_without_it(
    tmp_path: Path,
) -> None:
    written = 'Final answer: {Europe}. {"id": {"a": 1}} {{question}} {{1889}} {}'
    settings = Settings(prompts=str(folder(tmp_path, search_on_graph__txt=written)))
    expected = 'Final answer: {Europe}. {"id": {"a": 1}} {question} {{1889}} {}\n\nQuestion: Who? {schema}'
    assert await prompt(settings, question="Who? {schema}") == expected


async def test_topic_entities_are_shown_with_ids_and_a_wrong_one_is_refused_with_the_nearest(tmp_path: Path) -> None:
    settings = Settings(prompts=str(folder(tmp_path, graphwalk__md="{topic_entities} at {system_time}")))
    both = "Vincent van Gogh (vincent_van_gogh), Zundert (zundert) at 2"
    for given in ("Vincent van Gogh, zundert", '["Vincent van Gogh", "zundert"]'):
        assert (await prompt(settings, "graphwalk", topic_entities=given)).startswith(both)
        assert "\nTopic entities: Vincent van Gogh (vincent_van_gogh), Zundert (zundert)\nQuestion: Who?" in (
            "\n" + await prompt(Settings(), topic_entities=given)
        )
    assert (await prompt(settings, "graphwalk")).startswith("none given at 2")
    async with client(settings) as connected:
        with pytest.raises(MCPError, match="no entity has the id or name 'vincent_van_gog'") as refused:
            await text_of(connected, "graphwalk", topic_entities="vincent_van_gog")
    assert "Nearest: Vincent van Gogh (vincent_van_gogh)" in refused.value.error.message


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("search_on_grph__md", "x", "search_on_grph.md is not named after a prompt; the nearest is search_on_graph.md"),
        ("search_on_graph__doc", "x", "search_on_graph.doc is not named after a prompt"),
        ("search_on_graph__md", "{graph_schema}", "the unknown placeholder {graph_schema}; the nearest is {schema}"),
        ("search_on_graph__md", "{initial_entities}", "{initial_entities}; the nearest is {topic_entities}"),
        ("search_on_graph__md", " \n", "search_on_graph.md is empty"),
    ],
)
def test_a_text_that_would_not_be_used_as_it_is_meant_is_refused_at_start(
    file: str, text: str, words: str, tmp_path: Path
) -> None:
    settings = Settings(prompts=str(folder(tmp_path, **{file: text})))
    with pytest.raises(ConfigurationError) as refused:
        build_server(App(settings))
    assert words in refused.value.message
    assert len(f"{refused.value.message} {refused.value.next_step}") <= 400 + len(str(tmp_path))


def test_two_texts_of_one_prompt_a_missing_folder_and_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    two = folder(tmp_path, ark_v1__md="a", ark_v1__txt="b")
    with pytest.raises(ConfigurationError, match="the prompt ark_v1 has two files"):
        build_server(App(Settings(prompts=str(two))))
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        build_server(App(Settings(prompts=str(tmp_path / "none"))))
    (tmp_path / "ark_v1.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        build_server(App(Settings(prompts=str(two))))


def test_a_folder_in_the_configuration_file_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "kgnav.toml").write_text('prompts = "texts"\n', encoding="utf-8")
    assert load_settings({}, config_file=tmp_path / "kgnav.toml").prompts == str(tmp_path / "texts")


@pytest.mark.slow
async def test_the_texts_are_served_over_stdio_and_over_http(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    flags = ("--graph", "demo", "--prompts", str(folder(texts, search_on_graph__md="Mine: {question}")))
    async with Client(on_stdio(tmp_path, *flags)) as connected:
        assert await text_of(connected) == "Mine: Who?"
    with on_http(tmp_path, *flags) as server:
        for url in (server.url, f"{server.url}/structured"):
            async with Client(url) as connected:
                assert await text_of(connected) == "Mine: Who?"


def test_every_placeholder_is_documented() -> None:
    page = TOOLS_PAGE.read_text(encoding="utf-8")
    assert all(f"`{{{name}}}`" in page for name in PLACEHOLDERS)


async def test_no_prompt_limits_the_hops_of_a_walk() -> None:
    assert "hops" not in (await prompt(Settings(), "graphwalker")).partition("The graph:")[0]
