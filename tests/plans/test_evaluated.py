"""Plans by chance on random graphs answer the same to both evaluators, in one page and in many."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.navigation.plans.running import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.contract import toy_files, toy_views
from tests.plans.comparing import BY_CHANCE, hold
from tests.plans.graph import Graph
from tests.plans.strategies import plans, words_of
from tests.plans.toys import plain, random_toy

SEEDS = range(6)


@dataclass(frozen=True)
class Opened:
    """A graph that is open in a loop of its own, and the same as the oracle reads it."""

    loop: asyncio.Runner
    runner: PlanRunner
    graph: Graph


@pytest.fixture(scope="module", params=SEEDS)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Opened]:
    """A random graph."""
    yield from open_random(request.param, tmp_path_factory.mktemp("random"))


def open_random(seed: int, folder: Path) -> Generator[Opened]:
    nodes, edges = random_toy(seed)
    load(toy_files.write_property_graph(folder, nodes, edges), folder / "random.kg", LoadOptions())
    view = toy_views.view(toy_views.PROPERTY_GRAPH, nodes, edges)
    adapter = open_adapter(str(folder / "random.kg"), AdapterOptions())
    with asyncio.Runner() as loop:
        loop.run(adapter.open())
        yield Opened(loop, PlanRunner(adapter), plain(view, nodes))
        loop.run(adapter.close())


@BY_CHANCE
@given(data=st.data())
def test_a_plan_answers_the_same_to_both_evaluators_in_pages_of_any_size(opened: Opened, data: st.DataObject):
    plan = data.draw(plans(words_of(opened.graph)))
    opened.loop.run(hold(opened.runner, opened.graph, plan, data.draw(st.sampled_from((1, 3, 7)))))
