"""GraphWalk's templates asked of live stores by a real client: each question is one plan, and its answer the truth.

`kgnav-bench templates` asks all 120 of them, on graphs of any size.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kgnav_bench.cli import main
from kgnav_bench.templates import TEMPLATES, Graph, Shape, asking, generate, questions, write
from kgnav_bench.templates.rdf import NAMESPACE, write_rdf
from tests.neo4j_service import Neo4j
from tests.services import Oxigraph, RdfService, Virtuoso

NODES = 100
GRAPH = "http://example.org/synthetic"


@pytest.fixture(scope="module")
def synthetic() -> Graph:
    return generate(Shape.of(NODES))


async def _held(location: str, graph: Graph, instances: int) -> None:
    asked = await asking.ask(location, list(questions(graph, instances=instances)))
    assert len(asked) == instances * len(TEMPLATES)
    assert {each.question.cypher: each.fault for each in asked if each.fault} == {}
    assert {each.pages for each in asked} == {1}


async def test_a_graph_file_answers_every_question_in_one_call(synthetic: Graph, tmp_path: Path):
    *_, graph_file, _ = asking.make(tmp_path, NODES)
    await _held(str(graph_file), synthetic, 10)


async def test_neo4j_answers_plans_and_bare_cypher_alike(synthetic: Graph, neo4j: Neo4j, tmp_path: Path):
    neo4j.load(write(synthetic, tmp_path))
    await _held(neo4j.url, synthetic, 1)


async def _held_as_rdf(store: RdfService, graph: Graph, folder: Path) -> None:
    store.load(write_rdf(graph, folder), GRAPH)
    await _held(f"sparql+{store.url}#graph={GRAPH}&prefix.ex={NAMESPACE}", graph, 1)


async def test_oxigraph_answers_every_question_in_one_call(synthetic: Graph, oxigraph: Oxigraph, tmp_path: Path):
    await _held_as_rdf(oxigraph, synthetic, tmp_path)


async def test_virtuoso_answers_every_question_in_one_call(synthetic: Graph, virtuoso: Virtuoso, tmp_path: Path):
    await _held_as_rdf(virtuoso, synthetic, tmp_path)


async def test_a_wrong_answer_and_a_refused_plan_are_told(tmp_path: Path):
    *_, graph_file, _ = asking.make(tmp_path, NODES)
    asked = await asking.ask(str(graph_file), list(questions(generate(Shape.of(NODES), seed=2), instances=1)))
    assert all(each.fault for each in asked)


def test_the_commands_make_a_graph_and_report_on_it(tmp_path: Path):
    made = CliRunner().invoke(main, ["templates", "make", str(tmp_path), "--nodes", "100"])
    assert made.exit_code == 0, made.output
    graph_file = made.output.split()[2]
    output = str(tmp_path / "asked.jsonl")
    arguments = ["templates", "run", graph_file, "--nodes", "100", "--instances", "1", "-o", output]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "PASS: 12 of 12 questions answered by one plan each" in result.output
