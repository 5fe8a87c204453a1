"""Items of Wikidata answer the same in a graph file as on a SPARQL store behind the Wikidata adapter.

Both hold the exports of Q42 and Q513 and the definitions of the properties, which these exports lack.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from rdflib import RDF, Graph, URIRef

from kgnav_bench import wikidata
from kgnav_bench.wikibase import Value, Wikibase
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.loading.options import Statements
from kgnav_mcp.model import Direction, Stop, Triple
from kgnav_mcp.navigation.plans.running import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.spelling import cypher
from tests.datasets import dataset
from tests.rows import triples_at
from tests.services import Oxigraph

GRAPH = "http://toy.example/wikidata-file"
ITEMS = ("Q42", "Q513")
PROP = "http://www.wikidata.org/prop/"
ONTOLOGY = "http://wikiba.se/ontology#"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The exports, the properties with their datatypes and labels, labels of some items, and an absent value."""
    data = dataset("wikidata")
    wikibase, labels = Wikibase(), wikidata.labels(data)
    lines: list[str] = []
    for local, kind in wikidata.datatypes(data).items():
        lines += wikibase.property(local, kind, [(labels[local], "en")] if local in labels else ())
    for local in ("Q84", "Q145", "Q36180", "Q11573"):
        lines += wikibase.item(local, [(labels.get(local, "metre"), "en")])
    lines += wikibase.statement("Q42", "P1038", Value("novalue"), number=1)
    more = tmp_path_factory.mktemp("wikidata-file") / "more.nt.gz"
    more.write_bytes(gzip.compress("".join(lines).encode()))
    return [*(data / f"{item}.ttl.gz" for item in ITEMS), more]


@pytest.fixture(scope="module")
def location(oxigraph: Oxigraph, sources: list[Path]) -> str:
    for source in sources:
        oxigraph.load(source, GRAPH)
    return f"wikidata+{oxigraph.url}?default-graph-uri={GRAPH}"


@pytest.fixture(scope="module", params=["truthy", "all"])
def statements(request: pytest.FixtureRequest) -> Statements:
    return request.param


@pytest.fixture
async def store(location: str, statements: Statements) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(location, AdapterOptions(extra={"statements": statements})) as opened:
        yield opened


@pytest.fixture(scope="module")
def path(sources: list[Path], statements: Statements, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wikidata-file") / "items.kg"
    load(sources, target, LoadOptions(statements=statements))
    return target


@pytest.fixture
async def file(path: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(path), AdapterOptions()) as opened:
        yield opened


@pytest.fixture(scope="module")
def raw(sources: list[Path]) -> Graph:
    """The same files as triples, read without this project."""
    graph = Graph()
    for source in sources:
        text = gzip.decompress(source.read_bytes()).decode()
        graph.parse(data=text, format="nt" if ".nt" in source.name else "turtle")
    return graph


async def every_row(graph: GraphAdapter, item: str, side: Direction, relation: str | None = None) -> list[Triple]:
    """All rows of an entity, or of one of its relations, in a fixed order."""
    rows: list[Triple] = []
    after: str | None = None
    while True:
        paths = None if relation is None else [(relation,)]
        page = await triples_at(graph, [item], side, paths=paths, limit=50, after=after)
        rows += page.items
        if page.stop is Stop.COMPLETE:
            assert page.total.value == len(rows)
            return sorted(rows, key=repr)
        after = page.positions[-1]


@pytest.mark.parametrize("item", ITEMS)
async def test_each_item_has_the_same_relations_with_the_same_names_and_counts(
    store: GraphAdapter, file: GraphAdapter, item: str
):
    for side in Direction:
        expected, found = [await graph.relations([item], side, limit=1_000) for graph in (store, file)]
        assert [(one.relation, one.count, one.hidden) for one in found.items] == [
            (one.relation, one.count, one.hidden) for one in expected.items
        ]


@pytest.mark.parametrize("item", ITEMS)
async def test_each_item_has_the_same_rows_with_the_same_values_and_qualifiers(
    store: GraphAdapter, file: GraphAdapter, item: str
):
    for side in Direction:
        assert await every_row(file, item, side) == await every_row(store, item, side)
    for relation in ("P69", "P551", "P569", "P2048", "P214", "P1038", "P2021", "P625", "P18"):
        expected = await every_row(store, item, Direction.OUTGOING, relation)
        assert await every_row(file, item, Direction.OUTGOING, relation) == expected
