"""Texts are sorted and compared by code points, also where Neo4j does so by units of UTF-16."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from itertools import product

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.neo4j.graphs import write
from tests.neo4j_service import Neo4j

CHARACTERS = "az\u00e9\ud7ff\ue000\ufb01\U00010000\U0001f600"
TEXTS = ["".join(one) for length in (1, 2) for one in product(CHARACTERS, repeat=length)]
"""Those of one and of two characters, some of which UTF-16 has in another order."""


@pytest.fixture(scope="module")
def texts(neo4j: Neo4j) -> str:
    neo4j.clear()
    write(neo4j, "CREATE CONSTRAINT IF NOT EXISTS FOR (n:Text) REQUIRE n.id IS UNIQUE")
    write(neo4j, "UNWIND $texts AS one CREATE (:Text {id: one, value: one, list: [one]})", texts=TEXTS)
    write(neo4j, "CREATE (:`L\U0001f600`:`L\ufb01` {value: 1})-[:`T\U0001f600`]->(n:Last)-[:`T\ufb01`]->(n)")
    write(neo4j, "MATCH (n:Last) CREATE (n)-[:R {`k\U0001f600`: 1}]->(n), (n)-[:R {`k\ufb01`: 1}]->(n)")
    return neo4j.url


@pytest.fixture
async def graph(texts: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(texts, AdapterOptions()) as opened:
        yield opened


async def column(graph: GraphAdapter, cypher: str) -> list[object]:
    """The first column of what Neo4j answers."""
    return [row.cells[0] for row in (await graph.run(parse_plan(cypher).plan, limit=1_000)).items]


@pytest.mark.parametrize("value", ["n.value", "toLower(n.value)", "n.value + ''", "coalesce(n.value, '\ufb01')"])
async def test_rows_are_sorted_by_code_points(graph: GraphAdapter, value: str) -> None:
    assert await column(graph, f"MATCH (n:Text) RETURN {value} AS x") == sorted(TEXTS)
    assert await column(graph, f"MATCH (n:Text) RETURN n.value ORDER BY {value} DESC") == sorted(TEXTS, reverse=True)
    first = f"MATCH (n:Text) WITH n ORDER BY {value} LIMIT 40 RETURN n.value"
    assert await column(graph, first) == sorted(TEXTS)[:40]
    ends = f"MATCH (n:Text) RETURN [min({value}), max({value})]"
    assert await column(graph, ends) == [(min(TEXTS), max(TEXTS))]
    assert await column(graph, f"MATCH (n:Text) RETURN collect({value})") == [tuple(sorted(TEXTS))]


async def test_nodes_are_sorted_by_the_code_points_of_their_ids(graph: GraphAdapter) -> None:
    ids = [f"Text:id={one}" for one in sorted(TEXTS)]
    assert [getattr(one, "id", None) for one in await column(graph, "MATCH (n:Text) RETURN n")] == ids
    assert await column(graph, "MATCH (n:Text) RETURN elementId(n)") == ids


async def test_lists_and_texts_of_a_plan_are_sorted_by_code_points(graph: GraphAdapter) -> None:
    assert await column(graph, "MATCH (n:Text) RETURN n.list") == [(one,) for one in sorted(TEXTS)]
    written = ", ".join(f"'{one}'" for one in TEXTS)
    assert await column(graph, f"UNWIND [{written}] AS x RETURN x") == sorted(TEXTS)


@pytest.mark.parametrize("value", ["n.value", "toLower(n.value)", "n.list"])
@pytest.mark.parametrize("bound", ["a", "z\u00e9", "\ue000", "\ufb01a", "\U00010000", "z\U0001f600"])
async def test_texts_are_compared_by_code_points(graph: GraphAdapter, value: str, bound: str) -> None:
    for comparison, matches in (("<", str.__lt__), (">=", str.__ge__)):
        found = await column(graph, f"MATCH (n:Text) WHERE {value} {comparison} '{bound}' RETURN n.value")
        assert found == sorted(one for one in TEXTS if matches(one, bound))


async def test_texts_that_neo4j_makes_and_stores_are_compared_with_each_other(graph: GraphAdapter) -> None:
    pairs = sum(one < other for one in TEXTS for other in TEXTS)
    for one, other in product(("{}.value", "toLower({}.value)"), repeat=2):
        condition = f"{one.format('n')} < {other.format('m')}"
        assert await column(graph, f"MATCH (n:Text), (m:Text) WHERE {condition} RETURN count(*)") == [pairs]


@pytest.mark.parametrize(
    "cypher",
    ["MATCH (n)-[r]->() RETURN r", "MATCH (n)-[r]->() RETURN type(r) AS t", "MATCH (n {value: 1}) RETURN labels(n)"],
)
async def test_labels_and_types_are_sorted_by_code_points(graph: GraphAdapter, cypher: str) -> None:
    plan = parse_plan(cypher).plan
    evaluated = (await evaluate(graph, plan, limit=9, by_store=False)).items
    assert [row.cells for row in (await graph.run(plan, limit=9)).items] == [row.cells for row in evaluated]
