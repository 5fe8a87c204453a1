"""The audit in small: questions to a graph file and to one SPARQL store, answered from the raw files too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts.audit import report
from scripts.audit.audit import ask, generate
from scripts.audit.client import over_stdio
from scripts.audit.outcome import Outcome
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
