"""A grouping with few groups is answered, however many rows it groups."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.navigation.plans.writing import rows

NODES, EDGES = 300, 2_000
BOUND = 400
"""Rows that may be held: fewer than there are edges, more than there are nodes."""
GROUPINGS = (
    "RETURN toUpper(type(r)) AS k, count(*) AS n",
    "RETURN CASE WHEN a.size > 50 THEN 'big' WHEN a.size > 20 THEN 'some' ELSE 0 END AS k, count(*) AS n",
    "RETURN CASE type(r) WHEN 'knows' THEN r.role END AS k, count(*) AS n",
    "RETURN CASE r.role WHEN 'role 1' THEN 1.5 ELSE r.year END AS k, count(DISTINCT b) AS n",
    "RETURN CASE type(r) WHEN 'knows' THEN 'p' ELSE 'f' END AS k, collect(DISTINCT r.role) AS n",
    "RETURN r.year / 10 AS k, count(*) AS n",
    "RETURN coalesce(r.role, 'none') AS k, max(r.year), min(a.size), min(a.kind), max(b.kind) AS n",
    "RETURN labels(a) AS k, labels(b) AS l, count(*) AS n",
    "RETURN split(a.kind, ' ')[0] AS k, count(*) AS n",
    "RETURN a.size > b.size AS k, count(*) AS n",
    "RETURN year(a.born) AS k, count(*) AS n",
    "RETURN [a.size % 2, b.size % 2] AS k, count(*) AS n",
    "RETURN a.kind =~ 'red.*' AS k, count(*) AS n",
    "RETURN exists { (b)-[:knows]->() } AS k, count(*) AS n",
    "RETURN type(r) AS k, stDev(r.year), stDevP(a.size), avg(a.half), sum(a.half), sum(a.size), avg(r.year) AS n",
    "RETURN type(r) AS k, percentileCont(r.year, 0.5) AS m, percentileDisc(a.size, 0.9) AS n, stDev(DISTINCT a.size)",
    "RETURN stDev(a.name) AS k, percentileCont(a.name, 0.5) AS m, min(toFloat(a.name)), max(toFloat(a.name)) AS n",
    "WITH a, count(r) AS d RETURN d / 10 AS k, count(*) AS n",
    "WITH toLower(r.role) AS role, r.year AS y RETURN role, y % 2 AS k, count(*) AS n, sum(y) AS s",
    "WITH DISTINCT r.role AS role, type(r) AS t RETURN t AS k, count(role) AS n",
    "WITH r WHERE r.year > 1990 WITH r.role AS k, r.year % 5 AS y RETURN k, avg(y) AS n",
)


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("groupings")
    nodes = [
        f"n{n},Node {n},{('Person', 'Film', 'Place')[n % 3]},{n % 97},{n / 2},{1900 + n % 9}-01-1{n % 9},"
        f"{('red', 'green', 'blue')[n % 3]} {n % 5}\n"
        for n in range(NODES)
    ]
    (folder / "nodes.csv").write_text(f":ID,name,:LABEL,size:int,half:float,born,kind\n{''.join(nodes)}", "utf-8")
    edges = [
        f"n{n * 7 % NODES},n{n * n % NODES},{('acted_in', 'directed', 'knows')[n % 3]},role {n % 13},{1950 + n % 60}\n"
        for n in range(EDGES)
    ]
    (folder / "edges.csv").write_text(f":START_ID,:END_ID,:TYPE,role,year:int\n{''.join(edges)}", "utf-8")
    load([folder / "nodes.csv", folder / "edges.csv"], folder / "graph.kg")
    return folder / "graph.kg"


@pytest.fixture
async def graph(graph_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(graph_file), AdapterOptions()) as opened:
        yield opened


@pytest.mark.parametrize("grouping", GROUPINGS)
async def test_a_grouping_of_more_rows_than_the_limit_is_answered(graph: GraphAdapter, grouping: str):
    runner = PlanRunner(graph, bound=BOUND)
    checked = await runner.check(parse_plan(f"MATCH (a)-[r]->(b) {grouping} ORDER BY k").plan)
    page = await runner.run(checked.plan, limit=100)

    assert not checked.problems
    assert rows(page) == rows(await evaluate(graph, checked.plan, limit=100, by_store=False))
