"""Groups that a graph file has counted are answered from these counts, as if the pattern had been matched."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.adapters.embedded.session import Parameter, Row, Session
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.embedded.compiled import same

HUBS = 6
PREFIXES = "@prefix : <http://x/> .\n@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"

COUNTED = (
    "MATCH (x)-->(n) RETURN n, count(*) ORDER BY count(*) DESC LIMIT 3",
    "MATCH (n)-->(x) RETURN n, count(x) AS c ORDER BY c DESC LIMIT 3",
    "MATCH (x)-[:to]->(n) RETURN n, count(*) AS c ORDER BY c DESC SKIP 1 LIMIT 3",
    "MATCH (n)-[r:to]->() RETURN n, count(DISTINCT r) AS c ORDER BY c DESC LIMIT 3",
    "MATCH (n)-[r:mixed|to]->() RETURN elementId(n) AS id, count(r) AS c ORDER BY count(r) DESC, id LIMIT 3",
    "MATCH (x)-[r]->(n) WITH n, count(r) AS c ORDER BY c DESC LIMIT 3 RETURN n, c + 1 AS more",
    "MATCH (x)-[:to]->(n:Even) RETURN n, count(*) AS c ORDER BY c DESC LIMIT 2",
    "MATCH (x)-[:to]->(n) WHERE n.size > 2 RETURN n, n.size, count(*) AS c ORDER BY c DESC LIMIT 2",
    "MATCH (x)-[:to]->(n) WITH n, count(*) AS c ORDER BY c DESC LIMIT 3 WHERE c > 70 RETURN n, c",
    "MATCH (x)-->(n) RETURN n, count(DISTINCT x) AS c ORDER BY c DESC LIMIT 3",
    "MATCH (n:Even)-[:to|mixed]->(x) RETURN n, count(DISTINCT x) AS c ORDER BY count(DISTINCT x) DESC LIMIT 2",
    "MATCH (x)--(n) RETURN n, count(*) AS c ORDER BY c DESC LIMIT 3",
    "MATCH (n)-[r:to]-() RETURN n, count(r) AS c ORDER BY c DESC LIMIT 6",
    "MATCH (n)-[r:to]-(x) RETURN n, count(DISTINCT r) AS c, count(x) ORDER BY c DESC LIMIT 3",
    "MATCH (n:Odd)--(x) WHERE n.size > 1 RETURN n, count(DISTINCT x) AS c ORDER BY c DESC LIMIT 2",
    "MATCH (n) RETURN labels(n), count(*) ORDER BY count(*) DESC",
    "MATCH (n:Even) RETURN labels(n) AS l, count(DISTINCT n) AS c, count(n)",
    "MATCH (n:Even:Big) RETURN labels(n), count(*)",
    "MATCH (n) RETURN size(labels(n)) AS size, count(*)",
    "MATCH (a)-[r]->(b) RETURN type(r), count(*) ORDER BY count(*) DESC",
    "MATCH (a)-[r:to|mixed]->(b) RETURN type(r) AS t, count(a), count(DISTINCT r)",
)
MATCHED = (
    "MATCH (n)-[:mixed]->(x) RETURN n, count(DISTINCT x) AS c ORDER BY c DESC SKIP 1 LIMIT 2",
    "MATCH (n)-[:to]-(x) RETURN n, count(DISTINCT x) AS c ORDER BY c DESC LIMIT 3",
    "MATCH (x)-->(n) RETURN n, count(*) AS c ORDER BY c DESC LIMIT 20",
    "MATCH (x)-->(n) RETURN n, count(*) AS c ORDER BY c LIMIT 3",
    "MATCH (x)-[:to]->(n:Leaf) RETURN n, count(*) AS c ORDER BY c DESC LIMIT 3",
    "MATCH (x)-->(n) RETURN n, count(DISTINCT x) AS c, count(x) AS d ORDER BY c DESC LIMIT 3",
    "MATCH (x)-->(n) RETURN n, count(DISTINCT x) AS c ORDER BY c DESC LIMIT 20",
    "MATCH (x)--(n) RETURN n, count(*) AS c ORDER BY c DESC LIMIT 20",
    "MATCH (x)-[r]-(n) RETURN type(r), count(*) AS c ORDER BY c DESC LIMIT 1",
    "MATCH (x:Leaf)-->(n) RETURN n, count(*) AS c ORDER BY c DESC LIMIT 3",
    "MATCH (x)-->(n) RETURN n.size, count(*) AS c ORDER BY c DESC LIMIT 3",
    "MATCH (a)-[r]->(b:Leaf) RETURN type(r), count(*)",
    "MATCH (a)-[r]->(b) RETURN type(r), labels(b), count(*)",
    "MATCH (a)-[:to]->(b) OPTIONAL MATCH (b)-[r:mixed]->(c) RETURN labels(c), type(r), count(*) AS n",
    "MATCH (a)-[:to]->(b) OPTIONAL MATCH (b)-[:mixed]->(c) RETURN labels(c), count(*) AS n",
    "MATCH (a)-[:to]->(b) RETURN labels(b), count(a) AS n",
)


@pytest.fixture(scope="module")
def hubs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Hubs above the degree floor in both directions; their outgoing rows are partly values, also of one relation."""
    folder = tmp_path_factory.mktemp("hubs")
    lines = [PREFIXES]
    for hub in range(HUBS):
        lines.append(f":h{hub} a :{'Even' if hub % 2 == 0 else 'Odd'} ; :size {hub} .\n")
        lines += [f":h{hub} a :Big .\n"] if hub > 2 else []
        lines += [f":n{number} :to :h{hub} .\n" for number in range(DEGREE_FLOOR + 2 + hub)]
        lines += [f":h{hub} :to :n{number} .\n" for number in range(DEGREE_FLOOR + 9 - hub)]
        lines += [f":h{hub} :mixed {number} .\n" for number in range(10 * hub)]
        lines += [f":h{hub} :to :h{hub} , :h0 .\n"]
        lines += [f":h{hub} :mixed :m{number} .\n" for number in range(DEGREE_FLOOR - hub)]
    lines += [f":n{number} a :Leaf .\n" for number in range(DEGREE_FLOOR)]
    (folder / "hubs.ttl").write_text("".join(lines), encoding="utf-8")
    load([folder / "hubs.ttl"], folder / "hubs.kg")
    return str(folder / "hubs.kg")


