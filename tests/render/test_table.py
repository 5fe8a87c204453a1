"""Tables are cut at a row and say how complete they are."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from kgnav_mcp.model import Completeness, Count, Stop
from kgnav_mcp.render.columns import Column, ColumnType
from kgnav_mcp.render.table import RenderOptions, Table, completeness_line, fit_to_budget
from kgnav_mcp.render.text import count_tokens


def at(position: int) -> str:
    return f"c{position}"


def table(rows: int, total: Count | None = None, stop: Stop = Stop.COMPLETE, offset: int = 0) -> Table:
    cells = [(f"relation_{n}", f"value number {n}", "") for n in range(rows)]
    return Table(
        "rows",
        (Column("property"), Column("value"), Column("qualifiers", optional=True)),
        cells,
        total or Count(rows),
        stop,
        offset,
        empty="nothing is here.",
    )


def test_a_whole_table_says_its_number_of_rows() -> None:
    assert fit_to_budget(table(2), RenderOptions(), at).text == "\n".join(
        ["2 rows", "property|value", "--|--", "relation_0|value number 0", "relation_1|value number 1"]
    )


def test_an_empty_table_says_why_and_shows_no_columns() -> None:
    assert fit_to_budget(table(0), RenderOptions(), at).text == "0 rows: nothing is here."


@pytest.mark.parametrize("budget", [200, 1000, 8000])
def test_no_answer_is_over_its_budget_and_the_cut_is_at_a_row(budget: int) -> None:
    answer = fit_to_budget(table(5000), RenderOptions(budget=budget), at)
    assert count_tokens(answer.text) <= budget
    lines = answer.text.split("\n")
    shown = len(lines) - 3
    assert lines[0] == f'showing {shown:,} of 5,000 rows; next: cursor "c{shown}"'
    assert lines[-1] == f"relation_{shown - 1}|value number {shown - 1}"
    assert count_tokens(answer.text) > 0.5 * budget, "the budget is used"


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("budget", [1000, 8000])
def test_an_answer_with_a_long_cursor_is_within_its_budget_too(budget: int, structured: bool) -> None:
    options = RenderOptions(budget=budget, structured=structured)
    answer = fit_to_budget(table(5000), options, lambda shown: f"{'Ab3-' * 60}{shown}")
    text = f"{answer.first_line}\n{json.dumps(answer.facts)}" if structured else answer.text
    assert 0.9 * budget < count_tokens(text) <= budget


def test_a_row_larger_than_the_budget_is_shown_all_the_same() -> None:
    huge = Table("rows", (Column("value"),), [("word " * 5000,), ("next",)], Count(2))
    assert fit_to_budget(huge, RenderOptions(budget=500), at).text.startswith('showing 1 of 2 rows; next: cursor "c1"')


@pytest.mark.parametrize("budget", [8000, 300])
def test_each_row_is_printed_once_however_often_the_table_is_fitted(budget: int) -> None:
    printed: list[object] = []

    def text(value: object, _: int) -> tuple[str]:
        printed.append(value)
        return (str(value),)

    column = Column("value", ColumnType({}, text))
    rows = [(f"ns1:{n}",) for n in range(50)]
    options = RenderOptions(budget, generated_prefixes={"ns1": "http://example.org/"})
    answer = fit_to_budget(Table("rows", (column,), rows, Count(50), items=rows), options, at)
    assert (len(answer.shown) < 50) is (budget < 8000)
    assert answer.text.endswith("Prefixes: ns1: is http://example.org/")
    assert printed == [value for (value,) in rows]


def test_structured_facts_are_the_same_as_the_table() -> None:
    answer = fit_to_budget(table(2, Count(9), Stop.LIMIT), RenderOptions(), at)
    assert answer.facts == {
        "completeness": {
            "shown": 2,
            "before": 0,
            "total": 9,
            "certainty": "exact",
            "stop": "limit",
            "cursor": "c2",
        },
        "rows": [
            {"property": "relation_0", "value": "value number 0"},
            {"property": "relation_1", "value": "value number 1"},
        ],
        "notes": [],
    }


def test_a_cell_or_heading_cannot_break_the_table() -> None:
    hostile = Table("rows", (Column("v || 'x'\n= w"),), [("a|b\nc\u202e",)], Count(1))
    assert fit_to_budget(hostile, RenderOptions(), at).text == "1 row\nv \\|\\| 'x' = w\n--\na\\|b c"


LINES: list[tuple[Completeness, int, str]] = [
    (Completeness(594, Count(594)), 0, "594 rows"),
    (Completeness(1, Count(1)), 0, "1 row"),
    (Completeness(0, Count(0)), 0, "0 rows"),
    (Completeness(10, Count(101), Stop.LIMIT), 0, "showing 10 of 101 rows"),
    (
        Completeness(1000, Count(8642), Stop.LIMIT, "abc"),
        0,
        'showing 1,000 of 8,642 rows; next: cursor "abc"',
    ),
    (
        Completeness(1000, Count(8642), Stop.BUDGET, "abc"),
        1000,
        'showing rows 1,001 to 2,000 of 8,642 rows; next: cursor "abc"',
    ),
    (Completeness(642, Count(8642)), 8000, "showing rows 8,001 to 8,642 of 8,642 rows; that is the end"),
    (
        Completeness(51, Count.at_least(51), Stop.LIMIT, "abc"),
        0,
        'showing 51 of at least 51 rows; next: cursor "abc"',
    ),
    (
        Completeness(20, Count.unknown(), Stop.LIMIT, "abc"),
        0,
        'showing 20 of an unknown number of rows; next: cursor "abc"',
    ),
    (Completeness(10000, Count.unknown(), Stop.ROW_CAP), 0, "partial: the endpoint stopped after 10,000 rows"),
    (
        Completeness(7, Count.unknown(), Stop.TIME_OUT),
        0,
        "partial: the store ran out of time after 7 rows; what is missing is unknown",
    ),
]


@pytest.mark.parametrize(("completeness", "offset", "line"), LINES)
def test_every_kind_of_completeness_has_its_own_sentence(completeness: Completeness, offset: int, line: str) -> None:
    assert completeness_line(completeness, "rows", offset) == line


@pytest.mark.parametrize(
    ("count", "text"), [(Count(4030), "4,030"), (Count.at_least(51), "51+"), (Count.unknown(), "?")]
)
def test_a_count_in_a_cell_says_how_sure_it_is(count: Count, text: str) -> None:
    assert str(count) == text


def test_the_cursor_is_made_for_the_last_row_shown() -> None:
    numbers: list[int] = []
    record: Callable[[int], str] = lambda shown: (numbers.append(shown), "c")[1]  # noqa: E731
    fit_to_budget(table(3, Count(9), Stop.LIMIT), RenderOptions(), record)
    assert numbers == [3]


def test_a_coined_prefix_is_explained_once_where_it_occurs_and_within_the_budget() -> None:
    options = RenderOptions(
        budget=400, generated_prefixes={"ns1": "http://place.example.org/", "ns2": "http://unused.example.org/"}
    )
    rows = [(f"ns1:place{n}", "a value about ns2", "") for n in range(500)]
    answer = fit_to_budget(
        Table("rows", (Column("value"), Column("text"), Column("more")), rows, Count(500)), options, at
    )
    assert answer.text.endswith("\nPrefixes: ns1: is http://place.example.org/")
    assert count_tokens(answer.text) <= options.budget
    assert answer.text.startswith("showing ")
    assert answer.facts["notes"] == ["Prefixes: ns1: is http://place.example.org/"]


def test_no_prefix_is_explained_that_does_not_occur() -> None:
    options = RenderOptions(generated_prefixes={"ns1": "http://place.example.org/"})
    rows = [("columns1:x", "ns1 : y", "xns1:z")]
    assert (
        "Prefixes"
        not in fit_to_budget(Table("rows", (Column("a"), Column("b"), Column("c")), rows, Count(1)), options).text
    )


def test_of_very_many_generated_prefixes_those_are_explained_that_a_quarter_of_the_budget_holds() -> None:
    options = RenderOptions(
        budget=400, generated_prefixes={f"ns{n}": f"http://place-{n}.example.org/" for n in range(100)}
    )
    row = " ".join(f"ns{n}:x" for n in range(100))
    answer = fit_to_budget(Table("rows", (Column("value"),), [(row,)], Count(1)), options).text
    assert "Prefixes: ns0: is http://place-0.example.org/, ns1: is" in answer
    assert "ns50: is" not in answer
