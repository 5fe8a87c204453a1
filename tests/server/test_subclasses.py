"""A label selects its own nodes only: the overview says where subclasses have others, and how to select both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.config import GraphSettings, Settings
from tests.server.clients import call, refused
from tests.services import Oxigraph

GRAPH = "http://staff.example/graph"
CLASSES = {"Employee": 1, "Manager": 2, "Boss": 3}
"""Nodes of each class. There is one more class between the second and the third, which has none."""
ABOVE = {"Boss": "Director", "Director": "Manager", "Manager": "Employee"}


def _turtle(*, with_classes: bool) -> str:
    nodes = [
        f'<http://staff.example/{name.lower()}{n}> a ex:{name} ; rdfs:label "{name} {n}" .'
        for name, count in CLASSES.items()
        for n in range(count)
    ]
    above = [f"ex:{name} rdfs:subClassOf ex:{other} ." for name, other in ABOVE.items()] if with_classes else []
    prefixes = "@prefix ex: <http://staff.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    return "\n".join((prefixes, *nodes, *above))


def _served(location: str) -> Settings:
    return Settings(graphs={"g": GraphSettings(location=location)})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (path := tmp_path / "staff.ttl").write_text(_turtle(with_classes=True), encoding="utf-8")
    return path


async def _check(settings: Settings) -> None:
    first = (await call("describe_graph", {}, settings)).splitlines()[0]
    assert "2 labels have subclasses with nodes of their own, which only a label with * includes: (x:`" in first
    label = first.partition("(x:`")[2].partition("`")[0]
    assert label.endswith("Employee")
    for written, nodes in ((f"`{label}`", CLASSES["Employee"]), (f"`{label}`*", sum(CLASSES.values()))):
        answer = await call("run_plan", {"plan": f"MATCH (x:{written}) RETURN count(*)"}, settings)
        assert answer.splitlines()[-1] == str(nodes)
        node_type = written.replace("`", "")
        for step in ({"find_node": {"node_type": node_type}}, {"find_node": {"label": node_type}}):
            answer = await call(
                "run_plan", {"plan": json.dumps([{"as": "x", **step}, {"return": "count(x)"}])}, settings
            )
            assert answer.splitlines()[-1] == str(nodes)
    steps = [{"as": "x", "find_node": {"node_type": f"{label[:-1]}*"}}, {"return": "count(x)"}]
    error = await refused("check_plan", {"plan": json.dumps(steps)}, settings)
    assert f'"node_type": "{label}*"' in error, "the corrected plan keeps the star"


async def test_the_overview_of_a_graph_file_names_labels_with_subclasses(source: Path) -> None:
    load([source], source.with_suffix(".kg"))
    await _check(_served(str(source.with_suffix(".kg"))))


async def test_the_overview_of_an_endpoint_names_labels_with_subclasses(source: Path, oxigraph: Oxigraph) -> None:
    oxigraph.load(source, GRAPH)
    await _check(_served(f"sparql+{oxigraph.url}?default-graph-uri={GRAPH}"))


async def test_the_overview_of_a_graph_without_subclasses_says_nothing_of_them(tmp_path: Path) -> None:
    (path := tmp_path / "flat.ttl").write_text(_turtle(with_classes=False), encoding="utf-8")
    load([path], path.with_suffix(".kg"))
    assert "subclasses" not in await call("describe_graph", {}, _served(str(path.with_suffix(".kg"))))