@pytest.fixture
async def opened(hubs: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(hubs, AdapterOptions()) as adapter:
        yield adapter


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries of plans."""
    found: list[str] = []
    all_rows = Session.all

    def recorded(self: Session, query: str, *parameters: Parameter) -> list[Row]:
        found.extend([query] if query.startswith("WITH t") else [])
        return all_rows(self, query, *parameters)

    monkeypatch.setattr(Session, "all", recorded)
    return found


@pytest.mark.parametrize("cypher", COUNTED)
async def test_groups_that_the_file_has_counted_are_not_counted_again(
    opened: GraphAdapter, queries: list[str], cypher: str
):
    checked = await PlanRunner(opened).check(parse_plan(cypher).plan)
    queries.clear()

    assert await same(opened, checked.plan)
    assert "edge AS" not in queries[0]
    assert "FROM node_label" not in queries[0] or "labels" not in cypher


@pytest.mark.parametrize("cypher", MATCHED)
async def test_groups_that_the_counts_may_not_have_are_counted(opened: GraphAdapter, queries: list[str], cypher: str):
    checked = await PlanRunner(opened).check(parse_plan(cypher).plan)
    queries.clear()

    assert await same(opened, checked.plan)
    assert "edge AS" in queries[0]


async def test_relations_and_labels_of_groups_are_named_once_for_each_number(opened: GraphAdapter, queries: list[str]):
    for cypher in (
        "MATCH (a:Leaf)-[r]->(b) RETURN type(r), count(*)",
        "MATCH (a)-[:to]->(b) RETURN labels(b), count(*)",
    ):
        await PlanRunner(opened).run((await PlanRunner(opened).check(parse_plan(cypher).plan)).plan, limit=9)
    by_type, by_labels = (query for query in queries if "edge AS" in query)

    assert "GROUP BY t" in by_type.partition("kg_relation")[0]
    assert "json_group_array(label)" in by_labels.partition("kg_labels")[0]
