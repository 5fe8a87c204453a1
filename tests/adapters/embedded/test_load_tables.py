from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions
from tests.adapters.embedded.loaded import loaded, write

FILMS = "Jaws\tdirected_by\tSteven Spielberg\nJaws\tin_year\t1975\nJaws\tin_year\t1975\n"


@pytest.mark.parametrize("name", ["films.tsv", "films.txt", "films.tsv.gz"])
def test_a_table_of_triples_uses_names_as_ids_and_equal_lines_are_one(tmp_path: Path, name: str) -> None:
    graph = loaded(tmp_path, {name: FILMS})
    assert graph.edges() == [("Jaws", "directed_by", "Steven Spielberg"), ("Jaws", "in_year", "1975")]
    assert graph.nodes()["Jaws"] == ("Jaws", None, 0)
    assert graph.names("Steven Spielberg") == [(0, None, "Steven Spielberg")]
    assert graph.meta("kind") == "table"
    assert graph.meta("sources") == f'["{name}"]'


def test_with_a_file_of_names_ids_without_one_have_no_label(tmp_path: Path) -> None:
    labels = write(tmp_path, "names.tsv.gz", "m.1\tDenton\nP1\tis in\nm.9\tnowhere\n")
    graph = loaded(tmp_path, {"g.tsv": "m.1\tP1\tm.2\n"}, LoadOptions(labels=(labels,)))
    assert graph.nodes() == {"m.1": ("Denton", None, 0), "m.2": (None, None, 0)}
    assert graph.rows("SELECT key, label FROM relation") == [("P1", "is in")]
    assert graph.names("m.2") == []


def test_unnamed_ids_are_mediators_where_that_is_requested(tmp_path: Path) -> None:
    labels = write(tmp_path, "names.tsv", "a\tA\nb\tB\n")
    graph = loaded(tmp_path, {"g.tsv": "a\tp\tcvt\ncvt\tq\tb\n"}, LoadOptions(labels=(labels,), mediators="unnamed"))
    assert graph.nodes()["cvt"] == (None, None, 1)


def test_a_blank_id_in_a_table_is_a_mediator_with_its_own_id(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.tsv": "a\tp\t_:m\n_:m\tq\tb\n"})
    assert graph.nodes()["_:m"] == (None, None, 1)


def test_a_relation_of_a_table_can_say_what_something_is(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.tsv": "Q1\tP31\tQ5\nQ2\tP31\tQ5\n"}, LoadOptions(type_relations=("P31",)))
    assert graph.rows("SELECT key, name, nodes FROM label") == [("Q5", "Q5", 2)]
    assert graph.node_labels("Q1") == ["Q5"]


def test_column_names_in_the_first_line_are_no_triple_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.tsv": "\ufeffHead\tRelation\tTail\r\na\tp\tb\r\n\r\n"})
    assert graph.edges() == [("a", "p", "b")]
