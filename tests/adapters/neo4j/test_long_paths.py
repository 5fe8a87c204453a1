"""Paths that Neo4j would list for hours are refused soon; long ones that it lists in time are answered."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.cypher.plans import long_paths
from kgnav_mcp.errors import PlanOverBudget
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Path as PathCell
from kgnav_mcp.model import PlanPage
from kgnav_mcp.navigation.plans.budget import Deadline
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.neo4j_service import Neo4j
from tests.plans.chains import EACH_PATH, LAST, LENGTH, write_chain
from tests.sampling import sampled

PATIENCE_S = 60
"""Seconds for an answer or a refusal on a busy machine. An idle one takes less than two."""


@pytest.fixture(scope="module")
def chain_url(neo4j: Neo4j, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a store with the chain in it."""
    neo4j.load(write_chain(tmp_path_factory.mktemp("chain")))
    return neo4j.url


@pytest.fixture
async def chain(chain_url: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(chain_url, AdapterOptions(timeout=PATIENCE_S)) as opened:
        yield opened


async def answer(graph: GraphAdapter, cypher: str) -> PlanPage:
    runner = PlanRunner(graph, deadline=Deadline.after(PATIENCE_S))
    return await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=1000)


@pytest.mark.parametrize("cypher", sampled([*EACH_PATH[1:], EACH_PATH[0]], 2))
async def test_paths_of_thousands_of_edges_are_refused_soon(chain: GraphAdapter, cypher: str):
    with pytest.raises(
        PlanOverBudget, match=r"lists paths of more than (200|1,000) edges, at \(a\)-\[:next\*"
    ) as refused:
        await answer(chain, cypher)

    assert "*1..2" in refused.value.next_step


async def test_paths_of_some_hundred_edges_are_listed(chain: GraphAdapter):
    begin = LENGTH - long_paths.LONG - 50
    count = await answer(chain, f"MATCH p = (a {{name: 'Node {begin}'}})-[:next*]->(b) RETURN count(p), max(length(p))")

    assert count.items[0].cells == (LENGTH - begin, LENGTH - begin)


async def test_the_longest_path_between_known_ends_is_read_and_sorted_in_linear_time(chain: GraphAdapter):
    ends = f"(a {{name: 'Node 0'}})-[:next*]->(b {{name: '{LAST}'}})"
    page = await answer(chain, f"MATCH p = shortestPath({ends}) RETURN p")

    (path,) = page.items[0].cells
    assert isinstance(path, PathCell)
    assert [node.label for node in path.nodes] == [f"Node {number}" for number in range(LENGTH + 1)]
