"""Plans over a chain of 20,000 edges are answered or refused soon, in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncGenerator
from itertools import count
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
from tests.plans.chains import EACH_PATH, LENGTH, write_chain
from tests.sampling import sampled

pytestmark = pytest.mark.slow

SHORT = LENGTH // 5
MAX_GROWTH = 12
"""Maximum ratio of the CPU times of the two chains: 5 if they grow with the length, 25 if with its square."""
PATIENCE_S = 120


@pytest.fixture(scope="module")
def chain_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    load(write_chain(folder), folder / "chain.kg")
    return folder / "chain.kg"


@pytest.fixture
async def short_chain(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    load(write_chain(tmp_path, SHORT), tmp_path / "chain.kg")
    async with open_adapter(str(tmp_path / "chain.kg"), AdapterOptions(timeout=PATIENCE_S)) as opened:
        yield opened


@pytest.fixture
async def chain(chain_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(chain_file), AdapterOptions(timeout=PATIENCE_S)) as opened:
        yield opened


async def answer(graph: GraphAdapter, cypher: str) -> PlanPage:
    runner = PlanRunner(graph, deadline=Deadline.after(PATIENCE_S))
    return await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=10)


@pytest.mark.parametrize("cypher", sampled(EACH_PATH, 2))
async def test_paths_that_are_too_long_together_are_refused(chain: GraphAdapter, cypher: str):
    with pytest.raises(PlanTooLarge, match="needs paths with more than 1,000,000 edges at once") as refused:
        await answer(chain, cypher)

    assert "*1..2" in refused.value.next_step


async def test_the_refusal_of_paths_with_many_edges_states_the_number_of_paths(chain: GraphAdapter):
    fewest = next(paths for paths in count() if paths * (paths + 1) / 2 > 1_000_000)

    with pytest.raises(PlanTooLarge) as refused:
        await answer(chain, EACH_PATH[1])

    assert refused.value.sizes[-1].count == Count.at_least(fewest)


async def test_a_refused_list_of_paths_takes_little_memory(chain: GraphAdapter):
    tracemalloc.start()
    try:
        with pytest.raises(PlanTooLarge):
            await answer(chain, EACH_PATH[1])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 1024**2


async def cpu_time(graph: GraphAdapter, cypher: str) -> tuple[float, PlanPage]:
    """The processor seconds of a plan, and its answer. The second call is measured: the first one fills caches."""
    await answer(graph, cypher)
    begun = process_time()
    page = await answer(graph, cypher)
    return process_time() - begun, page


async def test_the_ends_of_long_paths_are_found_in_linear_time(chain: GraphAdapter, short_chain: GraphAdapter):
    cypher = "MATCH (a {name: 'Node 0'})-[:next*]->(b) RETURN DISTINCT b"
    short, _ = await cpu_time(short_chain, cypher)
    long, page = await cpu_time(chain, cypher)

    assert long < MAX_GROWTH * short
    assert page.total == Count(LENGTH)


@pytest.mark.extended
async def test_one_long_path_between_known_ends_is_found_in_linear_time(chain: GraphAdapter, short_chain: GraphAdapter):
    cypher = "MATCH p = shortestPath((a {{name: 'Node 0'}})-[:next*]->(b {{name: 'Node {last}'}})) RETURN p"
    short, _ = await cpu_time(short_chain, cypher.format(last=SHORT))
    long, page = await cpu_time(chain, cypher.format(last=LENGTH))

    assert long < MAX_GROWTH * short
    (path,) = page.items[0].cells
    assert isinstance(path, PathCell)
    assert [node.id for node in path.nodes] == [f"n{number}" for number in range(LENGTH + 1)]
