"""A graph in GRBench's layout becomes a graph file with every node, feature and edge."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kgnav_bench.cli import main
from kgnav_bench.client import BareClient, load, server_command
from tests.sampling import sampled_rows

PAPERS: dict[str, Any] = {
    "paper_nodes": {
        "p.1": {
            "features": {"title": "On Dunes", "year": 1965, "keywords": ["sand", "wind"], "abstract": ""},
            "neighbors": {"author": ["a1", "a2"], "reference": ["p2"], "venue": []},
        },
        "p2": {"features": {"title": "On Sand"}, "neighbors": {"author": ["a1"], "cited_by": ["p.1"]}},
    },
    "author_nodes": {
        "a1": {"features": {"name": "Ann Li", "organization": {"city": "Oslo"}}, "neighbors": {"paper": ["p.1", "p2"]}},
        "a2": {"features": {"name": "Bo Ek"}, "neighbors": {"paper": ["p.1"]}},
    },
}
BIOMEDICAL: dict[str, Any] = {
    "Disease_nodes": {
        "d1": {
            "features": {"name": "flu"},
            "neighbors": {"Disease-presents-Symptom": ["s1", "s2"], "Disease-resembles-Disease": ["d2"]},
        },
        "d2": {"features": {"name": "cold"}, "neighbors": {"Disease-resembles-Disease": ["d1"]}},
    },
    "Compound_nodes": {"c1": {"features": {"name": "x"}, "neighbors": {"Compound-causes-Side Effect": ["e1"]}}},
    "Side_Effect_nodes": {
        "e1": {"features": {"name": "rash"}, "neighbors": {"Compound-causes-Side Effect": ["c1"]}},
    },
    "Symptom_nodes": {
        "s1": {"features": {"name": "fever"}, "neighbors": {"Disease-presents-Symptom": ["d1"]}},
        "s2": {"features": {"name": "cough"}, "neighbors": {"Disease-presents-Symptom": ["d1"]}},
    },
}
LEGAL: dict[str, Any] = {
    "opinion_nodes": {
        "1": {"features": {"plain_text": "..."}, "neighbors": {"reference": {"1": ["2"], "3": ["4", "5"]}}},
        "2": {"features": {}, "neighbors": {}},
        "4": {"features": {}, "neighbors": {}},
        "5": {"features": {}, "neighbors": {}},
    }
}


def converted(folder: Path, graph: object) -> tuple[str, Path]:
    source, target = folder / "graph.json", folder / "out.jsonl"
    source.write_text(json.dumps(graph), encoding="utf-8")
    result = CliRunner().invoke(main, ["dataset", "graph", "grbench", str(source), "-o", str(target)])
    return result.output, target


@pytest.mark.slow
@pytest.mark.parametrize(
    ("graph", "nodes", "edges"),
    sampled_rows([(PAPERS, 4, 8), (BIOMEDICAL, 6, 5), (LEGAL, 4, 3)], 2),
    ids=["dblp", "biomedical", "legal"],
)
def test_nodes_and_edges_are_those_of_the_file(tmp_path: Path, graph: object, nodes: int, edges: int):
    output, target = converted(tmp_path, graph)
    assert f"{nodes} nodes, {edges} edges" in output
    load([target], tmp_path / "g.kg")
    with BareClient(server_command(tmp_path / "g.kg")) as client:
        counted = client.call("run_plan", {"plan": "MATCH (a)-[r]->(b) RETURN count(r)"})
        assert counted.splitlines()[-1] == str(edges)
        assert client.call("run_plan", {"plan": "MATCH (a) RETURN count(a)"}).splitlines()[-1] == str(nodes)


@pytest.mark.slow
def test_features_and_neighbours_are_found_by_the_tools(tmp_path: Path):
    _, target = converted(tmp_path, PAPERS)
    load([target], tmp_path / "g.kg")
    with BareClient(server_command(tmp_path / "g.kg")) as client:
        plan = "MATCH (p:paper {name: 'On Dunes'})-[:author]->(a) RETURN a.name ORDER BY a.name"
        assert client.call("run_plan", {"plan": plan}).splitlines()[-2:] == ["Ann Li", "Bo Ek"]
        found = client.call("search", {"entity": "On Dunes", "direction": "outgoing"})
    assert "1965" in found
    assert "sand" in found


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"paper_nodes": {"p1": {"title": "x"}}}, "node 'p1' of 'paper_nodes' has no features"),
        ({"paper_nodes": {"p1": {"features": None}}}, "node 'p1' of 'paper_nodes' has no features"),
        (
            {"paper_nodes": {"p1": {"features": {}, "neighbors": ["p2"]}}},
            "neighbors of node 'p1' of 'paper_nodes' are not an object",
        ),
        (
            {"paper_nodes": {"p1": {"features": {}, "neighbors": {"author": "a1"}}}},
            "neighbors 'author' of a node of 'paper_nodes' are not a list",
        ),
        ([], "has no nodes"),
        ({"nodes": []}, "has no nodes"),
    ],
)
def test_another_file_is_refused_and_nothing_is_written(tmp_path: Path, graph: object, message: str):
    output, target = converted(tmp_path, graph)
    assert message in output
    assert sorted(tmp_path.iterdir()) == [tmp_path / "graph.json"]
    assert not target.exists()


def test_an_edge_that_both_types_list_points_as_its_name_says(tmp_path: Path):
    _, target = converted(tmp_path, BIOMEDICAL)
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    edges = [
        (row["start"]["id"], row["end"]["id"]) for row in rows if row.get("label") == "Compound-causes-Side Effect"
    ]
    assert edges == [("c1", "e1")]


def test_a_compressed_graph_is_read_and_a_cut_one_refused(tmp_path: Path):
    source, target = tmp_path / "graph.json.gz", tmp_path / "o.jsonl"
    arguments = ["dataset", "graph", "grbench", str(source), "-o", str(target)]
    source.write_bytes(gzip.compress(json.dumps(PAPERS).encode()))
    assert "4 nodes, 8 edges" in CliRunner().invoke(main, arguments).output
    target.unlink()
    source.write_bytes(source.read_bytes()[:-20])
    assert "cannot be read" in CliRunner().invoke(main, arguments).output
    assert list(tmp_path.iterdir()) == [source]


def test_a_file_that_is_cut_is_refused(tmp_path: Path):
    source = tmp_path / "graph.json"
    source.write_text(json.dumps(PAPERS)[:-20], encoding="utf-8")
    result = CliRunner().invoke(main, ["dataset", "graph", "grbench", str(source), "-o", str(tmp_path / "o.jsonl")])
    assert result.exit_code == 1
    assert "is not JSON" in result.output
    assert not (tmp_path / "o.jsonl").exists()
