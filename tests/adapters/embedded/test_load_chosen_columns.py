"""Tables with any headers, by the columns that the user chooses."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.loading.columns import ChosenColumns
from kgnav_mcp.adapters.embedded.loading.options import TableOptions
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import Loaded, loaded, write

MOVIES = """Movie,Director,Year,Genre
Jaws,Steven Spielberg,1975,"Thriller, Horror"
Up,Pete Docter,2009,"Animation, Comedy"
Hook,Steven Spielberg,1991,Adventure
Soul,Pete Docter,2020,Animation
"""
ROWS = list(csv.DictReader(io.StringIO(MOVIES)))


def chosen(relation: str | None = None, **columns: object) -> LoadOptions:
    """Options with these columns."""
    return LoadOptions(
        relation=relation,
        tables=TableOptions(ChosenColumns(relation=relation or "", **columns)),  # pyright: ignore[reportArgumentType]
    )


def _qualifiers(graph: Loaded, head: str) -> object:
    """The qualifiers of the only edge that leaves a node."""
    (found,) = [qualifiers for s, _, _, _, qualifiers in graph.qualified_edges() if s == head]
    return found


def movies(tmp_path: Path, options: LoadOptions) -> Loaded:
    return loaded(tmp_path, {"movies.csv": MOVIES}, options)


def test_two_columns_are_the_ends_of_edges_and_the_others_their_qualifiers(tmp_path: Path) -> None:
    graph = movies(tmp_path, chosen(head="Movie", tail="Director", relation="directed_by"))
    assert Counter(graph.edges()) == Counter((row["Movie"], "directed_by", row["Director"]) for row in ROWS)
    assert _qualifiers(graph, "Jaws") == {
        "Year": [["1975", "integer", None]],
        "Genre": [["Thriller, Horror", None, None]],
    }


def test_relation_may_name_a_column(tmp_path: Path) -> None:
    graph = movies(tmp_path, chosen(head="Movie", tail="Director", relation="Genre"))
    assert ("Hook", "Adventure", "Steven Spielberg") in graph.edges()


def test_a_row_for_each_node_has_edges_properties_and_a_label(tmp_path: Path) -> None:
    graph = movies(tmp_path, chosen(id="Movie", edges=("Director", "genre"), label="Film", split=(("Genre", ", "),)))
    expected = Counter((row["Movie"], "Director", row["Director"]) for row in ROWS)
    expected += Counter((row["Movie"], "Genre", genre) for row in ROWS for genre in row["Genre"].split(", "))
    assert Counter(graph.edges()) == expected
    assert all(graph.node_labels(row["Movie"]) == ["Film"] for row in ROWS)
    assert graph.node_labels("Pete Docter") == []
    assert graph.attributes("Jaws") == [("Year", "1975", "integer", None)]


def test_a_column_of_names_and_a_column_of_labels_are_read(tmp_path: Path) -> None:
    text = "code,shown,kind,age\n007,Ann,Person,3\n008,Rex,Dog,\n"
    graph = loaded(tmp_path, {"t.csv": text}, chosen(id="code", name="shown", label="kind"))
    assert {key: name for key, (name, *_) in graph.nodes().items()} == {"007": "Ann", "008": "Rex"}
    assert (graph.node_labels("007"), graph.node_labels("008")) == (["Person"], ["Dog"])
    assert ("shown", "Ann", None, None) in graph.attributes("007")


def test_options_apply_to_each_table_that_has_the_columns(tmp_path: Path) -> None:
    files = {
        "movies.csv": MOVIES,
        "more.csv": "Director;Movie\nRidley Scott;Alien\n",
        "known.csv": "source,target\na,b\n",
    }
    graph = loaded(tmp_path, files, chosen(head="Movie", tail="Director"))
    assert ("Alien", "related_to", "Ridley Scott") in graph.edges()
    assert ("a", "related_to", "b") in graph.edges()
    assert len(graph.edges()) == len(ROWS) + 2


@pytest.mark.parametrize(
    ("options", "message", "step"),
    [
        (chosen(head="Movei", tail="Director"), "has no column 'Movei'", "Did you mean --head Movie?"),
        (chosen(head="Film", tail="Maker"), "has no column 'Film'", "Its columns: Movie, Director, Year, Genre."),
        (chosen(head="Movie"), "--head and --tail must be given together", "--id COLUMN"),
        (chosen(name="Movie"), "--name needs --id", "--id COLUMN"),
        (chosen(id="Movie", edges=("Directr",)), "has no column 'Directr'", "Did you mean --edge Director?"),
        (chosen(id="Movie", edges=("Movie",)), "both refer to the column", "two columns"),
    ],
)
def test_a_wrong_column_is_answered_with_those_there_are(
    tmp_path: Path, options: LoadOptions, message: str, step: str
) -> None:
    with pytest.raises(LoadError) as caught:
        load([write(tmp_path, "movies.csv", MOVIES)], tmp_path / "g.kg", options)
    assert message in caught.value.message
    assert step in caught.value.next_step
    assert not (tmp_path / "g.kg").exists()


def test_two_columns_of_one_name_are_named(tmp_path: Path) -> None:
    source = write(tmp_path, "t.csv", "a,b,c,b\n1,2,3,4\n")
    with pytest.raises(LoadError, match=r"columns 2, 4 of t\.csv are all named 'b'"):
        load([source], tmp_path / "g.kg", chosen(head="a", tail="c"))


def test_a_column_without_a_name_is_omitted_and_said_to_be(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"people.csv": "id,,age,\n1101,John,30,x\n1102,Julie,26,y\n"}, chosen(id="id"))
    assert [note for note in graph.report.notes if "columns without a name, which are omitted: 2, 4" in note]


@pytest.mark.parametrize(
    ("rows", "titles"),
    [
        ('x\t"Swing it" magistern\ny\t"Open\n', ['"Swing it" magistern', '"Open']),
        ('x\t"Two\nlines"\ny\t"A ""word"""\n', ["Two\nlines", 'A "word"']),
    ],
)
def test_quotation_marks_far_down_a_table_with_tabs_quote_if_its_rows_can_be_read_so(
    tmp_path: Path, rows: str, titles: list[str]
) -> None:
    many = "".join(f"t{number}\tTitle {number}\n" for number in range(10_000))
    graph = loaded(tmp_path, {"films.tsv": f"id\ttitle\n{many}{rows}"}, chosen(id="id"))
    assert [graph.attributes(node)[0][1] for node in ("x", "y")] == titles
    said = [note for note in graph.report.notes if "quotation marks are characters like any other" in note]
    assert bool(said) == ("Swing" in rows)


