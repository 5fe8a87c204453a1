"""shortestPath between two films or people on stores that do not search paths themselves, beside networkx."""

from __future__ import annotations

import gzip
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from tests.datasets import dataset
from tests.services import Oxigraph, RdfService, Virtuoso

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.budget import Deadline
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions

nx = cast("Any", import_module("networkx"))
GRAPH = "http://films/"
PAIRS = 6
"""Random pairs of nodes; a path between the two greatest hubs is searched, too."""
PATIENCE_S = 120


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A fifth of the film graph: as N-Triples, and as a graph of networkx whose nodes are numbers."""
    graph, numbers, lines = nx.MultiGraph(), dict[str, int](), list[str]()
    with gzip.open(dataset("metaqa") / "kb.tsv.gz", "rt", encoding="utf-8") as source:
        for line in list(source)[::5]:
            head, relation, tail = line.rstrip("\n").split("\t")
            ends = [numbers.setdefault(name, len(numbers)) for name in (head, tail)]
            graph.add_edge(*ends)
            lines.append(f"<{GRAPH}n{ends[0]}> <{GRAPH}{relation}> <{GRAPH}n{ends[1]}> .\n")
    path = tmp_path_factory.mktemp("films") / "films.nt"
    path.write_text("".join(lines), encoding="utf-8")
    return path, graph


async def compare(service: RdfService, films: tuple[Path, Any]) -> None:
    """The store's shortest paths are as long as those of networkx, and run along edges of the graph."""
    path, graph = films
    service.load(path, GRAPH)
    random, nodes = Random(11), sorted(graph)  # noqa: S311 - pairs to try
    pairs = [(random.choice(nodes), random.choice(nodes)) for _ in range(PAIRS)]
    pairs.append(tuple(sorted(graph, key=graph.degree, reverse=True)[:2]))
    options = AdapterOptions(timeout=PATIENCE_S, extra={"graph": GRAPH})
    async with open_adapter(f"sparql+{service.url}", options) as opened:
        for start, end in pairs:
            runner = PlanRunner(opened, deadline=Deadline.after(PATIENCE_S))
            ends = f"(a {{id: '{GRAPH}n{start}'}})-[*]-(b {{id: '{GRAPH}n{end}'}})"
            checked = await runner.check(parse_plan(f"MATCH p = shortestPath({ends}) RETURN length(p)").plan)
            page = await runner.run(checked.plan, limit=9)
            expected = nx.shortest_path_length(graph, start, end) if nx.has_path(graph, start, end) else None
            assert [row.cells for row in page.items] == ([] if expected is None else [(expected,)])


async def test_oxigraph_has_the_shortest_paths_of_networkx(oxigraph: Oxigraph, films: tuple[Path, Any]) -> None:
    await compare(oxigraph, films)


@pytest.mark.extended
async def test_virtuoso_has_the_shortest_paths_of_networkx(virtuoso: Virtuoso, films: tuple[Path, Any]) -> None:
    await compare(virtuoso, films)
