"""Plans that run as one query of a graph file answer what the evaluator answers, row by row."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract import toy, toy_files, toy_views
from tests.plans.cases import CASES, PEOPLE
from tests.plans.comparing import ALL, all_rows, of_answer
from tests.plans.graph import Plain
from tests.plans.strategies import plans_by_chance, words_of
from tests.plans.toys import plain, random_toy

PLANS = 100
"""By chance, on each graph."""
_KINDS: dict[type[object], toy.Kind] = {bool: "boolean", int: "integer", float: "decimal", str: "string"}


def _value(value: Plain) -> toy.Value:
    return toy.Value(str(value).lower() if isinstance(value, bool) else str(value), _KINDS[type(value)])


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The graph of the cases."""
    folder = tmp_path_factory.mktemp("people")
    nodes = [
        toy.Node(one.id, tuple(sorted(one.labels)), properties=tuple((name, _value(each)) for name, each in one.properties))
        for one in PEOPLE.nodes.values()
    ]
    edges = [
        toy.Edge(one.head, one.relation, one.tail, tuple((name, _value(each)) for name, each in one.properties))
        for one in PEOPLE.edges
    ]
    load(toy_files.write_property_graph(folder, nodes, edges), folder / "people.kg", LoadOptions())
    return str(folder / "people.kg")


@pytest.fixture
async def opened(people: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(people, AdapterOptions()) as adapter:
        yield adapter


async def _same(adapter: GraphAdapter, plan: Plan) -> bool:
    """Whether a plan was run by a query; it has the rows of the evaluator then, whole and in pages."""
    try:
        page = await adapter.run(plan, limit=ALL)
    except Unsupported as error:
        import os
        if 'SHOW' in os.environ: print('UNSUP', error, str(plan)[:0])
        return False
    expected = await evaluate(adapter, plan, limit=ALL)
    assert [row.cells for row in page.items] == [row.cells for row in expected.items], plan
    assert (page.columns, page.total, page.stop) == (expected.columns, expected.total, expected.stop)
    if 1 < len(page.items) < 100:
        whole = [tuple(map(of_answer, row.cells)) for row in page.items]
        assert await all_rows(lambda limit, after: adapter.run(plan, limit=limit, after=after), 3) == whole
    return True


@pytest.mark.parametrize(("cypher", "plan"), CASES, ids=[cypher for cypher, _ in CASES])
async def test_a_case_answers_the_same_as_one_query(opened: GraphAdapter, cypher: str, plan: Plan):
    assert await _same(opened, plan) or cypher


@pytest.mark.parametrize("seed", range(4))
async def test_a_plan_by_chance_answers_the_same_as_one_query(seed: int, tmp_path: Path):
    nodes, edges = random_toy(seed)
    load(toy_files.write_property_graph(tmp_path, nodes, edges), tmp_path / "random.kg", LoadOptions())
    graph = plain(toy_views.view(toy_views.PROPERTY_GRAPH, nodes, edges), nodes)
    async with open_adapter(str(tmp_path / "random.kg"), AdapterOptions()) as adapter:
        run = [await _same(adapter, plan) for plan in plans_by_chance(words_of(graph), PLANS)]
    print("RAN", sum(run), len(run))
    assert sum(run) > len(run) / 10
