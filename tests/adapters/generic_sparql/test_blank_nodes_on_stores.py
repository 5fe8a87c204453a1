"""Blank nodes of a class are found, followed and matched as other nodes are, on every store that is tested.

The expected rows are counted here, in Python, over the triples of the graph.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.graphwalk import get_node_by_property
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.services import Blazegraph, Fuseki, Oxigraph, Rdf4j, RdfService

EX = "http://ex.example/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TYPE, LABEL = RDF + "type", "http://www.w3.org/2000/01/rdf-schema#label"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
PERSONS = 8


def _triples() -> list[tuple[str, str, str]]:
    """Persons with addresses, some of them with coordinates behind them, and with weddings: all blank nodes."""
    found: list[tuple[str, str, str]] = []

    def add(head: str, relation: str, *tails: str) -> None:
        found.extend((head, relation if relation.startswith("http") else EX + relation, tail) for tail in tails)

    for n in range(PERSONS):
        person, after = f"<{EX}p{n}>", f"<{EX}p{(n + 1) % PERSONS}>"
        add(person, TYPE, f"<{EX}Person>")
        add(person, LABEL, f'"Person {n}"@en')
        for k in range(3):
            address, geo = f"_:a{n}x{k}", f"_:g{n}x{k}"
            add(person, "address", address)
            add(address, TYPE, f"<{EX}Address>")
            add(address, "street", f'"Street {n % 3}"')
            add(address, "city", f"<{EX}city{n % 2}>")
            if k:
                add(address, "geo", geo)
                add(geo, TYPE, f"<{EX}Geo>")
                add(geo, "lat", f'"{10 * n + k}"^^<{INTEGER}>')
        add(f"_:w{n}", "spouse", person, after)
        add(f"_:w{n}", "year", f'"{1900 + n}"^^<{INTEGER}>')
        add(person, "wedding", f"_:w{n}")
    for relation, far in (("subject", f"<{EX}p0>"), ("predicate", f"<{EX}knows>"), ("object", f"<{EX}p1>")):
        add("_:statement", RDF + relation, far)
    add("_:statement", "since", f'"1990"^^<{INTEGER}>')
    add(f"<{EX}p0>", "knows", f"<{EX}p1>")
    return found


TRIPLES = _triples()


def _tails(head: str, relation: str) -> list[str]:
    return [tail for one, other, tail in TRIPLES if one == head and other == EX + relation]


def _edges(relation: str) -> list[tuple[str, str]]:
    return [(head, tail) for head, other, tail in TRIPLES if other == EX + relation]


GEO = [(person, address, geo) for person, address in _edges("address") for geo in _tails(address, "geo")]
SPOUSES = [(one, other) for one, wedding in _edges("wedding") for other in _tails(wedding, "spouse")]
PLANS = {
    "MATCH (a:Address) RETURN a": len(_edges("street")),
    "MATCH (a:Address {street: 'Street 1'}) RETURN a": len([1 for _, text in _edges("street") if text == '"Street 1"']),
    "MATCH (d)-[:address]->(a:Address)-[:geo]->(g) RETURN d, g": len(GEO),
    "MATCH (d)-[:address]->(a)-[:geo]->(g) RETURN d, a, g": len(GEO),
    "MATCH (a)-[r:geo]->(g) RETURN r": len(GEO),
    "MATCH (a:Address)-[:geo]->(g:Geo) WHERE g.lat > 50 RETURN a, g.lat": len(
        [1 for _, _, geo in GEO for lat in _tails(geo, "lat") if int(lat.split('"')[1]) > 50]
    ),
    "MATCH (d)-[:address]->(a) OPTIONAL MATCH (a)-[:geo]->(g) RETURN d, a, g": len(_edges("address")),
    "MATCH (a)-[:wedding]->(w)-[:spouse]->(b) RETURN a, w, b": len(SPOUSES),
    "MATCH (a)-[:wedding]->(w)-[:spouse]->(b) WHERE a <> b RETURN a, b": len([1 for a, b in SPOUSES if a != b]),
    "MATCH (a)-[r:`ex:wedding.ex:spouse`]->(b) WHERE r.year = 1903 RETURN a, b": 1,
    "MATCH (a)-[:`ex:wedding.ex:spouse`]->(b) RETURN a, b": len([1 for a, b in SPOUSES if a != b]),
    "MATCH (a)-[:address]->(x), (a)-[:address]->(y) WHERE x <> y RETURN x, y": PERSONS * 6,
}
"""Plans with the number of their rows."""


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blanks") / "blanks.nt"
    path.write_text("".join(f"{head} <{relation}> {tail} .\n" for head, relation, tail in TRIPLES), encoding="utf-8")
    return path


def _loaded(store: RdfService, path: Path) -> str:
    """The location of the graph, loaded into a store."""
    graph = f"{EX}blank-nodes"
    store.load(path, graph)
    return f"sparql+{store.url}?default-graph-uri={graph}#prefix.ex={EX}"


class BlankNodes:
    """What holds on each store."""

    @pytest.mark.parametrize(("cypher", "rows"), PLANS.items())
    async def test_a_plan_has_each_row_once(self, location: str, cypher: str, rows: int):
        async with open_adapter(location, AdapterOptions()) as graph:
            runner = PlanRunner(graph)
            checked = await runner.check(parse_plan(cypher).plan)
            assert not checked.problems
            page = await runner.run(checked.plan, limit=1_000)
            assert len(page.items) == rows
            assert len({row.cells for row in page.items}) == rows

    async def test_edges_through_blank_nodes_are_counted(self, location: str):
        async with open_adapter(location, AdapterOptions()) as graph:
            runner = PlanRunner(graph)
            checked = await runner.check(parse_plan("MATCH ()-[:`ex:wedding.ex:spouse`]->() RETURN count(*)").plan)
            page = await runner.run(checked.plan, limit=9)
            assert [row.cells[0] for row in page.items] == [len([1 for a, b in SPOUSES if a != b])]

    async def test_nodes_of_a_class_are_found_by_a_value_and_keep_their_ids(self, location: str):
        async with open_adapter(location, AdapterOptions()) as graph:
            found = await get_node_by_property(graph, "Geo", "lat", "12")
            (node,) = (item.entity for item in found.page.items)
            assert node.id.startswith("_:ex:p1>ex:address>")
            assert node.types == ("ex:Geo",)
            assert await graph.describe([node.id]) == {node.id: node}

    async def test_a_page_of_nodes_goes_on_after_the_last_one(self, location: str):
        async with open_adapter(location, AdapterOptions()) as graph:
            whole = await graph.nodes("Address", None, None, limit=100)
            assert len({node.id for node in whole.items}) == whole.total.value == 3 * PERSONS
            rest = await graph.nodes("Address", None, None, limit=100, after=whole.positions[9])
            assert rest.items == whole.items[10:]


class TestOnOxigraph(BlankNodes):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph, graph_file: Path) -> str:
        return _loaded(oxigraph, graph_file)


class TestOnFuseki(BlankNodes):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, fuseki: Fuseki, graph_file: Path) -> str:
        return _loaded(fuseki, graph_file)


class TestOnRdf4j(BlankNodes):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, rdf4j: Rdf4j, graph_file: Path) -> str:
        return _loaded(rdf4j, graph_file)


class TestOnBlazegraph(BlankNodes):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, blazegraph: Blazegraph, graph_file: Path) -> str:
        return _loaded(blazegraph, graph_file)
