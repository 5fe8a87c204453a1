"""The audit in small: questions to a graph file and to one SPARQL store, answered from the raw files too."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from scripts.audit import report
from scripts.audit.audit import ask, generate
from scripts.audit.client import Answer, Server, over_stdio
from scripts.audit.outcome import Outcome, Verdict
from scripts.audit.question import Expected, PrintedId, Question, plan
from scripts.audit.raw_graph import Node, RawGraph
from scripts.audit.sources import SOURCES, Place
from scripts.audit.stores import Source, running

from tests.services import Oxigraph

KGNAV = Path(sys.executable).with_name("kgnav")
AUDIT = Path(report.__file__).parent
SEED = 1


def source(name: str, folder: Path) -> Source:
    return SOURCES[name](Place(folder, folder, SEED, small=True))


async def audited(name: str, location: str, asked: Source, number: int) -> dict[tuple[str, str], list[Outcome]]:
    questions = generate(asked.graph, asked.mix, number, SEED)
    return {(name, location): list(await ask(over_stdio(KGNAV, location, {}), asked.graph, questions))}


def explained(outcomes: dict[tuple[str, str], list[Outcome]]) -> str:
    return "\n".join((*report.details(outcomes), *report.table(outcomes)))


@pytest.mark.slow
async def test_a_graph_file_of_tables_answers_as_the_tables_do(tmp_path: Path):
    asked = source("property-graph", tmp_path)
    with running("file", tmp_path) as fill:
        outcomes = await audited("property graph", fill(asked, KGNAV), asked, 30)
    assert not report.failed(outcomes), explained(outcomes)


async def test_a_sparql_store_answers_as_the_turtle_file_does(tmp_path: Path, oxigraph: Oxigraph):
    asked = source("ontology", tmp_path)
    graph = "http://audit.example/test"
    for file in asked.rdf:
        oxigraph.load(file, graph)
    location = f"sparql+{oxigraph.url}?default-graph-uri={graph}"
    outcomes = await audited("ontology", location, asked, 30)
    assert not report.failed(outcomes), explained(outcomes)


COUNT, NODES = "MATCH (n) RETURN count(*) AS n", "MATCH (n) RETURN n"
ROWS: Mapping[str, Mapping[str, object]] = {COUNT: {"n": 1}, NODES: {"n": {"id": "7"}}}


class Late(Server):
    """Answers plans in time, but not the audit's own plan for the ids of nodes."""

    def __init__(self) -> None:
        """There is no connection."""

    async def ask(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        if tool != "run_plan" or arguments["plan"] not in ROWS:
            raise TimeoutError
        return Answer([ROWS[arguments["plan"]]], 1)


COUNTED = plan("counts", COUNT, [(1,)], rdf=False)
ABOUT_NODES = (
    Question("get_degree", "get_degree", {"entity": PrintedId("a")}, Expected(Counter()), "degree"),
    plan("nodes", NODES, [("a",)], rdf=False),
)


async def unread_ids(*questions: Question) -> dict[tuple[str, str], list[Outcome]]:
    graph = RawGraph("toy", {"a": Node("a", properties={"code": "a"})}, (), "code", frozenset())
    return {("toy", "store"): list(await ask(nullcontext(Late()), graph, questions))}


async def test_without_the_ids_that_a_store_prints_questions_about_nodes_are_not_judged_but_others_are():
    outcomes = await unread_ids(*ABOUT_NODES, COUNTED)
    verdicts = [outcome.verdict for outcome in outcomes["toy", "store"]]
    assert verdicts == [Verdict.NOT_JUDGED, Verdict.NOT_JUDGED, Verdict.RIGHT]
    assert "NOT JUDGED toy on store, 2 times: the ids of the nodes could not be read" in explained(outcomes)
    assert list(report.table(outcomes))[1].split() == ["toy", "store", "3", "1", "0", "0", "2"]
    assert not report.failed(outcomes)


async def test_an_audit_that_judged_nothing_fails():
    assert report.failed(await unread_ids(*ABOUT_NODES))
    assert report.failed({})


def test_few_questions_have_an_empty_answer(tmp_path: Path):
    for name in ("property-graph", "ontology"):
        asked = source(name, tmp_path)
        questions = generate(asked.graph, asked.mix, 200, SEED)
        assert len(questions) >= 190
        assert sum(question.expected.empty for question in questions) <= 0.2 * len(questions)


def test_the_audit_imports_nothing_of_what_it_audits():
    for file in AUDIT.glob("*.py"):
        imported = [line for line in file.read_text(encoding="utf-8").splitlines() if "import" in line]
        assert not [line for line in imported if "kgnav" in line or "services" in line], file.name
