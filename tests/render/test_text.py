"""Text from a graph cannot break out of its cell."""

from __future__ import annotations

import pytest

from kgnav_mcp.model import Entity, Literal, Qualifier, Relation
from kgnav_mcp.render.text import (
    UNNAMED,
    cell_text,
    clean,
    literal_text,
    name_and_id,
    printable_id,
    qualifiers_text,
    quoted,
    table_body,
    table_cell,
    value_and_label,
)


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("a\x00b\x1b[31mc", "ab[31mc"),
        ("left\u202eright\u202c", "leftright"),
        ("zero\u200bwidth\u200d\ufeff", "zerowidth"),
        ("tag\U000e0041\U000e007f", "tag"),
        ("soft\u00adhyphen", "softhyphen"),
        ("two\r\nlines\u2028three", "two lines three"),
        ("lone\ud800surrogate", "lonesurrogate"),
        ("  kept within  ", "  kept within  "),
        ("Ελληνικά 日本語 العربية", "Ελληνικά 日本語 العربية"),
    ],
)
def test_invisible_and_control_characters_are_taken_out(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless


def test_a_pipe_cannot_open_a_new_cell() -> None:
    assert table_cell("a|b") == r"a\|b"
    assert table_cell("already \\| escaped") == r"already \\\| escaped"
    assert table_cell("ends in \\") == r"ends in \\"


@pytest.mark.parametrize(
    ("id_", "printed"),
    [
        ("Q42", "Q42"),
        ("inner  blanks", "inner  blanks"),
        (" blanks  ", "%20blanks%20%20"),
        ("zero\u200bwidth", "zero%E2%80%8Bwidth"),
        ("two\nlines", "two%0Alines"),
        ("\u6771\u4eac", "\u6771\u4eac"),
        ("100%", "100%"),
        ("pi|pe\\", "pi%7Cpe%5C"),
    ],
)
def test_an_id_that_a_table_would_change_can_still_be_copied_whole(id_: str, printed: str) -> None:
    assert printable_id(id_) == printed


def test_an_example_call_stays_one_quoted_argument() -> None:
    assert quoted('say "hi"\nplease\\') == r'"say \"hi\" please\\"'


def test_a_long_literal_is_clipped_and_says_its_length() -> None:
    assert literal_text(Literal("x" * 1234), 10) == f"{'x' * 10}... (1,234 characters)"
    assert literal_text(Literal("x" * 10), 10) == "x" * 10


def test_a_long_list_is_clipped_and_says_its_length() -> None:
    printed: list[object] = []

    class Member(str):
        __slots__ = ()

        def __str__(self) -> str:
            printed.append(self)
            return self

    assert cell_text(tuple([Member("x")] * 1_000_000), 10) == "[x, x, x, ... (1,000,000 members)"
    assert len(printed) < 20, "members that are not shown are not printed"
    assert cell_text(("abc",) * 4, 10) == "[abc, abc,... (20 characters)"
    assert cell_text(("abc", 1), 10) == "[abc, 1]"


def test_a_literal_shows_its_language() -> None:
    assert literal_text(Literal("De Nachtwacht", language="nl"), 100) == "De Nachtwacht @nl"


def test_an_entity_always_has_a_label_column_and_a_literal_never() -> None:
    assert value_and_label(Entity("Q5", "human"), 10) == ("Q5", "human")
    assert value_and_label(Entity("_:b0"), 10) == ("_:b0", UNNAMED)
    assert value_and_label(Literal("1853"), 10) == ("1853", "")


def test_a_name_that_is_the_id_is_not_said_twice() -> None:
    assert name_and_id(Entity("Drama", "Drama")) == "Drama"
    assert name_and_id(Entity("Q5", "human")) == "human (Q5)"


def test_qualifiers_stand_in_one_cell() -> None:
    stay = (
        Qualifier(Relation("from", "from"), Literal("1886")),
        Qualifier(Relation("place", "place"), Entity("paris", "Paris")),
    )
    assert qualifiers_text(stay, 60) == "from: 1886; place: Paris (paris)"


@pytest.mark.parametrize(
    "hostile", ["plain", "", "a|b", "back\\slash", "two\nlines", "zero\u200bwidth", "\u6771\u4eac", "bell\x07", "a\r"]
)
def test_a_table_is_its_cells_whatever_one_of_them_holds(hostile: str) -> None:
    rows = [("one", "two"), (hostile, "three"), ("four", hostile)]
    assert table_body(rows) == "\n".join(f"{table_cell(left)}|{table_cell(right)}" for left, right in rows)


def test_a_pipe_in_place_of_a_missing_cell_does_not_pass_for_a_table() -> None:
    assert table_body([("a|b",), ("c", "d")]) == "a\\|b\nc|d"
