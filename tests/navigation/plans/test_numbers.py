"""Numbers in plans: an integer is not the float that equals it, no float is too large for a sum, integers have 64 bits.

Each plan runs in the store, which compiles it, and is evaluated here: both must give the right rows.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Constant
from kgnav_mcp.port import AdapterOptions, GraphAdapter

LARGEST = 2**63 - 1


@pytest.fixture
async def demo() -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        yield graph


def test_constants_of_different_types_are_different_even_if_their_values_are_equal():
    assert len({Constant(1), Constant(1.0), Constant(True), Constant(1)}) == 3


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
@pytest.mark.parametrize(
    ("cypher", "expected"),
    [
        ("UNWIND [5, 4] AS x RETURN x / 2 AS a, x / 2.0 AS b", [(2, 2.0), (2, 2.5)]),
        ("UNWIND [5, 4] AS x RETURN sum(x / 2) AS a, sum(x / 2.0) AS b", [(4, 4.5)]),
        ("UNWIND [5, 4] AS x RETURN x / 2 AS a, x ORDER BY x / 2.0 DESC", [(2, 5), (2, 4)]),
        (
            "UNWIND [1, true, 0] AS x RETURN x = 1 AS one, x ORDER BY x = true DESC, x = 1 DESC",
            [(False, True), (True, 1), (False, 0)],
        ),
        ("RETURN toString(1) AS a, toString(1.0) AS b", [("1", "1.0")]),
        ("UNWIND [1e308, 1e308] AS x RETURN sum(x), avg(x)", [(math.inf, 1e308)]),
        ("UNWIND [1e308, 1e308, -1e308] AS x RETURN sum(x)", [(1e308,)]),
        ("UNWIND [1.0, 3.0] AS x RETURN sum(x / 0), avg(x / 0)", [(math.inf, math.inf)]),
        (f"UNWIND [{LARGEST}, {LARGEST}] AS x RETURN avg(x), max(x)", [(float(LARGEST), LARGEST)]),
        (f"UNWIND [{LARGEST}, -1, 1] AS x RETURN sum(x)", [(LARGEST,)]),
        (f"RETURN {LARGEST} - 1 AS a, -{LARGEST} - 1 AS b, {LARGEST} * 2.0 AS c", [(LARGEST - 1, -(2**63), 2.0**64)]),
        (f"WITH toInteger('{2**70}') AS x RETURN x, x - x AS zero, x > {LARGEST} AS more", [(2**70, 0, True)]),
        (
            f"WITH toInteger('1{'0' * 400}') AS x RETURN toFloat(x) AS a, round(x) AS b, x / 2.0 AS c",
            [(math.inf, math.inf, None)],
        ),
        ("RETURN round(0.49999999999999994) AS a, round(-0.5) AS b, round(2.5) AS c", [(0.0, 0.0, 3.0)]),
        (
            f"RETURN toInteger('{LARGEST}') AS a, toInteger(' -{LARGEST}0') AS b, toInteger('1.9') AS c",
            [(LARGEST, -10 * LARGEST, 1)],
        ),
    ],
)
async def test_numbers_keep_their_type_and_their_size(
    demo: GraphAdapter, cypher: str, expected: list[tuple[object, ...]], *, by_store: bool
):
    page = await PlanRunner(demo, by_store=by_store).run(parse_cypher(cypher), limit=9)
    rows = [row.cells for row in page.items]
    assert [[(type(cell), cell) for cell in row] for row in rows] == [
        [(type(cell), cell) for cell in row] for row in expected
    ]


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
@pytest.mark.parametrize(
    "cypher",
    [
        f"RETURN {LARGEST} + 1 AS x",
        f"RETURN -{LARGEST} - 2 AS x",
        f"RETURN (-{LARGEST} - 1) / -1 AS x",
        f"RETURN abs(-{LARGEST} - 1) AS x",
        "RETURN toInteger(1e21) AS x",
        "RETURN toInteger('1e21') AS x",
        f"UNWIND [{LARGEST}, 1] AS x RETURN sum(x)",
        f"MATCH (n) RETURN sum({LARGEST})",
        f"MATCH (n) WITH n ORDER BY n.name LIMIT 1 WHERE {LARGEST} * 2 > 0 RETURN n",
        f"WITH 9007199254740993 AS a {'WITH a * a AS a ' * 6} RETURN a",
    ],
)
async def test_an_integer_that_does_not_have_64_bits_is_an_error(demo: GraphAdapter, cypher: str, *, by_store: bool):
    with pytest.raises(InvalidArgument, match="is not a 64-bit integer") as caught:
        await PlanRunner(demo, by_store=by_store).run(parse_cypher(cypher), limit=9)
    assert "toFloat" in caught.value.next_step


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
@pytest.mark.parametrize("function", ["sum", "avg"])
async def test_infinities_of_both_signs_have_no_sum(demo: GraphAdapter, function: str, *, by_store: bool):
    plan = parse_cypher(f"UNWIND [1.0, -1.0] AS x RETURN {function}(x / 0)")
    ((number,),) = [row.cells for row in (await PlanRunner(demo, by_store=by_store).run(plan, limit=9)).items]
    assert isinstance(number, float)
    assert math.isnan(number)
