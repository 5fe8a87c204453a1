"""What follows a sorted `WITH` keeps its order, as long as its rows are still those that were sorted."""

from __future__ import annotations

import pytest

from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.check.checker import keeping_order
from kgnav_mcp.plan import Order, Property, Variable

N_FIRST = (Order(Variable("n"), descending=True),)


def _order(cypher: str) -> tuple[Order, ...]:
    (pipeline,) = parse_cypher(f"MATCH (f)-[:directed_by]->(d) {cypher}").pipelines
    kept = keeping_order(pipeline)
    assert kept.clauses[:-1] == pipeline.clauses[:-1]
    return kept.result.order


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
