"""The Wikidata questions on a live Oxigraph, walked through a real server: a fixed sample, qualifiers included."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.services import Oxigraph

from kgnav_bench import wikidata
from kgnav_bench.client import BareClient
from kgnav_bench.wikidata_reach import endpoint_command, sampled
from kgnav_bench.wikidata_walk import Walker

GRAPH = "http://example.org/wikidata"
SIZE = 40
"""Questions of each kind; `kgnav-bench reach wikidata --all` walks all 1,119."""


@pytest.fixture(scope="module")
def data() -> Path:
    """The folder with the data set and its questions."""
    named = os.environ.get("KGNAV_DATA")
    folder = (Path(named) if named else Path(__file__).parents[3] / "shared" / "data") / "wikidata"
    if not folder.is_dir():
        pytest.skip(f"no Wikidata data: {folder} is not there; KGNAV_DATA names the folder that has wikidata/")
    return folder


@pytest.fixture(scope="module")
def walker(oxigraph: Oxigraph, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walker]:
    """A server of an Oxigraph with the data set in it, started as a client starts it."""
    source = tmp_path_factory.mktemp("wikidata") / "wikidata.nt.gz"
    wikidata.convert(data, source)
    oxigraph.load(source, GRAPH)
    endpoint = f"{oxigraph.url}?default-graph-uri={quote(GRAPH, safe='')}"
    with BareClient(endpoint_command(endpoint)) as client:
        yield Walker(client, data)


@pytest.mark.parametrize("qualified", [False, True])
def test_every_gold_relation_is_offered_and_every_gold_answer_shown(
    walker: Walker, data: Path, qualified: bool
) -> None:
    asked = [question for question in wikidata.questions(data) if ("pq:" in question.sparql) is qualified]
    assert len(asked) == (205 if qualified else 914)

    walked = [walker.walk(question) for question in sampled(asked, SIZE)]

    assert [each for each in walked if not each.reached or each.surplus] == []
    assert all(each.qualified is qualified for each in walked)
    assert sum(len(each.question.answers) for each in walked) > SIZE
