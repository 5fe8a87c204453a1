"""Nodes that paths of any length lead to are found by one query, also where edges have properties.

The expected nodes are found here, in Python.
"""

from __future__ import annotations

from random import Random

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Entity
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.services import Oxigraph, Virtuoso

EX, RDF = "http://ex.example/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
NODES, CHAIN = 40, 500
_CHANCE = Random(5)  # noqa: S311 - a graph for tests
_BY_CHANCE = {(f"n{_CHANCE.randrange(NODES)}", f"n{_CHANCE.randrange(NODES)}") for _ in range(NODES)}
_CYCLES = {("n0", "n0"), ("n1", "n2"), ("n2", "n1")}
_LONG = {(f"c{n}", f"c{n + 1}") for n in range(CHAIN)} | {("n1", "c0")}
EDGES = _BY_CHANCE | _CYCLES | _LONG
TURTLE = "\n".join(
    (
        f"@prefix ex: <{EX}> . @prefix rdf: <{RDF}> .",
        *(f"ex:{source} ex:next ex:{target} ." for source, target in sorted(EDGES)),
        *(f'ex:{node} ex:code "{node}" .' for node in sorted({end for edge in EDGES for end in edge})),
        "ex:n3 ex:next 7 . ex:n1 ex:likes ex:n2 .",
        "[] rdf:subject ex:n1 ; rdf:predicate ex:next ; rdf:object ex:n2 ; ex:since 1900 .",
        "[] rdf:subject ex:n1 ; rdf:predicate ex:likes ; rdf:object ex:n2 ; ex:since 1901 .",
    )
)
PAIRS = [("n0", "n0"), ("c499", "c500"), ("c500", "c499"), ("c500", "c500"), ("c490", "n3")]
STARTS = ["n0", "n1", "n2", "n3", "n7", "n11", "c0", "c499", "c500"]


def _reached(start: str, edges: set[tuple[str, str]]) -> list[str]:
    """The nodes that paths of at least one edge lead to."""
    found: set[str] = set()
    frontier = {start}
    while frontier:
        frontier = {target for source, target in edges if source in frontier} - found
        found |= frontier
    return sorted(f"ex:{one}" for one in found)


async def _ends(adapter: GraphAdapter, pattern: str) -> tuple[list[str], int]:
    """The ends of a pattern, as rows and as a count."""
    runner = PlanRunner(adapter)
    cells: list[list[object]] = []
    for returned in ("DISTINCT b", "count(DISTINCT b)"):
        checked = await runner.check(parse_plan(f"MATCH {pattern} RETURN {returned}").plan)
        assert not checked.problems
        page = await runner.run(checked.plan, limit=2 * CHAIN)
        cells.append([row.cells[0] for row in page.items])
    count = cells[1][0]
    assert isinstance(count, int)
    return sorted(one.id for one in cells[0] if isinstance(one, Entity)), count


class ReachableNodes:
    """What holds on each store."""

    @pytest.mark.parametrize("start", STARTS)
    async def test_paths_lead_forward_and_back(self, location: str, start: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            for pattern, edges in (
                (f"(a {{id: 'ex:{start}'}})-[:next*]->(b)", EDGES),
                (f"(a {{id: 'ex:{start}'}})<-[:next*]-(b)", {(target, source) for source, target in EDGES}),
            ):
                expected = _reached(start, edges)
                assert await _ends(adapter, pattern) == (expected, len(expected)), pattern

    async def test_paths_of_no_edge_lead_to_their_start(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            for start in STARTS:
                expected = sorted({*_reached(start, EDGES), f"ex:{start}"})
                assert await _ends(adapter, f"(a {{id: 'ex:{start}'}})-[:next*0..]->(b)") == (expected, len(expected))

    async def test_a_path_from_a_node_leads_to_another_one_or_not(self, location: str):
        runs: list[tuple[str, bool]] = []
        async with open_adapter(location, AdapterOptions()) as adapter:
            for start, end in PAIRS:
                leads = f"ex:{end}" in _reached(start, EDGES)
                for key, prefix in (("code", ""), ("id", "ex:")):
                    one, other = (f"{{{key}: '{prefix}{node}'}}" for node in (start, end))
                    runs += [
                        (f"MATCH (a {one}) WHERE EXISTS {{ (a)-[:next*]->({other}) }} RETURN a", leads),
                        (f"MATCH (a {other}) WHERE EXISTS {{ (a)<-[:next*]-({one}) }} RETURN a", leads),
                        (f"MATCH (a {one})-[:next*]->({other}) RETURN DISTINCT a", leads),
                    ]
            runner = PlanRunner(adapter)
            for text, leads in runs:
                page = await runner.run((await runner.check(parse_plan(text).plan)).plan, limit=9)
                assert len(page.items) == leads, text

    async def test_nodes_that_a_property_selects_reach_a_cycle_and_a_chain(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            for start in STARTS:
                expected = _reached(start, EDGES)
                assert await _ends(adapter, f"(a {{code: '{start}'}})-[:next*]->(b)") == (expected, len(expected))


class TestOnOxigraph(ReachableNodes):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("reachable", TURTLE)


class TestOnVirtuoso(ReachableNodes):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("reachable", TURTLE)


async def test_one_query_finds_the_end_of_a_long_chain():
    store = InProcess(TURTLE)
    async with opened_over(store, HERE) as adapter:
        assert (await _ends(adapter, "(a {id: 'ex:c0'})-[:next*]->(b)"))[1] == CHAIN
    assert len(store.queries) < CHAIN / 5
