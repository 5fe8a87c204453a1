"""Workbooks as openpyxl writes them, Parquet and Feather as pyarrow does: types are kept."""

from __future__ import annotations

import datetime as dt
import importlib
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.loading.columns import ChosenColumns
from kgnav_mcp.adapters.embedded.loading.options import TableOptions
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import Loaded

NAMES = ("title", "director", "year", "score", "seen", "released", "code")
ROWS: list[tuple[Any, ...]] = [
    ("Jaws", "Spielberg", 1975, 8.1, True, dt.date(1975, 6, 20), "007"),
    ("Hook", "Spielberg", 1991, 6.8, False, dt.date(1991, 12, 11), "012"),
    ("Up", "Docter", 2009, None, None, None, None),
]
NODES = LoadOptions(tables=TableOptions(ChosenColumns(id="title", edges=("director",), label="Film")))
JAWS = [
    ("code", "007", None, None),
    ("released", "1975-06-20", "date", None),
    ("score", "8.1", "float", None),
    ("seen", "true", "boolean", None),
    ("year", "1975", "integer", None),
]


def arrow(module: str) -> Any:
    """A module of pyarrow."""
    return importlib.import_module(f"pyarrow.{module}")


def workbook(path: Path, **sheets: list[tuple[Any, ...]]) -> Path:
    """A workbook with these rows in each sheet."""
    book = cast("Any", importlib.import_module("openpyxl")).Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def parquet(path: Path) -> Path:
    columns = dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))
    arrow("parquet").write_table(arrow("lib").table(columns), path, row_group_size=2)
    return path


def feather(path: Path) -> Path:
    arrow("feather").write_feather(
        arrow("lib").table(dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))), str(path)
    )
    return path


