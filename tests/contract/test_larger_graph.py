"""Random plans answer what the oracle answers on a graph of 320 nodes.

Stores choose other ways to the rows of a plan there than on the toy graph, of which random plans see a few nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.contract import test_endpoint, test_ladybug, test_neo4j, toy_files, toy_views, toy_wikibase
from tests.contract.suite.base import PATIENCE_S
from tests.contract.toy_views import View
from tests.plans.comparing import ALL, SIZES, hold
from tests.plans.strategies import plans_by_chance, words_of
from tests.plans.toys import RELATIONS, large_toy, plain
from tests.services import RdfService

GRAPH = "http://toy.example/larger"
NODES, EDGES = large_toy()
SINGLE_VALUED = [replace(node, properties=tuple(dict(node.properties).items())) for node in NODES]
"""The nodes for stores where a property with several values is an array at every node."""
BOUND = 20_000
"""Maximum rows that the evaluator may hold. A random plan that needs more is skipped."""
Stored = tuple[str, View]
"""A location, and what is to be seen there."""


def _file(write: Callable[..., list[Path]], style: toy_views.Style, folder: Path) -> Stored:
    load(write(folder, NODES, EDGES), folder / "larger.kg", LoadOptions(mediators="unnamed"))
    return str(folder / "larger.kg"), toy_views.view(style, NODES, EDGES)


def _ladybug(folder: Path) -> Stored:
    view = test_ladybug.written(folder / "larger.lbug", SINGLE_VALUED, EDGES)
    return f"ladybug+file:{folder / 'larger.lbug'}", view


def _endpoint(scheme: str, service: RdfService, folder: Path) -> Stored:
    options, style = "", toy_views.RDF
    match scheme:
        case "sparql":
            paths = toy_files.write_rdf(folder, NODES, EDGES, statements=service.store != "oxigraph")
            options = f"#{urlencode(test_endpoint.OPTIONS)}"
        case "freebase":
            paths, style = toy_files.write_freebase(folder, NODES, EDGES), toy_views.FREEBASE
        case _:
            truthy = scheme == "truthy"
            paths, style = (
                [toy_wikibase.write(folder, NODES, EDGES, truthy=truthy)],
                toy_views.TRUTHY if truthy else toy_views.WIKIDATA,
            )
    graph = f"{GRAPH}/{scheme}"
    service.clear(graph)  # a second load would add statements about the same triples
    for path in paths:
        service.load(path, graph)
    scheme = scheme.replace("truthy", "wikidata")
    return f"{scheme}+{service.url}?default-graph-uri={graph}{options}", toy_views.view(style, NODES, EDGES)


def _stored(store: str, request: pytest.FixtureRequest, folder: Path) -> Stored:
    scheme, _, engine = store.partition(" on ")
    match scheme:
        case "file":
            return _file(toy_files.write_property_graph, toy_views.PROPERTY_GRAPH, folder)
        case "file of RDF":
            return _file(toy_files.write_rdf, toy_views.RDF, folder)
        case "neo4j":
            return test_neo4j.loaded(request.getfixturevalue("neo4j"), folder, SINGLE_VALUED, EDGES, full_text=False)
        case "ladybug":
            return _ladybug(folder)
        case _:
            return _endpoint(scheme, request.getfixturevalue(engine), folder)


MAIN = {
    "file": 6,
    "file of RDF": 6,
    "ladybug": 1,
    "neo4j": 2,
    "sparql on oxigraph": 3,
    "sparql on virtuoso": 3,
    "wikidata on oxigraph": 1,
    "freebase on virtuoso": 1,
}
"""Plans of each kind in the main run, by store."""
OTHERS = (
    "sparql on fuseki",
    "sparql on rdf4j",
    "sparql on blazegraph",
    "truthy on oxigraph",
    "wikidata on virtuoso",
    "wikidata on blazegraph",
)
MORE = 30
"""Plans of each kind in extended tests; `make fuzz` tries more. On Fuseki they take three minutes."""


def _group(store: str) -> pytest.MarkDecorator:
    return pytest.mark.xdist_group(store.rpartition(" on ")[2])


@pytest.mark.parametrize(
    ("store", "plans"),
    [
        *(pytest.param(store, plans, marks=_group(store)) for store, plans in MAIN.items()),
        *(pytest.param(store, MORE, marks=[_group(store), pytest.mark.extended]) for store in (*MAIN, *OTHERS)),
    ],
)
async def test_a_plan_by_chance_on_a_larger_graph_answers_the_same_to_the_oracle(
    store: str, plans: int, request: pytest.FixtureRequest, tmp_path: Path
):
    location, view = _stored(store, request, tmp_path)
    graph = plain(view, NODES)
    words = replace(words_of(graph, [view.relation(name) for name in RELATIONS]), paths=False)
    async with open_adapter(location, AdapterOptions(timeout=PATIENCE_S)) as adapter:
        for of_nodes in (False, True):
            for asked, size in zip(plans_by_chance(words, plans, of_nodes=of_nodes), cycle(SIZES), strict=False):
                await hold(PlanRunner(adapter, BOUND), graph, asked, size, pages=3)


DIFFERENT_EDGES = "MATCH (a)-[:$dislikes|$knows]->(b)-[:$eats|$dislikes]->(c) RETURN a, b, c"
"""A loop matches both edges. The relations have parallel edges in part, so that not all qualifiers need be read."""
LOOP = "MATCH (a)-[:$eats]->(b) MATCH (a)-[:$dislikes|$eats]->(a) RETURN a"
"""RDF4J 4.1.3 loses one of the equalities of a loop whose node is bound already."""
CYCLE = "MATCH (a)-[:$knows]-(b) MATCH (b)-[:$eats]->(d) WHERE d = a RETURN a, b, d"


async def _hold_text(location: str, view: View, text: str) -> None:
    for name in RELATIONS:
        text = text.replace(f"${name}", f"`{view.relation(name)}`")
    async with open_adapter(location, AdapterOptions(timeout=PATIENCE_S)) as adapter:
        runner = PlanRunner(adapter, BOUND)
        checked = await runner.check(parse_plan(text).plan)
        assert not checked.problems
        await hold(runner, plain(view, NODES), checked.plan, ALL, 1)


@pytest.mark.parametrize(
    "store", [pytest.param(store, marks=_group(store)) for store in ("file", "sparql on virtuoso")]
)
async def test_nodes_of_rows_are_compared_with_those_of_the_same_row(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
):
    await _hold_text(*_stored(store, request, tmp_path), CYCLE)


@pytest.mark.parametrize(
    "store",
    [pytest.param(store, marks=_group(store)) for store in ("file of RDF", "sparql on oxigraph", "sparql on virtuoso")],
)
async def test_an_edge_of_several_relations_differs_from_another_edge_of_the_pattern(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
):
    await _hold_text(*_stored(store, request, tmp_path), DIFFERENT_EDGES)


@pytest.mark.parametrize(
    "store",
    [
        pytest.param("file of RDF"),
        pytest.param("sparql on oxigraph", marks=_group("sparql on oxigraph")),
        pytest.param("sparql on rdf4j", marks=[_group("sparql on rdf4j"), pytest.mark.extended]),
    ],
)
async def test_a_loop_is_a_loop_also_where_its_node_has_other_edges(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
):
    await _hold_text(*_stored(store, request, tmp_path), LOOP)