def test_backslash_n_is_no_value_and_leaves_a_column_of_numbers(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"films.tsv": "id\tyear\tend\nt1\t1938\t\\N\nt2\t\\N\t\\N\n"}, chosen(id="id"))
    assert graph.attributes("t1") == [("year", "1938", "integer", None)]
    assert graph.attributes("t2") == []


def test_a_repeated_id_is_a_bad_line_and_not_merged(tmp_path: Path) -> None:
    source = write(tmp_path, "t.csv", "film,director\nCrash,Cronenberg\nCrash,Haggis\n")
    with pytest.raises(BadLine, match="'Crash' already belongs to another node") as caught:
        load([source], tmp_path / "g.kg", chosen(id="film", edges=("director",)))
    assert caught.value.line == 3


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_the_encoding_and_the_separator_of_a_spreadsheet_are_guessed_and_reported(
    tmp_path: Path, encoding: str
) -> None:
    text = "Stadt;Land;Höhe\nZürich;Schweiz;408,5\nKöln;Deutschland;53\n"
    source = write(tmp_path, "t.csv", text.encode(encoding))
    report = load([source], tmp_path / "g.kg", chosen(head="Stadt", tail="Land"))
    graph = Loaded(tmp_path / "g.kg", report)
    assert Counter(graph.edges()) == Counter(
        [("Zürich", "related_to", "Schweiz"), ("Köln", "related_to", "Deutschland")]
    )
    assert _qualifiers(graph, "Zürich") == {"Höhe": [["408,5", None, None]]}  # a decimal comma is not misread
    assert any(f"read as {encoding}" in note for note in report.notes) is (encoding != "utf-8-sig")


def test_a_wrong_byte_among_utf_8_is_a_bad_line_and_not_another_encoding(tmp_path: Path) -> None:
    source = write(tmp_path, "t.csv", "Stadt;Land\nZürich;Schweiz\n".encode() + b"K\xf6ln;Deutschland\n")
    with pytest.raises(BadLine, match="not UTF-8"):
        load([source], tmp_path / "g.kg", chosen(head="Stadt", tail="Land"))


def test_an_encoding_that_no_source_is_read_in_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path, "t.nt", b'<http://e.x/a> <http://e.x/name> "Caf\xc3\xa9" .\n')
    with pytest.raises(LoadError, match="no source is read in the encoding latin-1"):
        load([source], tmp_path / "t.kg", LoadOptions(tables=TableOptions(encoding="latin-1")))
    load([source], tmp_path / "t.kg", LoadOptions(tables=TableOptions(encoding="UTF-8")))


def test_a_text_that_is_not_in_the_stated_encoding_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path, "t.csv", "Stadt;Land\nZürich;Schweiz\n")
    options = LoadOptions(tables=TableOptions(ChosenColumns(head="Stadt", tail="Land"), encoding="ascii"))
    with pytest.raises(LoadError, match="not in the encoding ascii"):
        load([source], tmp_path / "g.kg", options)
