"""Worked examples in prompts on every kind of store, with mediators, and in the papers' formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.config import TOOLSETS, GraphSettings, Settings
from tests.server.clients import client
from tests.server.test_prompts_resources import prompt
from tests.server.test_shots import PROMPTS, assert_calls_give_what_is_shown, examples_of
from tests.server.toy_stores import FILE, SERVICES, Place, load_toy

SHOTS = 2
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_PASS_HUBS = {
    False: {"search_on_graph", "graphwalker", "graphwalk", "ark_v1"},
    True: {"search_on_graph", "graphwalker", "ark_v1"},  # GraphWalk's paper lists all neighbours, of a hub too
}


@pytest.fixture(
    scope="module",
    params=[
        FILE,
        *(
            pytest.param(kind, marks=[pytest.mark.xdist_group(service), pytest.mark.extended])
            for kind, service in SERVICES.items()
        ),
    ],
)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A graph file, and a live store of each kind."""
    kind: str = request.param
    service = request.getfixturevalue(SERVICES[kind]) if kind in SERVICES else None
    return load_toy(kind, service, tmp_path_factory.mktemp("toy"))


async def assert_examples_hold(name: str, location: str, *, paper_format: bool) -> str:
    """The prompt of a graph, whose examples all hold."""
    graphs = {"toy": GraphSettings(location=location)}
    settings = Settings(graphs=graphs, toolsets=tuple(TOOLSETS), shots=SHOTS, paper_format=paper_format)
    text = await prompt(name, settings)
    examples = examples_of(text)
    assert len(examples) == SHOTS
    async with client(settings) as connected:
        for lines in examples:
            await assert_calls_give_what_is_shown(connected, lines)
    return text


@pytest.mark.parametrize("paper_format", [False, True], ids=["usual", "paper_format"])
@pytest.mark.parametrize("name", PROMPTS)
async def test_every_call_of_an_example_gives_the_lines_that_stand_under_it(
    name: str, paper_format: bool, store: Place
) -> None:
    text = await assert_examples_hold(name, store.location, paper_format=paper_format)
    assert ("has too many neighbours to list, so its relations are shown" in text) == (name in _PASS_HUBS[paper_format])


@pytest.mark.parametrize("paper_format", [False, True], ids=["usual", "paper_format"])
@pytest.mark.parametrize("name", PROMPTS)
async def test_a_graph_whose_names_are_its_ids_and_whose_first_nodes_lead_nowhere_has_examples(
    name: str, paper_format: bool, tmp_path: Path
) -> None:
    lines = [f"Aaron {n}\tknows\tBea {n}" for n in range(2)]
    lines += [f"Bea {n}\tlives_in\tTown {n}" for n in range(2)]
    (tmp_path / "t.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    load([tmp_path / "t.tsv"], tmp_path / "t.kg", LoadOptions(source_format="triples"))
    await assert_examples_hold(name, str(tmp_path / "t.kg"), paper_format=paper_format)


async def test_a_graph_whose_largest_labels_are_those_of_nodes_without_a_name_has_examples(tmp_path: Path) -> None:
    lines = [f"_:m{n} <http://x.example/of> <http://x.example/a{n}> ; a <http://x.example/Tie> ." for n in range(30)]
    for n in range(30):
        lines.append(
            f'<http://x.example/a{n}> <{RDFS}label> "A {n}" ; <http://x.example/near{n % 2}> <http://x.example/b{n}> .'
        )
        lines.append(f'<http://x.example/b{n}> <{RDFS}label> "B {n}" ; <http://x.example/on> <http://x.example/c{n}> .')
        lines.append(f'<http://x.example/c{n}> <{RDFS}label> "C {n}" .')
    (tmp_path / "t.ttl").write_text("\n".join(lines), encoding="utf-8")
    load([tmp_path / "t.ttl"], tmp_path / "t.kg", LoadOptions(mediators="none"))
    await assert_examples_hold("search_on_graph", str(tmp_path / "t.kg"), paper_format=False)
