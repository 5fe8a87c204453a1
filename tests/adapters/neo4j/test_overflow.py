"""What Neo4j computes beyond 64 bits is never a rounded or a wrong number: plans give the exact one, or an error."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import LiteralString

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.neo4j.graphs import fill
from tests.neo4j_service import Neo4j

GREATEST, LEAST = 2**63 - 1, -(2**63)
GRAPH: tuple[LiteralString, ...] = (
    """
    UNWIND [['small', 3, 3], ['small', 4, 0.5], ['between', 9223372036854775807, 9223372036854775807],
            ['between', 1, 1], ['between', -5, -5], ['beyond', 9223372036854775807, 2], ['beyond', 2, 1],
            ['least', -9223372036854775807 - 1, -9223372036854775807 - 1], ['least', 3, 0.5]] AS one
    CREATE (:Number {group: one[0], whole: one[1], mixed: one[2]})
    """,
    "UNWIND [1e300, -1e300, 2.5, -2.5, 4503599627370497.5] AS one CREATE (:Fraction {value: one})",
)


@pytest.fixture(scope="module")
def numbers(neo4j: Neo4j) -> str:
    return fill(neo4j, GRAPH)


@pytest.fixture
async def graph(numbers: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(numbers, AdapterOptions()) as opened:
        yield opened


async def answer(graph: GraphAdapter, returned: str, group: str) -> list[object]:
    """The column that is returned for a group of numbers, the smallest value first."""
    plan = parse_plan(f"MATCH (n:Number {{group: '{group}'}}) RETURN {returned} AS x ORDER BY x").plan
    return [row.cells[0] for row in (await PlanRunner(graph).run(plan, limit=9)).items]


@pytest.mark.parametrize(
    ("returned", "group", "expected"),
    [
        ("sum(n.whole)", "small", [7]),
        ("sum(n.mixed)", "small", [3.5]),
        ("sum(n.whole)", "none", [0]),
        ("sum(n.whole)", "between", [GREATEST - 4]),
        ("sum(DISTINCT n.whole)", "between", [GREATEST - 4]),
        ("sum(n.mixed)", "between", [GREATEST - 4]),
        ("sum(n.whole)", "least", [LEAST + 3]),
        ("abs(n.whole)", "between", [1, 5, GREATEST]),
        ("abs(n.mixed)", "small", [0.5, 3]),
        ("n.whole / -1", "between", [-GREATEST, -1, 5]),
        ("n.whole % -1", "least", [0, 0]),
    ],
)
async def test_numbers_of_64_bits_are_exact(
    graph: GraphAdapter, returned: str, group: str, expected: list[object]
) -> None:
    found = await answer(graph, returned, group)
    assert found == expected
    assert [type(one) for one in found] == [type(one) for one in expected]


@pytest.mark.parametrize(
    ("returned", "group"),
    [
        ("sum(n.whole)", "beyond"),
        ("sum(n.whole) + 1", "beyond"),
        ("abs(n.whole)", "least"),
        ("abs(n.mixed)", "least"),
        ("n.whole / -1", "least"),
    ],
)
async def test_an_integer_beyond_64_bits_is_an_error(graph: GraphAdapter, returned: str, group: str) -> None:
    with pytest.raises(InvalidArgument, match="is not a 64-bit integer"):
        await answer(graph, returned, group)


@pytest.mark.parametrize("returned", ["sum(n.whole)", "sum(n.mixed)", "abs(n.whole)", "n.whole / -1"])
async def test_neo4j_computes_numbers_of_64_bits_itself(graph: GraphAdapter, returned: str) -> None:
    plan = parse_plan(f"MATCH (n:Number {{group: 'small'}}) RETURN {returned}").plan
    assert (await graph.run(plan, limit=9)).items


async def test_large_fractions_are_rounded_to_themselves(graph: GraphAdapter) -> None:
    plan = parse_plan("MATCH (n:Fraction) RETURN round(n.value) AS x ORDER BY x").plan
    expected = [-1e300, -2.0, 3.0, 4503599627370498.0, 1e300]
    assert [row.cells[0] for row in (await graph.run(plan, limit=9)).items] == expected
