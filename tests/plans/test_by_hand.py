"""Each kind of question has the same rows by a plan and by hand: what `kgnav-bench plans run` compares the times of."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kgnav_bench.cli import main
from kgnav_bench.plans import files, measuring
from kgnav_bench.plans.kinds import KINDS
from kgnav_bench.plans.rdf import NAMESPACE, write_rdf
from kgnav_bench.plans.synthetic import Shape, generate, write
from kgnav_bench.runs import Run
from tests.neo4j_service import Neo4j
from tests.services import Oxigraph

pytestmark = pytest.mark.slow

NODES = 100
GRAPH = "http://example.org/by-hand"


def _held(location: str, folder: Path) -> None:
    with Run(folder / "plans.jsonl", {}) as record:
        measured = measuring.measure(record, location, NODES, 1, warm_up=0)
    assert {each.kind.name: each.differing for each in measured if each.differing} == {}
    assert len(measured) == len(KINDS)
    assert sum(map(sum, (each.rows for each in measured))) > len(KINDS)


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    *_, graph_file, _ = files.make(tmp_path_factory.mktemp("by-hand"), NODES)
    return str(graph_file)


def test_sql_by_hand_has_the_rows_of_plans(graph_file: str, tmp_path: Path):
    _held(graph_file, tmp_path)


@pytest.mark.extended
def test_cypher_by_hand_has_the_rows_of_plans(neo4j: Neo4j, tmp_path: Path):
    neo4j.load(write(generate(Shape.of(NODES)), tmp_path))
    _held(neo4j.url, tmp_path)


@pytest.mark.extended
def test_sparql_by_hand_has_the_rows_of_plans(oxigraph: Oxigraph, tmp_path: Path):
    oxigraph.load(write_rdf(generate(Shape.of(NODES)), tmp_path), GRAPH)
    _held(f"sparql+{oxigraph.url}#graph={GRAPH}&prefix.ex={NAMESPACE}", tmp_path)


@pytest.mark.extended
def test_the_command_reports_each_kind(graph_file: str, tmp_path: Path):
    result = CliRunner().invoke(main, ["plans", "run", graph_file, "--rounds", "1", "-o", f"{tmp_path}/plans.jsonl"])
    assert result.exit_code == 0, result.output
    assert all(f"| {kind.name} | " in result.output for kind in KINDS)
    assert "other rows than by hand" not in result.output


@pytest.mark.extended
def test_a_graph_of_another_size_is_told(graph_file: str, tmp_path: Path):
    result = CliRunner().invoke(
        main, ["plans", "run", graph_file, "--nodes", "200", "--rounds", "1", "-o", f"{tmp_path}/plans.jsonl"]
    )
    assert result.exit_code == 1
    assert "does not have the graph of 200 nodes: Invalid plan" in result.output


def test_a_store_without_a_way_by_hand_is_refused(tmp_path: Path):
    result = CliRunner().invoke(main, ["plans", "run", "wikidata+http://localhost:1/", "-o", f"{tmp_path}/plans.jsonl"])
    assert result.exit_code == 1
    assert "is not a graph file or a URL of bolt, neo4j or sparql+http" in result.output
