"""Worked examples in prompts on every kind of store, with mediators, and in the papers' formats."""

from __future__ import annotations

import pytest

from kgnav_mcp.config import TOOLSETS, GraphSettings, Settings
from tests.server.clients import client
from tests.server.test_prompts_resources import prompt
from tests.server.test_shots import PROMPTS, assert_calls_give_what_is_shown, examples_of
from tests.server.toy_stores import FILE, SERVICES, Place, load_toy

SHOTS = 2
_PASS_HUBS = {
    False: {"search_on_graph", "graphwalker", "graphwalk", "ark_v1"},
    True: {"search_on_graph", "graphwalker", "ark_v1"},  # GraphWalk's paper lists all neighbours, of a hub too
}


@pytest.fixture(
    scope="module",
    params=[
        FILE,
        *(pytest.param(kind, marks=pytest.mark.xdist_group(service)) for kind, service in SERVICES.items()),
    ],
)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A graph file, and a live store of each kind."""
    kind: str = request.param
    service = request.getfixturevalue(SERVICES[kind]) if kind in SERVICES else None
    return load_toy(kind, service, tmp_path_factory.mktemp("toy"))


@pytest.mark.parametrize("paper_format", [False, True], ids=["usual", "paper_format"])
@pytest.mark.parametrize("name", PROMPTS)
async def test_every_call_of_an_example_gives_the_lines_that_stand_under_it(
    name: str, paper_format: bool, store: Place
) -> None:
    graphs = {"toy": GraphSettings(location=store.location)}
    settings = Settings(graphs=graphs, toolsets=tuple(TOOLSETS), shots=SHOTS, paper_format=paper_format)
    text = await prompt(name, settings)
    examples = examples_of(text)
    assert len(examples) == SHOTS
    assert ("is a hub, shown as its relations" in text) == (name in _PASS_HUBS[paper_format])
    async with client(settings) as connected:
        for lines in examples:
            await assert_calls_give_what_is_shown(connected, lines)
