"""What the benchmarks read back from an answer is what the server wrote into it."""

from __future__ import annotations

import pytest

from kgnav_bench.baselines import sog_table, sparql_json
from kgnav_bench.tables import UnreadableAnswerError, parse
from kgnav_mcp.model import Count, Stop
from kgnav_mcp.render.columns import Column
from kgnav_mcp.render.table import RenderOptions, Table, fit_to_budget

COLUMNS = ("property", "value")


def answer(rows: list[tuple[str, str]], total: Count, stop: Stop = Stop.COMPLETE, **more: object) -> str:
    table = Table("rows", [*map(Column, COLUMNS)], rows, total, stop, **more)  # pyright: ignore[reportArgumentType]
    return fit_to_budget(table, RenderOptions(), lambda shown: f"cursor-{shown}").text


def test_cells_come_back_as_they_were_with_bars_in_them_and_notes_left_out() -> None:
    rows = [("one", "a|b"), ("two", "--"), ("three", ""), ("four\\", "c\\|d")]

    table = parse(answer(rows, Count(4), intro=("Some words.",), notes=("Next: go|on.",)))

    assert table.columns == COLUMNS
    assert list(table.rows) == rows
    assert (table.total, table.exact, table.before, table.cursor) == (4, True, 0, None)


@pytest.mark.parametrize(("offset", "before"), [(0, 0), (1200, 1200)])
def test_a_part_of_a_list_says_where_it_stands_and_how_it_goes_on(offset: int, before: int) -> None:
    table = parse(answer([("one", "a"), ("two", "b")], Count(4030), Stop.LIMIT, offset=offset))

    assert (table.total, table.before, table.cursor, len(table.rows)) == (4030, before, "cursor-2", 2)


def test_the_last_part_of_a_list_has_no_cursor() -> None:
    table = parse(answer([("one", "a")], Count(51), offset=50))

    assert (table.total, table.before, table.cursor, len(table.rows)) == (51, 50, None, 1)


def test_a_lower_bound_is_not_taken_for_a_total() -> None:
    table = parse(answer([("one", "a")], Count.at_least(51), Stop.LIMIT))

    assert (table.total, table.exact) == (51, False)


def test_a_list_of_one_row_and_an_empty_one_are_read_too() -> None:
    assert parse(answer([("one", "a")], Count(1))).rows == (("one", "a"),)
    assert parse(answer([], Count(0), empty="nothing is there.")).rows == ()


@pytest.mark.parametrize("text", ["", "Not found: no entity", "2 rows\na|b\n--|--\n1|2", "1 row\na|b\n--|--\n1|2|3"])
def test_what_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        parse(text)


def test_the_other_formats_hold_the_same_cells() -> None:
    columns, rows = ("property", "propertyLabel", "value", "valueLabel"), [("p", "is", "a b", "A B")]

    assert sog_table(columns, rows).splitlines() == ["1 rows:", "|".join(columns), "--|--|--|--", "p|is|a b|A B"]
    assert '"value":{"type":"uri","value":"http://example.org/a_b"}' in sparql_json(columns, rows)
    assert '"valueLabel":{"type":"literal","value":"A B"}' in sparql_json(columns, rows)
