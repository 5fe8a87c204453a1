"""Nodes are found by a value the same with an index and without one: numbers, dates, and items of lists."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import LiteralString, cast

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.model import Count, Literal
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.neo4j.graphs import fill
from tests.neo4j_service import Neo4j
from tests.sampling import sampled

_VALUES: tuple[LiteralString, ...] = (
    "'7'",
    "'007'",
    "7",
    "7.0",
    "9007199254740993",
    "9007199254740992.0",
    "true",
    "['x', '7']",
    "[1.5, 7.0]",
    "[-3, 7]",
    "[false, true]",
    "date('1815-12-11')",
    "localdatetime('1815-12-11T10:00')",
    "datetime('1815-12-12T01:00+02:00')",
    "[date('1816-01-01'), date('1815-12-11')]",
    "'1815'",
    "1815",
    "time('10:00Z')",
    "[time('09:00Z'), time('10:00Z')]",
)
_GRAPH: tuple[LiteralString, ...] = (
    "CREATE INDEX FOR (n:Indexed) ON (n.value)",
    *(
        cast("LiteralString", f"CREATE (:Indexed:Plain {{number: {number}, value: {value}}})")
        for number, value in enumerate(_VALUES)
    ),
    "CALL db.awaitIndexes()",
)
_FOUND = {
    "7": ["'7'", "7", "7.0", "['x', '7']", "[1.5, 7.0]", "[-3, 7]"],
    "7.0": ["7", "7.0", "[1.5, 7.0]", "[-3, 7]"],
    "007": ["'007'"],
    "9007199254740993": ["9007199254740993"],
    "9007199254740992": ["9007199254740992.0"],
    "true": ["true", "[false, true]"],
    "1815": [
        "date('1815-12-11')",
        "localdatetime('1815-12-11T10:00')",
        "datetime('1815-12-12T01:00+02:00')",
        "[date('1816-01-01'), date('1815-12-11')]",
        "'1815'",
        "1815",
    ],
    "1815-12-11": [
        "date('1815-12-11')",
        "localdatetime('1815-12-11T10:00')",
        "datetime('1815-12-12T01:00+02:00')",
        "[date('1816-01-01'), date('1815-12-11')]",
    ],
    "1815-12-11T10:00": [
        "date('1815-12-11')",
        "localdatetime('1815-12-11T10:00')",
        "[date('1816-01-01'), date('1815-12-11')]",
    ],
    "1816": ["[date('1816-01-01'), date('1815-12-11')]"],
    "10:00:00Z": ["time('10:00Z')", "[time('09:00Z'), time('10:00Z')]"],
    "nothing": [],
}


@pytest.fixture(scope="module")
def location(neo4j: Neo4j) -> str:
    return fill(neo4j, _GRAPH)


@pytest.fixture
async def graph(location: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(location, AdapterOptions()) as opened:
        yield opened


@pytest.mark.parametrize("label", ["Indexed", "Plain", None])
@pytest.mark.parametrize("value", sampled(_FOUND, 2))
async def test_nodes_are_found_by_a_value_with_and_without_an_index(graph: GraphAdapter, label: str | None, value: str):
    page = await graph.nodes(label, "value", value, limit=50)
    rows = (await graph.neighbour_ids([node.id for node in page.items], None, limit=200)).items
    numbers = [link.far_end for link in rows if link.triple.relation.id == "number"]
    found = [_VALUES[int(number.text)] for number in numbers if isinstance(number, Literal)]
    assert sorted(found) == sorted(_FOUND[value])
    assert page.total == Count(len(found))
