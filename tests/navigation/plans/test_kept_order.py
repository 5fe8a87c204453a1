"""What follows a sorted `WITH` keeps its order, as long as its rows are still those that were sorted."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.check.checker import keeping_order
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Order, Property, Variable
from kgnav_mcp.port import AdapterOptions

N_FIRST = (Order(Variable("n"), descending=True),)


def _order(cypher: str) -> tuple[Order, ...]:
    (pipeline,) = parse_cypher(f"MATCH (f)-[:directed_by]->(d) {cypher}").pipelines
    return keeping_order(pipeline).result.order


@pytest.mark.parametrize(
    ("cypher", "order"),
    [
        ("WITH d, count(f) AS n ORDER BY n DESC LIMIT 3 RETURN d", N_FIRST),
        ("WITH d, count(f) AS n ORDER BY count(f) DESC LIMIT 3 RETURN d.name", N_FIRST),
        ("WITH d, count(f) AS n ORDER BY n DESC MATCH (d)<-[:written_by]-(g) RETURN d, g", N_FIRST),
        ("WITH d, count(f) AS n ORDER BY n DESC LIMIT 3 WITH d, n WHERE n > 2 RETURN d", N_FIRST),
        (
            "WITH d ORDER BY d.born, d.name LIMIT 3 RETURN d",
            tuple(Order(Property("d", name)) for name in ("born", "name")),
        ),
    ],
)
def test_the_result_has_the_order_of_the_last_sorted_with(cypher: str, order: tuple[Order, ...]) -> None:
    assert _order(cypher) == order


@pytest.mark.parametrize(
    "cypher",
    [
        "WITH d, count(f) AS n RETURN d",
        "WITH d, count(f) AS n ORDER BY n DESC LIMIT 3 RETURN DISTINCT d",
        "WITH d, count(f) AS n ORDER BY n DESC LIMIT 3 RETURN count(d)",
        "WITH d, count(f) AS n ORDER BY n DESC LIMIT 3 RETURN d.name AS n",
        "WITH d, count(f) AS n ORDER BY n DESC LIMIT 3 WITH d MATCH (d)<-[:written_by]-(g) RETURN g",
        "WITH d, count(f) AS n ORDER BY n DESC LIMIT 3 WITH d.name AS m, sum(n) AS k RETURN m, k",
    ],
)
def test_other_results_stay_without_an_order(cypher: str) -> None:
    assert _order(cypher) == ()


def test_an_order_of_the_result_itself_stays() -> None:
    assert _order("WITH d, count(f) AS n ORDER BY n DESC LIMIT 3 RETURN d, n ORDER BY d.name") == (
        Order(Property("d", "name")),
    )


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
@pytest.mark.parametrize(
    ("cypher", "rows"),
    [
        ("WITH x ORDER BY x DESC WITH x LIMIT 2 RETURN x", [5, 4]),
        ("WITH x ORDER BY x DESC WITH x AS y LIMIT 2 RETURN y", [5, 4]),
        ("WITH x ORDER BY x % 3, x DESC WITH x, x % 3 AS y LIMIT 3 RETURN x", [3, 4, 1]),
        ("WITH x ORDER BY x DESC LIMIT 4 WITH x SKIP 1 LIMIT 2 RETURN x", [4, 3]),
        ("WITH x ORDER BY x DESC LIMIT 4 WITH x WHERE x <> 4 WITH x LIMIT 2 RETURN x", [5, 3]),
        ("WITH x ORDER BY x DESC WITH x LIMIT 2 RETURN collect(x)", [(5, 4)]),
        ("WITH x ORDER BY x DESC WITH x RETURN collect(x)", [(5, 4, 3, 2, 1)]),
        ("WITH x ORDER BY x DESC WITH 0 - x AS x LIMIT 2 RETURN x", [-5, -4]),
        ("WITH x ORDER BY x DESC WITH DISTINCT x LIMIT 2 RETURN x", [1, 2]),
        ("WITH x ORDER BY x DESC LIMIT 3 WITH x ORDER BY x WITH x LIMIT 2 RETURN x", [3, 4]),
    ],
)
async def test_a_later_with_cuts_in_the_kept_order(cypher: str, rows: list[object], *, by_store: bool):
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        runner = PlanRunner(graph, by_store=by_store)
        checked = await runner.check(parse_cypher(f"UNWIND [3, 1, 5, 2, 4] AS x {cypher}"))
        page = await runner.run(checked.plan, limit=9)
    assert [row.cells[0] for row in page.items] == rows
