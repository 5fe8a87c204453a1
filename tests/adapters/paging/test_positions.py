"""A position is understood by the next call as it was written, and anything else is refused."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.paging.rows import Key, Place, Position
from kgnav_mcp.errors import InvalidCursor

POSITIONS = [
    Position(0, ("film.actor.film",)),
    Position(3, ("http://e.example/p|q", "http://e.example/r"), Place(200, 7)),
    Position(0, ("KNOWS OF", "100%20 SURE"), Place(1, 2)),
    Position(0, ("a|b",), Place(1_000, 1, Key(3, "50 % | \n \u4e2d:\U0001d11e%7C"))),
    Position(0, ("a",), Place(1_000, 0, Key(2, ""))),
    Position(0, ("a",), Place(1_000, 0, Key(2, blank=True))),
]


@pytest.mark.parametrize("position", POSITIONS)
def test_a_position_that_was_written_is_read_as_it_was(position: Position):
    assert Position.parse(position.write()) == position


@pytest.mark.parametrize(
    "text",
    ["", "0|0.0|", "0|0|a", "0|0.0|a b c", "0|0.0|a ", "0|-1.0|a", "0|\u0663.0|a", f"{10**13}|0.0|a", "1", "\ud800"],
)
def test_a_text_that_is_no_position_is_refused(text: str):
    with pytest.raises(InvalidCursor, match="does not belong to this list"):
        Position.parse(text)


def test_places_are_ordered_by_group_then_by_row():
    assert sorted([Place(1, 0), Place(0, 9), Place(0, 2)]) == [Place(0, 2), Place(0, 9), Place(1, 0)]
