"""Pages of lists of nodes and values say where they end, and whether their list may be longer."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.sparql_base.paging import page_stop, raised_total, truncated
from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import Certainty, Count, Page, Stop
from kgnav_mcp.port.lists import items_before


def test_a_number_of_items_is_read_as_such():
    assert (items_before(None), items_before("0"), items_before("6000")) == (0, 0, 6000)


@pytest.mark.parametrize("text", ["", "-1", "1.5", " 1", "٣", str(10**13), "0|0|0|a"])
def test_a_text_that_is_no_number_of_items_is_refused(text: str):
    with pytest.raises(InvalidCursor):
        items_before(text)


def test_a_page_is_the_last_where_nothing_is_behind_it_and_a_full_one_of_a_list_that_was_not_counted_is_not():
    assert [page_stop(Count(9), skip, 3, 3) for skip in (3, 6)] == [Stop.LIMIT, Stop.COMPLETE]
    assert [page_stop(Count.at_least(2), 6, read, 3) for read in (3, 2)] == [Stop.LIMIT, Stop.COMPLETE]
    assert page_stop(Count.unknown(), 0, 3, 3) is Stop.LIMIT


def test_a_list_of_which_items_were_seen_has_at_least_these():
    assert [raised_total(count, 6) for count in (Count(9), Count.at_least(2), Count.at_least(9), Count.unknown())] == [
        Count(9),
        Count.at_least(6),
        Count.at_least(9),
        Count.at_least(6),
    ]


def test_a_page_of_a_truncated_list_is_complete_only_if_nothing_was_cut():
    page = Page(("a",), ("1",), Count(1))
    assert truncated(page, Stop.COMPLETE) == page
    assert truncated(page, Stop.ROW_CAP) == Page(("a",), ("1",), Count.at_least(1), Stop.ROW_CAP)
    assert truncated(Page(("a",), ("1",), Count(2), Stop.LIMIT), Stop.ROW_CAP).stop is Stop.LIMIT
    assert truncated(Page((), (), Count.unknown()), Stop.LIMIT).total.certainty is Certainty.UNKNOWN
