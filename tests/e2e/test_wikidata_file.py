"""Items of Wikidata answer the same in a graph file as on a SPARQL store behind the Wikidata adapter.

Both hold the exports of Q42 and Q513 and the definitions of the properties, which these exports lack.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client
from rdflib import RDF, Graph, URIRef
from tests.datasets import dataset
from tests.rows import triples_at
from tests.sampling import extended
from tests.server.clients import client, text_of
from tests.server.processes import on_stdio
from tests.services import Oxigraph

from kgnav_bench import wikidata
from kgnav_bench.wikibase import Value, Wikibase
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.loading.options import Statements
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.model import Direction, Literal, Stop, Triple
from kgnav_mcp.port import AdapterOptions, GraphAdapter

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


@pytest.fixture(scope="module", params=[extended("truthy"), "all"])
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
        page = await triples_at(graph, [item], side, relation_paths=paths, limit=50, after=after)
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


QUESTIONS: list[tuple[str, dict[str, object]]] = [
    ("search", {"entity": "Q42", "direction": "outgoing", "properties_to_filter_for": ["P69", "wdt:P551", "P569"]}),
    ("search", {"entity": "Douglas Adams", "direction": "outgoing", "properties_to_filter_for": ["educated at"]}),
    ("search", {"entity": "Q513", "direction": "outgoing", "properties_to_filter_for": ["P2044", "P625", "P17"]}),
    ("get_relations", {"entity": "Q42"}),
    ("get_relations", {"entity": "Q513"}),
    ("get_triples", {"entity": "Q42", "relations": ["P69", "P166", "P800"]}),
    ("get_triples", {"entity": "Q42", "relations": ["P2021", "P1038", "P214"]}),
    ("get_node_by_property", {"label": "Q5", "property_name": "P569", "property_value": "1952-03-11"}),
    ("get_unique_property_values", {"property_name": "P582", "entity_name": "P69", "entity_type": "relationship"}),
    ("run_plan", {"plan": "MATCH (:Q5)-[r:P69]->(u) RETURN u, r.P582 ORDER BY r.P582"}),
    ("run_plan", {"plan": "MATCH (a {name: 'Douglas Adams'})-[r:`educated at`]->(u) RETURN u, r.P580"}),
    ("run_plan", {"plan": "MATCH (a)-[r]->(u) RETURN count(r) AS edges, count(DISTINCT u) AS entities"}),
    (
        "run_plan",
        {"plan": "MATCH (a {id: 'Q42'})-[r]->(u) RETURN type(r) AS t, count(u) AS n ORDER BY n DESC, t LIMIT 9"},
    ),
    ("run_plan", {"plan": "MATCH (a)-[r:P166]->(u) WHERE r.P585 < '1980' RETURN a, u, r.P585"}),
    ("run_plan", {"plan": "MATCH (a {id: 'Q513'}) RETURN a.P625, a.P2044"}),
    ("run_plan", {"plan": "MATCH (a)-[r:P551]->(u) RETURN u, r.P580"}),
]


async def structured(location: str, statements: Statements | None) -> list[Any]:
    """The structured answers to all questions, with the rows of lists in a fixed order and without cursors."""
    options = {} if statements is None else {"statements": statements}
    graphs = {"g": GraphSettings(location=location, options=options)}
    answers: list[Any] = []
    async with client(Settings(graphs=graphs, structured=True, budget=100_000)) as connected:
        for tool, arguments in QUESTIONS:
            result = await connected.call_tool(tool, arguments)
            answers.append(_comparable(result.structured_content) if not result.is_error else text_of(result))
    return answers


def _comparable(content: Any) -> Any:
    """The content with its rows sorted, unless they are those of a plan.

    Only graph files count the rows that LIMIT cut.
    """
    assert isinstance(content, dict)
    found = {key: value for key, value in cast("dict[str, Any]", content).items() if key not in {"cursor", "trail"}}
    if "notes" in found:
        found["notes"] = [note for note in found["notes"] if not note.startswith("Without LIMIT ")]
    return {
        key: sorted(cast("list[Any]", value), key=repr) if isinstance(value, list) else value
        for key, value in found.items()
    }


async def test_the_tools_give_the_same_structured_answers(location: str, path: Path, statements: Statements):
    expected, found = await structured(location, statements), await structured(str(path), None)
    different = [each for each in zip(QUESTIONS, found, expected, strict=True) if each[1] != each[2]]
    assert not different


@pytest.mark.slow
async def test_each_statement_of_the_raw_files_is_there_with_its_rank_qualifiers_and_references(
    file: GraphAdapter, raw: Graph, statements: Statements
):
    for item in ITEMS:
        rows = await every_row(file, item, Direction.OUTGOING)
        for one in (await file.relations([item], Direction.OUTGOING, limit=1_000)).items:
            if one.hidden:
                rows += await every_row(file, item, Direction.OUTGOING, one.relation.id)
        found = Counter(
            (
                row.relation.id.removeprefix("wdt:"),
                next((end_text(one.value) for one in row.qualifiers if one.relation.id == "wikibase:rank"), "normal"),
                int(next((end_text(one.value) for one in row.qualifiers if one.relation.label == "references"), "0")),
                tuple(sorted(one.relation.id[4:] for one in row.qualifiers if one.relation.id.startswith("wdt:"))),
            )
            for row in rows
        )
        assert found == raw_statements(raw, item, every_rank=statements == "all")
        assert sum(found.values()) > (300 if item == "Q42" else 60)


def end_text(value: object) -> str:
    assert isinstance(value, Literal)
    return value.text


def raw_statements(raw: Graph, item: str, *, every_rank: bool) -> Counter[tuple[str, str, int, tuple[str, ...]]]:
    """Property, rank, references and the properties of qualifiers of each statement, counted."""
    found: Counter[tuple[str, str, int, tuple[str, ...]]] = Counter()
    for _, claim, node in raw.triples((URIRef(f"http://www.wikidata.org/entity/{item}"), None, None)):
        local = str(claim).removeprefix(PROP)
        if not str(claim).startswith(PROP) or "/" in local:
            continue
        if not every_rank and (node, RDF.type, URIRef(f"{ONTOLOGY}BestRank")) not in raw:
            continue
        about = list(raw.predicate_objects(node))
        (rank,) = (str(value) for name, value in about if str(name) == f"{ONTOLOGY}rank")
        references = sum(str(name).endswith("prov#wasDerivedFrom") for name, _ in about)
        names = (str(name).removeprefix(f"{PROP}qualifier/") for name, _ in about)
        qualifiers = tuple(sorted(name for name in names if name.startswith("P")))
        found[local, rank.removeprefix(ONTOLOGY).removesuffix("Rank").lower(), references, qualifiers] += 1
    return found


async def test_a_client_on_stdio_reads_the_items_from_the_file(path: Path, tmp_path: Path):
    async with Client(on_stdio(tmp_path, "--graph", str(path))) as connected:
        plan = {"plan": "MATCH (:Q5)-[r:P69]->(u) RETURN u, r.P582 ORDER BY r.P582"}
        answer = text_of(await connected.call_tool("run_plan", plan))
        assert answer.splitlines()[-2:] == ["wd:Q4961791|1970", "wd:Q691283|1974"]
        relations = text_of(await connected.call_tool("get_relations", {"entity": "Q42"}))
        assert "wdt:P69|educated at|outgoing|2" in relations
        assert "relations to external identifiers are hidden" in relations
