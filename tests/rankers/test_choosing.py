"""Which ranker answers is a setting, and only the chosen one costs anything."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pydantic import SecretStr

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, LlmSettings, Settings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.navigation.ranking import bm25
from tests.contract import toy
from tests.rankers.stub_endpoint import KEY, StubEndpoint
from tests.server.clients import call

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
    assert len(endpoint.asked) == 2


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
