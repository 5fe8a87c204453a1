"""Plans over a chain of 20,000 edges are answered or refused soon, in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncGenerator
from pathlib import Path
from time import process_time

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Count, PlanPage
from kgnav_mcp.model import Path as PathCell
from kgnav_mcp.navigation.plans.budget import Deadline
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.plans.chains import EACH_PATH, LAST, LENGTH, write_chain

MAX_CPU_S = 4.0
"""A quarter of it is used on an idle machine. Work that grows with the square of the length takes ten seconds."""

PATIENCE_S = 120


@pytest.fixture(scope="module")
def chain_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    load(write_chain(folder), folder / "chain.kg")
    return folder / "chain.kg"


@pytest.fixture
async def chain(chain_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(chain_file), AdapterOptions(timeout=PATIENCE_S)) as opened:
        yield opened


async def answer(graph: GraphAdapter, cypher: str) -> PlanPage:
    runner = PlanRunner(graph, deadline=Deadline.after(PATIENCE_S))
    return await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=10)


@pytest.mark.parametrize("cypher", EACH_PATH)
async def test_paths_that_are_too_long_together_are_refused_soon(chain: GraphAdapter, cypher: str):
    begun = process_time()
    with pytest.raises(PlanTooLarge, match="needs more than 100,000 rows at once") as refused:
        await answer(chain, cypher)

    assert process_time() - begun < MAX_CPU_S
    assert "*1..2" in refused.value.next_step


async def test_a_refused_list_of_paths_takes_little_memory(chain: GraphAdapter):
    tracemalloc.start()
    try:
        with pytest.raises(PlanTooLarge):
            await answer(chain, EACH_PATH[1])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 1024**2


async def test_the_ends_of_long_paths_are_found_in_linear_time(chain: GraphAdapter):
    begun = process_time()
    page = await answer(chain, "MATCH (a {name: 'Node 0'})-[:next*]->(b) RETURN DISTINCT b")

    assert process_time() - begun < MAX_CPU_S
    assert page.total == Count(LENGTH)


async def test_one_long_path_between_known_ends_is_read_in_few_queries(chain: GraphAdapter):
    begun = process_time()
    ends = f"(a {{name: 'Node 0'}})-[:next*]->(b {{name: '{LAST}'}})"
    page = await answer(chain, f"MATCH p = shortestPath({ends}) RETURN p")

    assert process_time() - begun < MAX_CPU_S
    (path,) = page.items[0].cells
    assert isinstance(path, PathCell)
    assert [node.id for node in path.nodes] == [f"n{number}" for number in range(LENGTH + 1)]
