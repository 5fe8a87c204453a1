"""The Wikidata questions on a live Oxigraph, walked through a real server: a fixed sample, qualifiers included."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.datasets import dataset
from tests.services import Oxigraph

from kgnav_bench import wikidata
from kgnav_bench.client import BareClient
from kgnav_bench.planned import PLANS
from kgnav_bench.wikidata_plans import PlanWalker
from kgnav_bench.wikidata_reach import endpoint_command, sampled
from kgnav_bench.wikidata_walk import Walker

pytestmark = pytest.mark.extended

GRAPH = "http://example.org/wikidata"
SIZE = 25
"""Questions of each kind, on the part of the data that they walk.

`kgnav-bench reach wikidata --all` walks them all, and with `--plans` asks each by one plan.
"""
BY_PLAN = 3
"""Of these, so many are asked by plans: what a property has for qualifiers is read when it first comes up."""


@pytest.fixture(scope="module")
def data() -> Path:
    """The folder with the data set and its questions."""
    return dataset("wikidata")


@pytest.fixture(scope="module")
def asked(data: Path) -> dict[bool, list[wikidata.GoldQuery]]:
    """The sample: questions without qualifiers (False), and with them (True)."""
    every = wikidata.questions(data)
    kinds = {kind: [each for each in every if ("pq:" in each.sparql) is kind] for kind in (False, True)}
    assert [len(kinds[False]), len(kinds[True])] == [914, 205]
    return {kind: sampled(questions, SIZE) for kind, questions in kinds.items()}


def walked_through(data: Path, asked: Iterable[wikidata.GoldQuery]) -> set[str]:
    """The items that the questions name or ask for, and those one gold relation away from what they name."""
    named: dict[tuple[str, str], set[str]] = {}
    found: set[str] = set()
    for question in asked:
        items = set(re.findall(r"wd:(Q\d+)", question.sparql))
        names = re.findall(r":(P\d+)", question.sparql)
        found |= items | question.answers
        for name in names:
            for item in items:
                named.setdefault((item, name), set())
    for made in wikidata.statements(data):
        if (made.subject, made.name) in named:
            found.add(made.value)
        if (made.value, made.name) in named or any((value, made.name) in named for _, value in made.qualifiers):
            found.add(made.subject)
    return found


@pytest.fixture(scope="module")
def endpoint(
    oxigraph: Oxigraph,
    data: Path,
    asked: dict[bool, list[wikidata.GoldQuery]],
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """The URL of an Oxigraph with the part of the data set in it."""
    source = tmp_path_factory.mktemp("wikidata") / "wikidata.nt.gz"
    wikidata.convert(data, source, walked_through(data, [*asked[False], *asked[True]]))
    oxigraph.load_much(source, GRAPH)
    return f"{oxigraph.url}?default-graph-uri={quote(GRAPH, safe='')}"


@pytest.fixture(scope="module")
def walker(endpoint: str, data: Path) -> Iterator[Walker]:
    """A server of it, started as a client starts it."""
    with BareClient(endpoint_command(endpoint)) as client:
        yield Walker(client, data)


@pytest.fixture(scope="module")
def planner(endpoint: str) -> Iterator[PlanWalker]:
    """The same, asked by plans."""
    with BareClient([*endpoint_command(endpoint), *PLANS]) as client:
        yield PlanWalker(client)


@pytest.mark.parametrize("qualified", [False, True])
def test_every_gold_relation_is_offered_and_every_gold_answer_shown(
    walker: Walker, asked: dict[bool, list[wikidata.GoldQuery]], qualified: bool
) -> None:
    walked = [walker.walk(question) for question in asked[qualified]]

    assert [each for each in walked if not each.reached or each.surplus] == []
    assert all(each.qualified is qualified for each in walked)
    assert sum(len(each.question.answers) for each in walked) > SIZE


@pytest.mark.parametrize("qualified", [False, True])
def test_one_plan_for_each_question_shows_every_gold_answer(
    planner: PlanWalker, asked: dict[bool, list[wikidata.GoldQuery]], qualified: bool
) -> None:
    walked = [planner.walk(question) for question in sampled(asked[qualified], BY_PLAN)]

    assert [each for each in walked if not each.reached or each.surplus] == []
    assert {each.calls for each in walked} == {1}
