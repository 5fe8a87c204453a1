"""A triple of several graphs that are read as one is one triple, also on stores that match it once for each.

The expected figures are computed here, in Python, from the set of triples.
"""

from __future__ import annotations

from collections import Counter

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.generic_sparql import several_graphs
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Certainty, Count, Direction, Entity
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.services import Blazegraph, Fuseki, Oxigraph, Rdf4j, RdfService, Virtuoso

EX = "http://ex.example/"
NODES, LEAVES, BRANCHES = 301, 1_200, 40
NEXT = {(f"n{n}", "succeeds", f"n{n + 1}") for n in range(NODES - 1)}
OF_HUB = {("hub", "has_leaf", f"leaf{n}") for n in range(LEAVES)} | {("n7", "has_leaf", f"leaf{n}") for n in range(40)}
KINDS = {(f"n{n}", "a", kind) for n in range(NODES) for kind in ("Link", "Third")[: 1 + (n % 3 == 0)]}
SIZES = {(f"n{n}", "size", n % 7) for n in range(0, NODES, 3)}
NAMES = {(f"n{n}", "name", f"link {n}") for n in range(NODES)}
TRIPLES: list[tuple[str, str, str | int]] = sorted(NEXT | OF_HUB | KINDS | SIZES | NAMES, key=repr)
SIZE_OF = {node: size for node, _, size in SIZES}
ONE, OTHER = ([triple for n, triple in enumerate(TRIPLES) if n % 5 in places] for places in ((0, 1, 2, 3), (2, 3, 4)))
"""The triples of each graph: two of five are in both."""
PLANS: dict[str, list[tuple[object, ...]]] = {
    "MATCH (a)-[:succeeds]->(b) RETURN count(*)": [(len(NEXT),)],
    "MATCH (a)-[:succeeds]->(b)-[:succeeds]->(c) RETURN count(*)": [(len(NEXT) - 1,)],
    "MATCH (a)-[:succeeds]-(b) RETURN count(*)": [(2 * len(NEXT),)],
    "MATCH (a)-[:succeeds*1..3]->(b) RETURN count(*)": [(3 * len(NEXT) - 3,)],
    "MATCH (a:Third)-[:succeeds]->(b:Link) RETURN count(*)": [(len([n for n in range(NODES - 1) if n % 3 == 0]),)],
    "MATCH (a {name: 'link 7'})-[:succeeds]-(b) RETURN a.name, b.name": [("link 7", "link 6"), ("link 7", "link 8")],
    "MATCH (a:Link)-[r]->(b) RETURN type(r), count(*)": [
        ("ex:has_leaf", BRANCHES),
        ("ex:succeeds", len(NEXT)),
        ("rdf:type", len(KINDS)),
    ],
    "MATCH (a)-[:has_leaf]->(b) RETURN a, count(*) AS n ORDER BY n DESC": [("ex:hub", LEAVES), ("ex:n7", BRANCHES)],
    "MATCH (a)-[:succeeds]->(b) WHERE b.size > 3 RETURN b.size, count(*)": sorted(
        Counter(size for _, _, b in NEXT if (size := SIZE_OF.get(b, 0)) > 3).items()
    ),
    "MATCH (a)-[:succeeds]->(b) RETURN sum(b.size), count(b.size)": [
        (sum(SIZE_OF.get(b, 0) for _, _, b in NEXT), sum(b in SIZE_OF for _, _, b in NEXT))
    ],
    "MATCH (a)-[:succeeds]->(b) RETURN labels(b), count(*)": sorted(
        Counter(("ex:Link", "ex:Third") if int(b[1:]) % 3 == 0 else ("ex:Link",) for _, _, b in NEXT).items()
    ),
}


def _turtle(triples: list[tuple[str, str, str | int]]) -> str:
    def written(relation: str, tail: str | int) -> str:
        match relation:
            case "a":
                return f"a ex:{tail}"
            case "name":
                return f'<http://www.w3.org/2000/01/rdf-schema#label> "{tail}"'
            case _:
                return f"ex:{relation} {tail if isinstance(tail, int) else f'ex:{tail}'}"

    facts = (f"ex:{head} {written(relation, tail)} ." for head, relation, tail in triples)
    return "\n".join([f"@prefix ex: <{EX}> .", *facts])


async def _rows(adapter: GraphAdapter, text: str) -> list[tuple[object, ...]]:
    checked = await PlanRunner(adapter).check(parse_plan(text).plan)
    assert not checked.problems
    page = await evaluate(adapter, checked.plan, limit=10_000, bound=10_000)
    return [tuple(cell.id if isinstance(cell, Entity) else cell for cell in row.cells) for row in page.items]


async def _counts(adapter: GraphAdapter, entity: str, direction: Direction) -> dict[str, Count]:
    page = await adapter.relations([entity], direction, limit=100)
    return {facts.relation.id: facts.count for facts in page.items}


