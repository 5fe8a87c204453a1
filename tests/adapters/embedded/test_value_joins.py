"""An equality of two sets is run by SQL where it tests few pairs of values, and left to the evaluator otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter

NODES = 600
CODES, REFERENCES = [f"c{n % 70}" for n in range(NODES)], [f"c{n % 90}" for n in range(NODES)]
PAIRS = sum(Counter(CODES)[each] for each in REFERENCES)
NAMES = "[" + ", ".join(f"'Node {n}'" for n in range(50)) + "]"
CASES = (
    ("MATCH (a:A), (b:A) WHERE b.code = a.ref RETURN count(*)", PAIRS, False),
    ("MATCH (a:A) WITH a MATCH (b:A) WHERE a.ref = b.code RETURN count(*)", PAIRS, False),
    ("MATCH (a:A) OPTIONAL MATCH (b:A) WHERE a.ref = b.code AND b.code <> 'c1' RETURN count(b)", None, False),
    (f"UNWIND {NAMES} AS x MATCH (b {{name: x}}) RETURN count(b)", 50, False),
    ("MATCH (a {id: 'n3'}), (b:A) WHERE b.code = a.ref RETURN count(*)", Counter(CODES)["c3"], True),
    ("UNWIND ['c1', 'c2'] AS x MATCH (b:A {code: x}) RETURN count(b)", Counter(CODES)["c1"] * 2, True),
    ("MATCH (a:A)-[:next]->(b:A) WHERE a.code = b.ref RETURN count(*)", None, True),
)


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joins")
    nodes = [f"n{n},Node {n},A,{CODES[n]},{REFERENCES[n]}\n" for n in range(NODES)]
    (folder / "nodes.csv").write_text(f":ID,name,:LABEL,code,ref\n{''.join(nodes)}", "utf-8")
    edges = [f"n{n},n{(n + 1) % NODES},next\n" for n in range(NODES)]
    (folder / "edges.csv").write_text(f":START_ID,:END_ID,:TYPE\n{''.join(edges)}", "utf-8")
    load([folder / "nodes.csv", folder / "edges.csv"], folder / "graph.kg")
    return folder / "graph.kg"


@pytest.fixture
async def adapter(graph_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(graph_file), AdapterOptions()) as adapter:
        yield adapter


def _expected(cypher: str) -> int:
    if "OPTIONAL" in cypher:
        return sum(Counter(CODES)[each] for each in REFERENCES if each != "c1")
    return sum(CODES[n] == REFERENCES[(n + 1) % NODES] for n in range(NODES))


@pytest.mark.parametrize(("cypher", "number", "by_store"), CASES)
async def test_pairs_with_equal_values_are_counted_by_the_side_that_tests_few_of_them(
    adapter: GraphAdapter, cypher: str, number: int | None, by_store: bool
):
    checked = await PlanRunner(adapter).check(parse_plan(cypher).plan)
    assert not checked.problems
    page = await PlanRunner(adapter).run(checked.plan, limit=9)
    assert [row.cells for row in page.items] == [(_expected(cypher) if number is None else number,)]
    if by_store:
        assert (await adapter.run(checked.plan, limit=9)).items == page.items
    else:
        with pytest.raises(Unsupported, match="pairs of values"):
            await adapter.run(checked.plan, limit=9)
