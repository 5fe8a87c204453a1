"""The film graph of MetaQA in a live Neo4j, walked through a real server: gold paths of a fixed sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.datasets import dataset
from tests.neo4j_service import Neo4j

from kgnav_bench import reach
from kgnav_bench.metaqa import HOPS, questions, sample, write_property_graph
from kgnav_bench.replay import Replay

pytestmark = pytest.mark.extended

QUESTIONS_PER_HOP = 40


@pytest.fixture(scope="module")
def metaqa() -> Path:
    """The folder with the film graph and its questions."""
    return dataset("metaqa")


@pytest.fixture(scope="module")
def replay(metaqa: Path, neo4j: Neo4j, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    """A server of the film graph in the store, started as a client starts it."""
    neo4j.load(write_property_graph(metaqa, tmp_path_factory.mktemp("films")))
    with reach.replaying(metaqa, neo4j.url) as started:
        yield started


@pytest.mark.parametrize("hops", HOPS)
def test_every_gold_relation_is_offered_and_every_gold_answer_shown(replay: Replay, metaqa: Path, hops: int) -> None:
    results = [replay.question(each) for each in sample(questions(metaqa, hops), QUESTIONS_PER_HOP)]

    assert len(results) == QUESTIONS_PER_HOP
    assert [result for result in results if result.missing_relations] == []
    assert [result for result in results if result.missing_answers] == []
    assert [result for result in results if result.surplus_answers] == []
