"""Positions that notice that a list was written to, and the lists that they are positions in."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.cypher.pages import RowPosition, list_page, skipped_items
from kgnav_mcp.adapters.paging.rows import Place, Position
from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import Count, Stop


@pytest.mark.parametrize("text", ["", "1.2", "1.x.0|1.0|LIKES", "1.-1.0|1.0|LIKES"])
def test_other_texts_are_no_positions_of_rows(text: str) -> None:
    with pytest.raises(InvalidCursor, match="does not belong to this list"):
        RowPosition.parse(text)


def test_a_position_of_rows_is_read_as_it_was_written() -> None:
    place = Position(3, ("a dotted.relation",), Place(5))
    position = RowPosition(12, 6, place.write())

    assert RowPosition.parse(position.write()) == position
    assert position.place == place


def test_a_position_in_a_list_that_has_another_length_now_is_refused() -> None:
    after = list_page("ab", 0, 5).positions[-1]

    assert skipped_items(after, 5) == 2
    with pytest.raises(InvalidCursor, match="has changed since"):
        skipped_items(after, 6)


def test_a_list_ends_where_all_of_its_items_were_shown() -> None:
    assert list_page("cd", 2, 5).stop is Stop.LIMIT
    assert (list_page("de", 3, 5).stop, list_page("de", 3, 5).total) == (Stop.COMPLETE, Count(5))
