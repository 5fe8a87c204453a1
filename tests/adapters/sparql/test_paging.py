"""A position is understood by the next call as it was written, and anything else is refused."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.sparql.paging import Place, Position, items_before
from kgnav_mcp.errors import InvalidCursor

POSITIONS = [
    Position(0, ("film.actor.film",), Place()),
    Position(3, ("http://e.example/p|q", "http://e.example/r"), Place(200, 7)),
]


@pytest.mark.parametrize("position", POSITIONS)
def test_a_position_that_was_written_is_read_as_it_was(position: Position):
    assert Position.parse(position.write()) == position


@pytest.mark.parametrize(
    "text", ["", "0|0|0|", "0|0|0", "0|0|0|a b c", "0|0|0|a ", "0|-1|0|a", "0|٣|0|a", f"{10**13}|0|0|a", "1"]
)
def test_a_text_that_is_no_position_is_refused(text: str):
    with pytest.raises(InvalidCursor, match="no position in this list"):
        Position.parse(text)


def test_places_are_ordered_by_group_then_by_row():
    assert sorted([Place(1, 0), Place(0, 9), Place(0, 2)]) == [Place(0, 2), Place(0, 9), Place(1, 0)]


def test_a_number_of_items_is_read_as_such():
    assert (items_before(None), items_before("0"), items_before("6000")) == (0, 0, 6000)


@pytest.mark.parametrize("text", ["", "-1", "1.5", " 1", "٣", str(10**13), "0|0|0|a"])
def test_a_text_that_is_no_number_of_items_is_refused(text: str):
    with pytest.raises(InvalidCursor):
        items_before(text)
