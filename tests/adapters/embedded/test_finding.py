"""What is found for a name in the other number, with near words, and by what an id says."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import AmbiguousEntity, UnknownName
from kgnav_mcp.navigation.references import resolve_entity
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner

SKY = [
    "Telescopes",
    "Telescope arrays",
    "Telescope mounts",
    "Solar telescopes",
    "Solar flares",
    "Solar flare spectra",
    "Neutron stars",
    "Neutron star cores",
    "Planetary nebulae",
    "Planetary nebulae nuclei",
    "Galaxies",
    "Galaxy clusters",
    "Solr panels",
]

PIZZA = """
@prefix : <http://pizza.example/pizza#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Mushroom rdfs:label "Cogumelo"@pt ; :on :FourSeasons .
:FourSeasons rdfs:label "Quatro Queijos"@pt .
:Soup rdfs:label "Mushrooms soup"@en ; :with :Mushroom .
"""

AWARDS = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ex: <http://x.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wd:Q42 rdfs:label "Douglas Adams"@en ; wdt:P166 wd:Q5 ; wdt:P569 "1952" ; a ex:Q5 .
wd:Q5 rdfs:label "human"@en ; p:P166 wd:Q42 .
ex:Q5 rdfs:label "being"@en .
"""


async def opened(folder: Path, name: str, text: str) -> AsyncGenerator[GraphAdapter]:
    (folder / name).write_text(text, encoding="utf-8")
    load([folder / name], folder / "graph.kg")
    async with open_adapter(str(folder / "graph.kg"), AdapterOptions()) as adapter:
        yield adapter


@pytest.fixture
async def sky(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    rows = "".join(f"{name}\tis\tthing\n" for name in SKY)
    async for adapter in opened(tmp_path, "sky.tsv", rows):
        yield adapter


@pytest.fixture
async def pizza(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    async for adapter in opened(tmp_path, "pizza.ttl", PIZZA):
        yield adapter


@pytest.fixture
async def awards(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    async for adapter in opened(tmp_path, "awards.ttl", AWARDS):
        yield adapter


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("telescope", "Telescopes"),
        ("solar flare", "Solar flares"),
        ("neutron star", "Neutron stars"),
        ("planetary nebula", "Planetary nebulae"),
        ("galaxy", "Galaxies"),
        ("GALAXY CLUSTER", "Galaxy clusters"),
        ("telescope array", "Telescope arrays"),
        ("solar telescpe", "Solar telescopes"),
    ],
)
async def test_a_name_in_the_other_number_is_first(sky: GraphAdapter, hint: str, name: str):
    assert (await sky.find(hint, limit=3)).items[0].entity.label == name


async def test_near_words_are_candidates_beside_names_with_the_exact_word(sky: GraphAdapter):
    found = [one.entity.label for one in (await sky.find("solr", limit=10)).items]
    assert found[0] == "Solr panels"
    assert {"Solar flares", "Solar telescopes"} <= set(found)


async def test_the_very_name_and_its_other_number_are_not_lost_among_many_with_the_same_word(tmp_path: Path):
    rows = "".join(f"Star of day {number}\tis\tthing\n" for number in range(1_500))
    async for adapter in opened(tmp_path, "stars.tsv", f"{rows}Stars\tis\tthing\nLone Star\tis\tthing\n"):
        assert (await adapter.find("star", limit=1)).items[0].entity.label == "Stars"
        assert (await adapter.find("stras", limit=1)).items[0].entity.label == "Stars"
        assert (await adapter.find("lone star", limit=1)).items[0].entity.label == "Lone Star"


@pytest.mark.parametrize("hint", ["Mushroom", "mushroom", "Mushrom", ":Mushroom"])
async def test_what_an_id_says_is_found_where_all_names_are_in_other_languages(pizza: GraphAdapter, hint: str):
    best = (await pizza.find(hint, limit=3)).items[0]
    assert (best.entity.id, best.entity.label) == (":Mushroom", "Cogumelo")


async def test_the_words_of_an_id_are_found(pizza: GraphAdapter):
    for hint in ("four seasons", "Four Seasons", "FourSeasons", "foru seasons"):
        assert (await pizza.find(hint, limit=1)).items[0].entity.id == ":FourSeasons", hint
    assert (await resolve_entity(pizza, "four seasons")).id == ":FourSeasons"


async def test_the_very_name_ranks_above_what_an_id_says_and_that_above_another_number(tmp_path: Path):
    text = PIZZA + ':Thing rdfs:label "Mushroom"@en . :Other rdfs:label "Mushrooms"@en .'
    async for adapter in opened(tmp_path, "pizza.ttl", text):
        page = await adapter.find("Mushroom", limit=3)
        assert [one.entity.id for one in page.items] == [":Thing", ":Mushroom", ":Other"]
        assert (await resolve_entity(adapter, "Mushroom")).id == ":Thing"


async def test_ids_speak_in_a_file_that_was_loaded_without_their_words(tmp_path: Path):
    async for _ in opened(tmp_path, "pizza.ttl", PIZZA):
        pass
    with closing(sqlite3.connect(tmp_path / "graph.kg")) as file:
        file.execute("DELETE FROM name WHERE kind = 3")
        file.execute("INSERT INTO name_words (name_words) VALUES ('rebuild')")
        file.commit()
    async with open_adapter(str(tmp_path / "graph.kg"), AdapterOptions()) as adapter:
        for hint, identity in (("Mushroom", ":Mushroom"), ("four seasons", ":FourSeasons")):
            assert (await adapter.find(hint, limit=1)).items[0].entity.id == identity
            assert (await resolve_entity(adapter, hint)).id == identity


async def test_an_id_without_its_prefix_means_the_same_everywhere(awards: GraphAdapter):
    assert (await resolve_entity(awards, "Q42")).id == "wd:Q42"
    assert (await awards.find("Q42", limit=1)).items[0].entity.id == "wd:Q42"
    assert [one.value.text for one in (await awards.values("P569", "Q5", ValueOwner.NODE, limit=5)).items] == ["1952"]
    assert [one.id for one in (await awards.nodes("Q5", "P569", "1952", limit=5)).items] == ["wd:Q42"]
    assert (await awards.find("Adams", label="Q5", limit=5)).items[0].entity.id == "wd:Q42"
    schema = await awards.schema("P569", limit=5)
    assert [one.relation.id for one in schema.properties] == ["wdt:P569"]


async def test_where_several_ids_are_the_same_without_their_prefix_all_are_named(awards: GraphAdapter):
    with pytest.raises(AmbiguousEntity) as ambiguous:
        await resolve_entity(awards, "Q5")
    assert {entity.id for entity in ambiguous.value.candidates} == {"wd:Q5", "ex:Q5"}
    schema = await awards.schema("P166", limit=5)
    assert {one.relation.id for one in schema.relations} == {"wdt:P166", "p:P166"}
    with pytest.raises(UnknownName) as unknown:
        await awards.values("since", "P166", ValueOwner.RELATIONSHIP, limit=5)
    assert set(unknown.value.nearest) == {"wdt:P166", "p:P166"}
