"""A word that very many names have: totals are exact or lower bounds, and the best-known entity is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded import names, open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.model import Count
from kgnav_mcp.port import AdapterOptions
from tests.contract import toy, toy_files

NODES, LINKS, RARE = 300, 70, 7
HUB = "d290"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Diseases, of which one at the end of the file has many edges, and every seventh is rare."""
    folder = tmp_path_factory.mktemp("diseases")
    nodes = [
        toy.Node(f"d{n}", ("Disease", "Rare") if n % RARE == 0 else ("Disease",), toy.name(f"Disease {n:03}"))
        for n in range(NODES)
    ]
    edges = [toy.Edge(f"d{n}", "near", HUB) for n in range(LINKS)]
    load(toy_files.write_property_graph(folder, nodes, edges), folder / "diseases.kg", LoadOptions())
    return str(folder / "diseases.kg")


@pytest.fixture(autouse=True)
def _low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MAX_HITS", 20)
    monkeypatch.setattr(names, "_MAX_HITS_WITH_LABEL", 100)


async def test_a_label_with_few_nodes_is_searched_whole(path: str):
    async with open_adapter(path, AdapterOptions()) as graph:
        page = await graph.find("disease", label="Rare", limit=5)
    assert page.total == Count(len(range(0, NODES, RARE)))


async def test_the_total_of_a_label_with_many_nodes_is_a_lower_bound(path: str):
    async with open_adapter(path, AdapterOptions()) as graph:
        page = await graph.find("disease", label="Disease", limit=5)
    assert page.total == Count.at_least(page.total.value)
    assert page.items[0].entity.id == HUB


async def test_the_best_connected_entity_is_first_wherever_it_is_in_the_file(path: str):
    async with open_adapter(path, AdapterOptions()) as graph:
        page = await graph.find("disease", limit=5)
    assert page.items[0].entity.id == HUB
    assert page.total == Count.at_least(page.total.value)


async def test_the_total_of_a_whole_name_is_exact(path: str):
    async with open_adapter(path, AdapterOptions()) as graph:
        assert (await graph.find("Disease 007", limit=5)).total == Count(1)


async def test_a_misspelt_name_is_found_although_similar_words_are_in_more_names_than_are_read(tmp_path: Path):
    names = [*(f"{word} {number}" for word in ("Tanga", "Tenga", "Tinga") for number in range(10)), "Tonga"]
    nodes = [toy.Node(f"place{place}", (), toy.name(name)) for place, name in enumerate(names)]
    load(toy_files.write_property_graph(tmp_path, nodes, ()), tmp_path / "places.kg", LoadOptions())
    async with open_adapter(str(tmp_path / "places.kg"), AdapterOptions()) as graph:
        page = await graph.find("Txnga", limit=5)
    assert page.items[0].matched == "Tonga"