class SeveralGraphs:
    """What holds on each store."""

    @pytest.mark.parametrize(("text", "expected"), PLANS.items())
    async def test_a_plan_matches_each_triple_once(self, location: str, text: str, expected: list[tuple[object, ...]]):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert sorted(await _rows(adapter, text)) == expected

    async def test_relations_and_degrees_count_each_triple_once(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _counts(adapter, "ex:hub", Direction.OUTGOING) == {"ex:has_leaf": Count(LEAVES)}
            assert await _counts(adapter, "ex:n9", Direction.OUTGOING) == {
                "ex:size": Count(1),
                "ex:succeeds": Count(1),
                "rdf:type": Count(2),
                "rdfs:label": Count(1),
            }
            assert await _counts(adapter, "ex:Link", Direction.INCOMING) == {"rdf:type": Count(NODES)}
            (found,) = (await adapter.find("link 9", limit=1)).items
        assert found.degree == Count(6)  # one of the triples leads to it

    async def test_all_rows_of_an_entity_are_read_whatever_the_number_of_graphs(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            few = await adapter.neighbours(["ex:n7"], Direction.OUTGOING, limit=45, all_or_none=True)
            links, after = list[str](), None
            while after is not None or not links:
                page = await adapter.neighbours(["ex:hub"], Direction.OUTGOING, limit=500, after=after)
                links += (tail.id for link in page.items if isinstance(tail := link.triple.tail, Entity))
                after = page.positions[-1] if len(links) < LEAVES and page.items else None
        assert (len(few.items), few.total) == (BRANCHES + 3, Count(BRANCHES + 3))
        assert sorted(links) == sorted(f"ex:leaf{n}" for n in range(LEAVES))

    async def test_the_overview_counts_each_triple_once(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            schema, at_label = await adapter.schema(limit=100), await adapter.schema("Third", limit=100)
        assert schema.triples == Count(len(TRIPLES))
        assert {facts.id: facts.count for facts in schema.labels} == {
            f"ex:{kind}": Count(number) for kind, number in Counter(kind for _, _, kind in KINDS).items()
        }
        relations = {facts.relation.id: facts for facts in schema.relations}
        assert relations["ex:succeeds"].count == Count(len(NEXT))
        joins = {(head, tail): count for head, tail, count in relations["ex:succeeds"].ends}
        assert joins["ex:Link", "ex:Link"] == Count(len(NEXT))
        assert {facts.relation.id: facts.count for facts in schema.properties} == {
            "ex:size": Count(len(SIZES)),
            "rdfs:label": Count(NODES),
        }
        thirds = len(range(0, NODES, 3))
        assert {facts.relation.id: facts.count for facts in at_label.properties} == {
            "ex:size": Count(thirds),
            "rdfs:label": Count(thirds),
        }


class AllGraphs(SeveralGraphs):
    """What holds on stores that read all graphs if none is named."""

    async def test_several_graphs_are_read_if_none_is_named(self, location: str):
        address, _, _ = location.partition("?")
        async with open_adapter(f"{address}#prefix.ex={EX}", AdapterOptions()) as adapter:
            assert await _rows(adapter, "MATCH (a)-[:succeeds]->(b) RETURN count(*)") == [(len(NEXT),)]
            (advice,) = (await adapter.health()).advice
        assert "graphs are read as one: " in advice
        assert "?default-graph-uri=" in advice


class TestOnBlazegraph(SeveralGraphs):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, blazegraph: Blazegraph) -> str:
        return _loaded(blazegraph)


class TestOnFuseki(SeveralGraphs):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, fuseki: Fuseki) -> str:
        return _loaded(fuseki)


class TestOnRdf4j(AllGraphs):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, rdf4j: Rdf4j) -> str:
        return _loaded(rdf4j)


class TestOnOxigraph(SeveralGraphs):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return _loaded(oxigraph)


class TestOnVirtuoso(AllGraphs):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return _loaded(virtuoso)

    async def test_counts_of_many_triples_are_lower_bounds(self, location: str, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(several_graphs, "_MAX_MERGED", 100)
        async with open_adapter(location, AdapterOptions()) as adapter:
            schema = await adapter.schema(limit=100)
            assert await _rows(adapter, "MATCH (a)-[:succeeds]->(b) RETURN count(*)") == [(len(NEXT),)]
        of_largest = max(sum(triple in NEXT for triple in triples) for triples in (ONE, OTHER))
        counts = {facts.relation.id: facts.count for facts in schema.relations}
        assert counts["ex:succeeds"] == Count.at_least(of_largest)
        assert schema.triples.certainty is Certainty.AT_LEAST
        assert schema.triples.value < len(TRIPLES)
        assert several_graphs.TAKES_TOO_LONG in (schema.sampled or "")


def _loaded(store: RdfService) -> str:
    """Load both graphs; returns the location that reads them as one."""
    one, other = store.load_text("several-1", _turtle(ONE)), store.load_text("several-2", _turtle(OTHER))
    address, _, prefix = one.partition("#")
    return f"{address}&{other.partition('#')[0].partition('?')[2]}#{prefix}"


@pytest.mark.parametrize(
    ("graph", "is_system_graph"),
    [
        ("http://www.openlinksw.com/schemas/virtrdf#", True),
        ("http://localhost:8890/sparql", True),
        ("http://localhost:8890/DAV/home/", True),
        ("urn:activitystreams-owl:map", True),
        ("http://www.w3.org/ns/ldp#", True),
        ("http://localhost:8890/DAV", False),
        ("http://localhost:8890/sparql-examples", False),
        ("http://example.org/films", False),
    ],
)
def test_the_graphs_of_virtuoso_itself_are_known(graph: str, is_system_graph: bool):
    assert VIRTUOSO.is_system_graph(graph) is is_system_graph
