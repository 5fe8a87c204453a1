"""Which ranker answers is a setting, and only the chosen one costs anything."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from mcp import Client
from pydantic import SecretStr

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, LlmSettings, Settings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.navigation.relation_lists import bm25
from tests.contract import toy
from tests.rankers.stub_endpoint import KEY, StubEndpoint
from tests.server.clients import call, client, text_of

_IMPORTED = """
import json, sys
from kgnav_mcp.app import App
from kgnav_mcp.config import Settings
App(Settings())
print(json.dumps(sorted(sys.modules)))
"""


def test_bm25_ranks_unless_another_is_chosen() -> None:
    assert App(Settings()).ranker is bm25


def test_a_ranker_that_was_not_chosen_is_not_imported() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORTED], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"numpy", "onnx", "onnxruntime", "tokenizers", "httpx2"}
    assert not [name for name in loaded if name.startswith("kgnav_mcp.rankers.")]


@pytest.mark.parametrize("missing", ["base_url", "model"])
def test_a_language_model_needs_an_address_and_a_name(missing: str) -> None:
    llm = LlmSettings(base_url="http://127.0.0.1:9/v1", model="stub").model_copy(update={missing: ""})
    with pytest.raises(ConfigurationError) as caught:
        App(Settings(ranker="llm", llm=llm))
    assert caught.value.message == f"the ranker llm needs the setting llm.{missing}"
    assert f"KGNAV_LLM__{missing.upper()}" in caught.value.next_step


@pytest.mark.parametrize("key", ["sésame", "two\nlines"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    llm = LlmSettings(base_url="http://127.0.0.1:9/v1", model="stub", api_key=SecretStr(key))
    with pytest.raises(ConfigurationError) as caught:
        App(Settings(ranker="llm", llm=llm))
    assert key not in f"{caught.value} {caught.value.next_step}"


async def test_get_relations_and_search_both_ask_the_chosen_ranker(
    toy_graph: GraphSettings, endpoint: StubEndpoint
) -> None:
    settings = Settings(graphs={"toy": toy_graph}, ranker="llm", llm=endpoint.settings(), top_k=2)
    endpoint.chooses("dislikes")
    listed = await call("get_relations", {"entity": "ada", "question": "Who is at odds with her?"}, settings)
    assert listed.splitlines()[4].startswith("dislikes|")
    endpoint.chooses("moored_at")
    hub = {"entity": toy.HUB, "direction": "incoming", "question": "What is tied up there?"}
    assert (await call("search", hub, settings)).splitlines()[6].startswith("moored_at|")
    assert len(endpoint.requests) == 2


async def test_an_answer_ranked_by_bm25_instead_says_so_and_names_no_secret(
    toy_graph: GraphSettings, endpoint: StubEndpoint
) -> None:
    settings = Settings(graphs={"toy": toy_graph}, ranker="llm", llm=endpoint.settings())
    endpoint.status, endpoint.raw = 401, f"bad key {KEY}".encode()
    note = "ranked by BM25: the language model answered with HTTP status 401"
    for tool, arguments in (
        ("get_relations", {"entity": "ada", "question": "Who is at odds with her?"}),
        ("search", {"entity": toy.HUB, "direction": "incoming", "question": "What is tied up there?"}),
    ):
        text = await call(tool, arguments, settings)
        assert note in text.splitlines()
        assert KEY not in text


async def _trail_about_vermeer(connected: Client) -> str:
    begun = {"question": "Where was he born?", "topic_entities": ["johannes_vermeer"]}
    text = text_of(await connected.call_tool("start_trail", begun))
    return text.partition("\n")[0].removeprefix("trail: ")


async def _relations(connected: Client, **arguments: object) -> list[str]:
    result = await connected.call_tool("get_relations", {"entity": "johannes_vermeer", **arguments})
    assert not result.is_error, text_of(result)
    return [line for line in text_of(result).splitlines() if "|" in line][2:]


async def test_relations_are_ranked_by_the_trails_question_where_the_call_brings_none() -> None:
    settings = Settings(toolsets=("graphwalker", "trail"), top_k=3)
    async with client(settings) as connected:
        trail = await _trail_about_vermeer(connected)
        ranked = await _relations(connected, trail=trail)
        assert len(ranked) == 3
        assert {row.partition("|")[0] for row in ranked} >= {"born", "born_in"}
        assert ranked == await _relations(connected, question="Where was he born?")
        died = await _relations(connected, trail=trail, question="Where has he died_in?")
        assert died[0].startswith("died_in|")
        assert len(await _relations(connected)) > 3


async def test_a_cursor_of_relations_ranked_by_a_trail_goes_on_with_that_trail() -> None:
    settings = Settings(toolsets=("graphwalker", "trail"), top_k=3)
    async with client(settings) as connected:
        trail = await _trail_about_vermeer(connected)
        arguments = {"entity": "johannes_vermeer", "trail": trail}
        text = text_of(await connected.call_tool("get_relations", arguments))
        (cursor,) = re.findall('cursor "([^"]+)"', text.partition("\n")[0])
        first, second = (
            await _relations(connected, trail=trail),
            await _relations(connected, trail=trail, cursor=cursor),
        )
        assert not {*first} & {*second}
        assert (await connected.call_tool("get_relations", {"entity": "johannes_vermeer", "cursor": cursor})).is_error


async def test_a_language_model_is_shown_the_trails_last_thought_and_exactly_k_relations_are_kept(
    endpoint: StubEndpoint,
) -> None:
    settings = Settings(toolsets=("graphwalk", "graphwalker", "trail"), ranker="llm", llm=endpoint.settings(), top_k=4)
    endpoint.chooses("died_in", "painted_by")
    async with client(settings) as connected:
        trail = await _trail_about_vermeer(connected)
        before = await _relations(connected, trail=trail)
        for thought in ("First I look at his life.", "Now I want the city."):
            await connected.call_tool("think", {"thought": thought, "trail": trail})
        after = await _relations(connected, trail=trail)
        endpoint.chooses(*(row.partition("|")[0] for row in await _relations(connected)))
        await connected.call_tool("think", {"thought": "All of them.", "trail": trail})
        many = await _relations(connected, trail=trail)
    shown = [request.document for request in endpoint.requests]
    assert [document["question"] for document in shown] == ["Where was he born?"] * 3
    assert [document.get("thought") for document in shown] == [None, "Now I want the city.", "All of them."]
    for rows in (before, after, many):
        assert len(rows) == 4
    assert [row.partition("|")[0] for row in after[:2]] == ["died_in", "painted_by"]
    assert "exactly 4 different ones" in endpoint.requests[0].body["messages"][0]["content"]
