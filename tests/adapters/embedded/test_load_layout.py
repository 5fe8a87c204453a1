"""First lines of tables: which are names of columns, which are triples, and which are neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import LoadError
from tests.adapters.embedded.loaded import loaded, write


def test_a_first_line_without_columns_is_answered_with_the_names_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="the first line of g") as caught:
        load([write(tmp_path, "g.txt", "Once upon a time\n")], tmp_path / "g.kg")
    assert "head, relation, tail" in caught.value.next_step
    assert "--format triples" in caught.value.next_step


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("g.csv", "person,knows,friend\nann,likes,bob\n", "kgnav load g.csv --head person --tail knows"),
        ("g.csv", "chapter,start,end\none,1999-01-02,2000\n", "kgnav load g.csv --id chapter --edge start"),
        ("g.tsv", "person\trelation\tcompany\nann\tworks_at\tacme\n", "--head person --tail relation"),
        ("g.tsv", "person\ttitle\tyear\nann\tboss\tacme\n", "kgnav load g.tsv --id person --edge title"),
    ],
)
def test_columns_of_no_known_name_are_answered_with_the_command_that_would_work(
    tmp_path: Path, name: str, text: str, command: str
) -> None:
    with pytest.raises(LoadError, match="the first line of g") as caught:
        load([write(tmp_path, name, text)], tmp_path / "g.kg")
    assert command in caught.value.next_step
    assert "--format triples" in caught.value.next_step


def test_a_first_line_that_the_user_calls_a_triple_is_one(tmp_path: Path) -> None:
    options = LoadOptions(source_format="triples")
    for name, text in (("g.csv", 'person,knows,"a, b"\n'), ("g.tsv", "person\tknows\ta, b\n")):
        assert loaded(tmp_path, {name: text}, options).edges() == [("person", "knows", "a, b")]


@pytest.mark.parametrize(
    "first",
    [
        "Jaws\ttype\tFilm",
        "dog\thas_part\ttail",
        "head\tpart_of\tbody",
        '"Weird Al" Yankovic\tlabel\tScotti',
        "/m/010016\t/location/hud_county_place/county\t/m/0mr_8",
        "relation\tp\tb\nc\trelation\tp",
        "a\tp\tb",
        "$\tin_language\tGerman",
    ],
)
def test_ordinary_triples_are_no_header(tmp_path: Path, first: str) -> None:
    graph = loaded(tmp_path, {"g.tsv": f"{first}\nx\tp\ty\n"})
    assert tuple(first.split("\n", maxsplit=1)[0].split("\t")) in graph.edges()


@pytest.mark.parametrize(
    ("text", "reason", "hint"),
    [
        ("a\tp\tb\t1999\nc\tp\td\t2001\n", "4 columns without known names", "fourth column"),
        ("a\tAnn\nb\tBob\n", "two columns without names", "--labels g.tsv"),
    ],
)
def test_other_numbers_of_columns_are_explained(tmp_path: Path, text: str, reason: str, hint: str) -> None:
    with pytest.raises(LoadError, match=reason) as caught:
        load([write(tmp_path, "g.tsv", text)], tmp_path / "g.kg")
    assert hint in caught.value.next_step