@pytest.mark.parametrize("name", ["films.xlsx", "films.parquet", "films.feather"])
def test_numbers_booleans_dates_and_codes_keep_their_types(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    if name.endswith("xlsx"):
        workbook(source, films=[NAMES, *ROWS])
    else:
        (parquet if name.endswith("parquet") else feather)(source)
    graph = Loaded(tmp_path / "g.kg", load([source], tmp_path / "g.kg", NODES))
    assert Counter(graph.edges()) == Counter((row[0], "director", row[1]) for row in ROWS)
    assert graph.attributes("Jaws") == JAWS
    assert graph.attributes("Up") == [("year", "2009", "integer", None)]
    assert graph.node_labels("Up") == ["Film"]


def test_each_sheet_is_a_table_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    source = workbook(
        tmp_path / "b.xlsx", edges=[("source", "target"), ("a", "b")], more=[("source", "target"), ("b", "c")], empty=[]
    )
    report = load([source], tmp_path / "g.kg")
    assert Loaded(tmp_path / "g.kg", report).edges() == [("a", "related_to", "b"), ("b", "related_to", "c")]
    chosen = LoadOptions(tables=TableOptions(sheets=("more",)))
    assert Loaded(tmp_path / "h.kg", load([source], tmp_path / "h.kg", chosen)).edges() == [("b", "related_to", "c")]
    with pytest.raises(LoadError, match="has no sheet 'other'") as caught:
        load([source], tmp_path / "i.kg", LoadOptions(tables=TableOptions(sheets=("other",))))
    assert "edges, more, empty" in caught.value.next_step


def test_a_sheet_of_no_known_columns_is_answered_with_the_command_that_would_work(tmp_path: Path) -> None:
    source = workbook(tmp_path / "b.xlsx", films=[NAMES, *ROWS])
    with pytest.raises(LoadError, match="has no known names of columns") as caught:
        load([source], tmp_path / "g.kg")
    assert "kgnav load b.xlsx --id title --edge director" in caught.value.next_step


def test_a_table_that_does_not_begin_in_the_corner_of_its_sheet_is_read(tmp_path: Path) -> None:
    blank: list[tuple[Any, ...]] = [()] * 7
    source = workbook(tmp_path / "b.xlsx", films=[*blank, (None, None, *NAMES), *((None, None, *row) for row in ROWS)])
    graph = Loaded(tmp_path / "g.kg", load([source], tmp_path / "g.kg", NODES))
    assert graph.attributes("Jaws") == JAWS
    again = workbook(tmp_path / "c.xlsx", films=[*blank, NAMES, *ROWS, ROWS[0]])
    with pytest.raises(BadLine) as caught:
        load([again], tmp_path / "h.kg", NODES)
    assert caught.value.line == 12


def test_a_title_above_the_table_is_refused(tmp_path: Path) -> None:
    source = workbook(tmp_path / "b.xlsx", films=[(), ("My films",), (), NAMES, *ROWS])
    with pytest.raises(LoadError, match="not the names of its columns") as caught:
        load([source], tmp_path / "g.kg", NODES)
    assert "above row 4" in caught.value.next_step


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_a_time_at_midnight_stays_a_time(tmp_path: Path, name: str) -> None:
    times = [dt.datetime(1999, 1, 1), dt.datetime(1999, 1, 1, 13)]
    zoned = [time.replace(tzinfo=dt.UTC) for time in times]
    table = arrow("lib").table({"id": ["a", "b"], "local": times, "zoned": zoned})
    (arrow("parquet").write_table if name == "t.parquet" else arrow("feather").write_feather)(
        table, str(tmp_path / name)
    )
    options = LoadOptions(tables=TableOptions(ChosenColumns(id="id")))
    graph = Loaded(tmp_path / "g.kg", load([tmp_path / name], tmp_path / "g.kg", options))
    for key, time in (("a", "1999-01-01T00:00:00"), ("b", "1999-01-01T13:00:00")):
        assert [row[1:3] for row in graph.attributes(key)] == [(time, "localdatetime"), (f"{time}+00:00", "datetime")]


def test_a_list_of_times_has_them_as_other_columns_do(tmp_path: Path) -> None:
    table = arrow("lib").table({"id": ["a"], "at": [[dt.datetime(1999, 1, 1)]], "on": [[dt.date(1999, 1, 1)]]})
    arrow("parquet").write_table(table, tmp_path / "t.parquet")
    options = LoadOptions(tables=TableOptions(ChosenColumns(id="id")))
    graph = Loaded(tmp_path / "g.kg", load([tmp_path / "t.parquet"], tmp_path / "g.kg", options))
    assert [row[:3] for row in graph.attributes("a")] == [
        ("at", "1999-01-01T00:00:00", "localdatetime"),
        ("on", "1999-01-01", "date"),
    ]


def test_a_workbook_has_one_type_for_dates_and_for_times_at_midnight(tmp_path: Path) -> None:
    rows = [("id", "at"), ("a", dt.datetime(1999, 1, 1)), ("b", dt.date(1999, 1, 2))]
    options = LoadOptions(tables=TableOptions(ChosenColumns(id="id")))
    graph = Loaded(tmp_path / "g.kg", load([workbook(tmp_path / "b.xlsx", t=rows)], tmp_path / "g.kg", options))
    assert [graph.attributes(key)[0][1:3] for key in "ab"] == [("1999-01-01", "date"), ("1999-01-02", "date")]


def test_lists_in_a_parquet_column_are_several_values(tmp_path: Path) -> None:
    table = {"id": ["a", "b"], "tags": [["x;y", "z"], []], "years": [[1, 2], None], "friends": [["b"], None]}
    arrow("parquet").write_table(arrow("lib").table(table), tmp_path / "t.parquet")
    options = LoadOptions(tables=TableOptions(ChosenColumns(id="id", edges=("friends",))))
    graph = Loaded(tmp_path / "g.kg", load([tmp_path / "t.parquet"], tmp_path / "g.kg", options))
    assert graph.attributes("a") == [
        ("tags", "x;y", None, None),
        ("tags", "z", None, None),
        ("years", "1", "integer", None),
        ("years", "2", "integer", None),
    ]
    assert graph.attributes("b") == []
    assert graph.edges() == [("a", "friends", "b")]


def test_null_in_a_list_of_a_parquet_column_is_no_value_and_no_end_of_an_edge(tmp_path: Path) -> None:
    table = {"id": ["a"], "tags": [["x", None, "null"]], "years": [[None, 1]], "friends": [["b", None]]}
    arrow("parquet").write_table(arrow("lib").table(table), tmp_path / "t.parquet")
    options = LoadOptions(tables=TableOptions(ChosenColumns(id="id", edges=("friends",))))
    graph = Loaded(tmp_path / "g.kg", load([tmp_path / "t.parquet"], tmp_path / "g.kg", options))
    assert [row[:3] for row in graph.attributes("a")] == [
        ("tags", "x", None),
        ("tags", "null", None),
        ("years", "1", "integer"),
    ]
    assert graph.edges() == [("a", "friends", "b")]


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_binary_values_are_omitted_and_counted(tmp_path: Path, name: str) -> None:
    table = arrow("lib").table(
        {
            "id": ["a", "b"],
            "photo": [b"\x89PNG", None],
            "hash": arrow("lib").array([b"abcd", b"efgh"], arrow("lib").binary(4)),
            "parts": [[b"x", b"y"], []],
            "scan": [{"page": 1, "image": b"z"}, None],
            "friends": [["b"], None],
        }
    )
    (arrow("parquet").write_table if name == "t.parquet" else arrow("feather").write_feather)(
        table, str(tmp_path / name)
    )
    options = LoadOptions(tables=TableOptions(ChosenColumns(id="id", edges=("friends",))))
    graph = Loaded(tmp_path / "g.kg", load([tmp_path / name], tmp_path / "g.kg", options))
    assert [row[:2] for row in graph.attributes("a")] == [("scan", '{"page": 1, "image": null}')]
    assert graph.attributes("b") == []
    assert f"{name}: omitted 6 binary values" in graph.report.notes


def test_a_column_of_binary_ids_is_refused(tmp_path: Path) -> None:
    table = arrow("lib").table({"head": ["a"], "relation": ["knows"], "tail": [b"b"]})
    arrow("parquet").write_table(table, tmp_path / "t.parquet")
    with pytest.raises(LoadError, match=r"the column tail of t\.parquet has binary values") as caught:
        load([tmp_path / "t.parquet"], tmp_path / "g.kg")
    assert "as text" in caught.value.next_step


@pytest.mark.parametrize(
    ("name", "start"), [("b.xlsx", b"PK\x03\x04 xl/"), ("t.parquet", b"PAR1\x15\x04"), ("f.arrow", b"ARROW1\0\0")]
)
def test_a_broken_file_is_refused_with_what_it_looks_like(tmp_path: Path, name: str, start: bytes) -> None:
    (tmp_path / name).write_bytes(start + bytes(100))
    with pytest.raises(LoadError, match=f"{name} looks like a .* that cannot be read"):
        load([tmp_path / name], tmp_path / "g.kg")


def test_a_missing_reader_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = workbook(tmp_path / "b.xlsx", films=[NAMES, *ROWS])
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(LoadError, match="needs the package python_calamine") as caught:
        load([source], tmp_path / "g.kg", NODES)
    assert "kgnav-mcp[excel]" in caught.value.next_step
