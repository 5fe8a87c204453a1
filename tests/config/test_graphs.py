from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.config import (
    GraphSettings,
    load_settings,
)
from tests.config.conftest import refusal, write


def test_graphs_of_the_file_are_all_served_with_paths_as_seen_from_the_file(tmp_path: Path) -> None:
    file = write(
        tmp_path / "far" / "away.toml",
        '[graphs.films]\nlocation = "films.kg"\nlanguages = ["de"]\ntimeout = 5\n'
        '[graphs.wiki]\nlocation = "wikidata+https://query.example/sparql"\noptions = { contact = "me@example.org" }\n'
        f'[graphs.fixed]\nlocation = "{tmp_path}/fixed.kg"\n[graphs.demo]\nlocation = "demo"\n'
        '[graphs.people]\nlocation = "ladybug+file:people.lbug"\n',
    )

    graphs = load_settings(config_file=file).graphs

    assert graphs["films"] == GraphSettings(location=str(tmp_path / "far" / "films.kg"), languages=("de",), timeout=5.0)
    assert graphs["wiki"].location == "wikidata+https://query.example/sparql"
    assert graphs["wiki"].options == {"contact": "me@example.org"}
    assert graphs["fixed"].location == f"{tmp_path}/fixed.kg"
    assert graphs["demo"].location == "demo"
    assert graphs["people"].location == f"ladybug+file:{tmp_path}/far/people.lbug"


def test_graph_flags_choose_and_add_to_the_graphs_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), '[graphs.films]\nlocation = "films.kg"\ntimeout = 5\n[graphs.other]\nlocation = "o.kg"\n')
    monkeypatch.setenv("KGNAV_GRAPH", "other")

    graphs = load_settings(graphs=["films", "some/my best.kg", "x=y.kg", "demo"]).graphs

    assert list(graphs) == ["films", "my_best", "x", "demo"]
    assert graphs["films"].timeout == 5.0
    assert graphs["my_best"].location == "some/my best.kg"
    assert graphs["x"].location == "y.kg"
    assert graphs["demo"].location == "demo"


def test_the_graph_variable_chooses_like_the_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), '[graphs.films]\nlocation = "films.kg"\n[graphs.other]\nlocation = "o.kg"\n')
    monkeypatch.setenv("KGNAV_GRAPH", "other, w=wikidata+https://query.example/sparql?a=b")

    graphs = load_settings().graphs

    assert list(graphs) == ["other", "w"]
    assert graphs["w"].location == "wikidata+https://query.example/sparql?a=b"


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("films.kg", "films"),
        ("a/b/fb15k-237.kg", "fb15k-237"),
        ("2024.kg", "graph_2024"),
        ("bolt://localhost:7687", "localhost"),
        ("ladybug+file:a/people.lbug", "people"),
        ("sparql+https://dbpedia.org/sparql?default=x", "dbpedia_org"),
    ],
)
def test_a_graph_without_a_name_takes_it_from_its_location(location: str, name: str) -> None:
    assert load_settings(graphs=[location]).graphs == {name: GraphSettings(location=location)}


def test_a_word_that_is_neither_a_known_graph_nor_a_file_is_refused_with_the_nearest() -> None:
    write(Path("kgnav.toml"), '[graphs.films]\nlocation = "films.kg"\n')
    error = refusal(graphs=["filsm"])
    assert "unknown graph 'filsm': neither a graph of kgnav.toml" in error.message
    assert error.next_step == "Did you mean films?"


def test_two_graphs_of_one_name_are_refused() -> None:
    error = refusal(graphs=["a/films.kg", "b/films.kg"])
    assert error.message == "two graphs have the name 'films'"
    assert "NAME=LOCATION" in error.next_step


def test_a_graph_name_that_could_not_stand_in_an_address_is_refused() -> None:
    write(Path("kgnav.toml"), '[graphs."my films"]\nlocation = "films.kg"\n')
    assert refusal().message == "'my films' is not a valid name of a graph"


def test_a_password_can_come_from_a_variable_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), '[graphs.movies]\nlocation = "bolt://neo4j:hidden@db:7687/movies"\n')
    monkeypatch.setenv("KGNAV_GRAPHS__MOVIES__OPTIONS__PASSWORD", "secret")

    settings = load_settings()

    assert settings.graphs["movies"].options == {"password": "secret"}
    assert settings.graphs["movies"].shown_location == "bolt://db:7687/movies"
    assert "secret" not in repr(settings)
    assert "hidden" not in repr(settings)
