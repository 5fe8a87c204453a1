"""Searches for paths that go on for many levels read all edges at once, and find the same paths.

The expected paths are found here, in Python.
"""

from __future__ import annotations

from collections import Counter

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.services import Oxigraph, Virtuoso

EX, RDF = "http://ex.example/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RING, CHAIN = 40, 2_000
_RING = [(f"r{n}", f"r{(n + 1) % RING}") for n in range(RING)] + [("r10", "r12"), ("r30", "r30")]
_PARALLEL = ("r20", "r21")
"""The ends of two edges that differ in their properties, if edges have some."""
_CHAIN = [(f"c{n}", f"c{n + 1}") for n in range(CHAIN)]
TRIPLES = "\n".join(
    (
        f"@prefix ex: <{EX}> . @prefix rdf: <{RDF}> .",
        *(f"ex:{source} ex:next ex:{target} ." for source, target in (*_RING, *_CHAIN)),
        *(f"ex:{source} ex:around ex:{target} ." for source, target in _RING),
        "ex:r3 ex:next 7 ; ex:likes ex:r4 . ex:r4 ex:likes ex:c0 .",
    )
)
STATEMENTS = f"""{TRIPLES}
[] rdf:subject ex:r20 ; rdf:predicate ex:around ; rdf:object ex:r21 ; ex:since 1900 .
[] rdf:subject ex:r20 ; rdf:predicate ex:around ; rdf:object ex:r21 ; ex:since 1901 .
"""


def _trails(
    start: str, edges: list[tuple[str, str]], *, either: bool, longest: int | None = None
) -> Counter[tuple[str, int]]:
    """The number of paths from a node that repeat no edge, by their end and length."""
    numbered = list(enumerate(edges))
    steps: dict[str, list[tuple[int, str]]] = {}
    for number, (source, target) in numbered:
        steps.setdefault(source, []).append((number, target))
        if either and source != target:
            steps.setdefault(target, []).append((number, source))
    found = Counter[tuple[str, int]]()
    pending: list[tuple[str, frozenset[int]]] = [(start, frozenset())]
    while pending:
        node, taken = pending.pop()
        if taken:
            found[f"ex:{node}", len(taken)] += 1
        if len(taken) == longest:
            continue
        pending += [(far, taken | {number}) for number, far in steps[node] if number not in taken]
    return found


async def _rows(adapter: GraphAdapter, text: str, limit: int = 10_000) -> list[list[object]]:
    runner = PlanRunner(adapter)
    checked = await runner.check(parse_plan(text).plan)
    assert not checked.problems
    page = await runner.run(checked.plan, limit=limit)
    return [[getattr(cell, "id", cell) for cell in row.cells] for row in page.items]


class LongSearches:
    """What holds on each store."""

    @pytest.mark.parametrize("arrow", ["->", "-"])
    @pytest.mark.parametrize(("relation", "edges"), [("next", _RING), ("around", [*_RING, _PARALLEL])])
    async def test_each_path_around_a_ring_is_found_once(
        self, location: str, relation: str, edges: list[tuple[str, str]], arrow: str
    ):
        expected = _trails("r0", edges, either=arrow == "-")
        async with open_adapter(location, AdapterOptions()) as adapter:
            pattern = f"(a {{id: 'ex:r0'}})-[:{relation}*]{arrow}(b)"
            rows = await _rows(adapter, f"MATCH p = {pattern} RETURN b, length(p), count(*)")
        assert {(end, length): count for end, length, count in rows} == expected

    async def test_the_ends_of_a_chain_are_found_from_its_middle(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            for text, expected in (
                ("MATCH (a {id: 'ex:c1000'})-[:next*]-(b) RETURN count(DISTINCT b)", CHAIN),
                ("MATCH (a {id: 'ex:c1000'})<-[:next*]-(b) RETURN count(*)", CHAIN // 2),
                ("MATCH p = shortestPath((a {id: 'ex:c5'})-[:next*]->(b {id: 'ex:c1990'})) RETURN length(p)", 1985),
                ("MATCH p = shortestPath((a {id: 'ex:c5'})-[:next*]-(b {id: 'ex:c1990'})) RETURN length(p)", 1985),
            ):
                assert await _rows(adapter, text) == [[expected]], text

    async def test_paths_of_which_there_are_too_many_are_refused(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            with pytest.raises(PlanTooLarge):
                await _rows(adapter, "MATCH (a {id: 'ex:c0'})-[:next*]->(b) RETURN count(b)")


class TestOnOxigraph(LongSearches):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("long-searches", STATEMENTS)


class TestOnVirtuoso(LongSearches):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("long-searches", STATEMENTS)


async def test_few_queries_search_a_long_chain():
    store = InProcess(TRIPLES)
    async with opened_over(store, HERE) as adapter:
        assert await _rows(adapter, "MATCH (a {id: 'ex:c1000'})-[:next*]-(b) RETURN count(DISTINCT b)") == [[CHAIN]]
    assert len(store.queries) < CHAIN / 10


async def test_a_search_from_many_nodes_reads_all_edges_at_once_and_lists_the_nodes_without_counting_them():
    edges = [*_RING, *_CHAIN]
    store = InProcess(TRIPLES)
    async with opened_over(store, HERE) as adapter:
        rows = await _rows(adapter, "MATCH (a)-[:next*..3]-(b) RETURN a, count(b) AS n")
    numbers = {row[0]: row[1] for row in rows}
    assert {*numbers} == {f"ex:{node}" for edge in edges for node in edge}
    for node in ("r0", "r10", "r12", "r30", "r31", "c0", "c1", "c1000", f"c{CHAIN}"):
        assert numbers[f"ex:{node}"] == _trails(node, edges, either=True, longest=3).total()
    assert any("?n0 <http://ex.example/next> ?n1" in query and "GROUP BY ?n0 ?n1" in query for query in store.queries)
    assert not any("(COUNT(DISTINCT ?s) AS ?n)" in query for query in store.queries)


async def test_a_search_through_a_few_levels_reads_only_their_edges():
    store = InProcess(TRIPLES)
    async with opened_over(store, HERE) as adapter:
        assert await _rows(adapter, "MATCH (a {id: 'ex:c1000'})-[:next*..12]-(b) RETURN count(b)") == [[24]]
    assert not any(
        "?n0 <http://ex.example/next> ?n1" in query and "GROUP BY ?n0 ?n1" in query for query in store.queries
    )
