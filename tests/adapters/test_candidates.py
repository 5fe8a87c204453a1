"""What a hint may mean is ranked, and said to be all, the same way for every store."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.candidates import ALIAS, ID, NAME, Candidates, first_page
from kgnav_mcp.adapters.naming import language_rank
from kgnav_mcp.model import Count, Stop


def test_an_entity_has_its_best_match_and_the_id_given_comes_before_every_name():
    candidates = Candidates[str]("drama")
    for entity, text, kind in (("a", "melodrama", NAME), ("a", "Drama", ALIAS), ("b", "drama", NAME)):
        candidates.add(entity, text, kind)
    candidates.add_by_id("z", "drama")
    candidates.add("z", "drama", NAME)
    assert candidates["a"].text == "Drama"
    assert candidates.best_first(str) == ["b", "z", "a"]
    candidates.restrict_to({"a"})
    assert list(candidates) == ["a"]


def test_an_id_that_says_the_hint_is_not_its_very_name():
    candidates = Candidates[str]("drama")
    candidates.add("a", "drama", ID)
    assert not candidates.has_exact_match
    candidates.add("b", "DRAMA", ALIAS)
    assert candidates.has_exact_match


@pytest.mark.parametrize(
    ("found", "stop", "total", "why"),
    [
        (2, Stop.COMPLETE, Count(2), Stop.COMPLETE),
        (3, Stop.COMPLETE, Count(3), Stop.LIMIT),
        (3, Stop.TIME_OUT, Count.at_least(3), Stop.TIME_OUT),
    ],
)
def test_a_page_says_whether_there_is_more(found: int, stop: Stop, total: Count, why: Stop):
    page = first_page([("a", 1), ("b", 2)], found, 2, stop)
    assert (page.items, page.positions, page.total, page.stop) == ((1, 2), ("a", "b"), total, why)


def test_languages_come_in_their_order_regional_forms_behind_each_then_none_then_all_others():
    order = ["de", "de-AT", "EN", "en-GB", None, "fr"]
    assert sorted(order, key=lambda one: language_rank(one, ("de", "en"))) == order
    assert language_rank("fr", ("de", "en")) == language_rank("es", ("de", "en"))
