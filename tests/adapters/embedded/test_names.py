"""Finding entities in graph files whose ids are names, and in larger ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded import names
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.adapters.embedded.session import Session
from kgnav_mcp.port import AdapterOptions, GraphAdapter

FILMS = """\
Pulp Fiction\tdirected_by\tQuentin Tarantino
Jackie Brown\tdirected_by\tQuentin Tarantino
Jackie Brown\tstarred_actors\tPam Grier
Lust for Life\tabout\tVincent van Gogh
At Eternity's Gate\tabout\tVincent van Gogh
The Van\tdirected_by\tStephen Frears
Vincent\tdirected_by\tTim Burton
"""


@pytest.fixture
async def films(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    """A film graph whose ids are names, as in a table of triples."""
    (tmp_path / "films.tsv").write_text(FILMS, encoding="utf-8")
    load([tmp_path / "films.tsv"], tmp_path / "films.kg")
    async with open_adapter(str(tmp_path / "films.kg"), AdapterOptions()) as adapter:
        yield adapter


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("Quentin Tarrantino", "Quentin Tarantino"),
        ("Tarantino, Quentin", "Quentin Tarantino"),
        ("tarantino", "Quentin Tarantino"),
        ("Quent Tarant", "Quentin Tarantino"),
        ("Vincnet van Gohg", "Vincent van Gogh"),
        ("van gogh", "Vincent van Gogh"),
        ("vincent", "Vincent"),
        ("jakie brwon", "Jackie Brown"),
        ("Pulp", "Pulp Fiction"),
        ("At Eternitys Gate", "At Eternity's Gate"),
        ("which films did Quentin Tarantino direct", "Quentin Tarantino"),
    ],
)
async def test_a_hint_finds_the_name_it_means(films: GraphAdapter, hint: str, name: str):
    page = await films.find(hint, limit=3)
    assert page.items[0].entity.label == name
    assert page.items[0].entity.id == name


async def test_a_hint_like_nothing_finds_nothing(films: GraphAdapter):
    page = await films.find("zzzzzzzz", limit=3)
    assert (page.items, page.stop) == ((), "complete")


async def test_equal_scores_are_ordered_by_degree(tmp_path: Path):
    nodes = "id:ID,name\n" + "".join(f"p{number},Paris\n" for number in range(5))
    edges = ":START_ID,:TYPE,:END_ID\n" + "p0,near,p3\np1,near,p3\np3,near,p1\n"
    (tmp_path / "nodes.csv").write_text(nodes, encoding="utf-8")
    (tmp_path / "edges.csv").write_text(edges, encoding="utf-8")
    load([tmp_path / "nodes.csv", tmp_path / "edges.csv"], tmp_path / "paris.kg")
    async with open_adapter(str(tmp_path / "paris.kg"), AdapterOptions()) as adapter:
        page = await adapter.find("Paris", limit=5)
        assert [candidate.entity.id for candidate in page.items] == ["p3", "p1", "p0", "p2", "p4"]
        assert [candidate.degree.value for candidate in page.items] == [5, 4, 3, 2, 2]
        named = await adapter.find_by_name("paris", limit=2)
        assert [one.entity.id for one in named.items] == ["p3", "p1"]
        assert (named.total.value, named.stop) == (5, "limit")


async def test_the_very_name_of_another_label_does_not_end_the_search(toy_file: Path):
    async with open_adapter(str(toy_file), AdapterOptions()) as adapter:
        page = await adapter.find("Visitor Number 7", label="Boat", limit=3)
        assert page.items
        assert all(candidate.entity.types == ("Boat",) for candidate in page.items)
        assert "Boat 7" in {candidate.entity.label for candidate in page.items}


async def test_of_a_common_word_not_all_that_have_it_are_looked_at(tmp_path: Path):
    rows = "".join(f"The Common Thing {number}\tis\tThe Thing\n" for number in range(20_000))
    (tmp_path / "common.tsv").write_text(rows + "The Rare Thing\tis\tThe Thing\n", encoding="utf-8")
    load([tmp_path / "common.tsv"], tmp_path / "common.kg")
    async with open_adapter(str(tmp_path / "common.kg"), AdapterOptions()) as adapter:
        page = await adapter.find("the thing", limit=5)
        assert page.items[0].entity.label == "The Thing"
        assert page.items[0].degree.value == 20_001
        assert page.total.certainty == "at least"
        assert (await adapter.find("the rare", limit=1)).items[0].entity.label == "The Rare Thing"


@pytest.mark.parametrize("spelt", [str, str.upper, str.swapcase])
async def test_a_thousand_names_are_looked_up_by_a_few_queries(tmp_path: Path, spelt: Callable[[str], str]):
    rows = "".join(f"p{n},Person {n}\n" for n in range(1_000)) + "".join(f"q{n},Person 7\n" for n in range(3))
    (tmp_path / "nodes.csv").write_text("id:ID,name\n" + rows, encoding="utf-8")
    load([tmp_path / "nodes.csv"], tmp_path / "people.kg")
    names = [spelt(f"Person {n}") for n in range(1_000)]
    async with open_adapter(str(tmp_path / "people.kg"), AdapterOptions()) as adapter:
        await adapter.find_by_name("nobody", limit=1)
        with patch.object(Session, "_rows", autospec=True, side_effect=Session._rows) as queries:  # pyright: ignore[reportPrivateUsage]
            found = await adapter.find_by_names(names, limit=2)
    assert queries.call_count < 12
    assert [len(found[name].items) for name in names[:9]] == [1, 1, 1, 1, 1, 1, 1, 2, 1]
    assert (found[names[7]].total.value, found[names[999]].items[0].entity.id) == (4, "p999")


async def test_names_with_more_namesakes_than_one_query_gives_are_looked_up_in_halves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(names, "MAX_SAME", 5)
    rows = "".join(f"p{n},Person {n % 4}\n" for n in range(16))
    (tmp_path / "nodes.csv").write_text("id:ID,name\n" + rows, encoding="utf-8")
    load([tmp_path / "nodes.csv"], tmp_path / "people.kg")
    async with open_adapter(str(tmp_path / "people.kg"), AdapterOptions()) as adapter:
        found = await adapter.find_by_names([f"Person {n}" for n in range(5)], limit=9)
    assert [len(page.items) for page in found.values()] == [4, 4, 4, 4, 0]
