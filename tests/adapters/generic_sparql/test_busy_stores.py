"""A store that was too busy when its relations were first counted is asked again later."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.generic_sparql.catalogue import CatalogueCache
from kgnav_mcp.model import Count
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.contract.faults.catalogue import RELATION_COUNTS

TURTLE = """@prefix ex: <http://ex.example/> .
ex:ada ex:knows ex:ben, ex:cyd ."""


@pytest.mark.parametrize(("seconds", "later"), [(0.0, Count(2)), (1_000.0, Count.at_least(2))])
async def test_counts_that_a_time_out_cut_are_read_again_after_some_minutes(
    seconds: float, later: Count, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(CatalogueCache, "cache_seconds", seconds)
    store = InProcess(TURTLE, slow=[RELATION_COUNTS])
    async with opened_over(store, HERE) as graph:
        assert (await graph.schema(limit=9)).triples == Count.at_least(2)
        store.mend()
        assert (await graph.schema(limit=9)).triples == later


def test_a_busy_store_is_asked_again_within_ten_minutes():
    assert CatalogueCache.cache_seconds <= 600
