"""Freebase on a live Virtuoso passes the contract."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tests.contract import toy_files, toy_views
from tests.contract.suite import GraphAdapterContract
from tests.services import Virtuoso

GRAPH = "http://toy.example/contract"


@pytest.fixture(scope="module")
def toy_location(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as Freebase writes it, loaded into its own named graph."""
    for path in toy_files.write_freebase(tmp_path_factory.mktemp("freebase")):
        virtuoso.load(path, GRAPH)
    return f"freebase+{virtuoso.url}?default-graph-uri={GRAPH}"


@pytest.mark.one_in(0, of="ten_thousand")
@pytest.mark.one_in(3, of="test_what_left_nothing_of_an_answer_is_named")
@pytest.mark.one_in(3, of="test_a_list_that_is_too_long_to_be_read_is_searched_for_the_same_rows")
@pytest.mark.one_in(3, of="test_an_unknown_name_is_refused_unless_it_is_an_alternative_which_matches_nothing")
@pytest.mark.one_in(3, of="test_pages_of_any_size_lose_nothing_and_show_nothing_twice")
class TestFreebaseOnVirtuoso(GraphAdapterContract):
    groups_by_values: ClassVar[bool] = False
    schemes: ClassVar[frozenset[str]] = frozenset({"freebase+http", "freebase+https"})
    style: ClassVar[toy_views.Style] = toy_views.FREEBASE

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, toy_location: str) -> str:
        return toy_location
