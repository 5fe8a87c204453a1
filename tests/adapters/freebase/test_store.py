"""Counts are kept for the pages of a list, and no longer."""

from __future__ import annotations

import re

import pytest
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase.relations import CountReader
from kgnav_mcp.adapters.freebase.store import Freebase, Store
from kgnav_mcp.adapters.paging import counts as counts_module
from kgnav_mcp.adapters.sparql_base.results import Answer
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import AdapterOptions
from tests.adapters.sparql_base.clock import Clock, timed

NS = "http://rdf.freebase.com/ns/"
ANN = URIRef(f"{NS}m.7")


class Endpoint:
    """Counts one row for every entity that a query names."""

    dialect = VIRTUOSO

    def __init__(self, *, partial: bool = False) -> None:
        self.partial = partial
        self.queries: list[str] = []

    async def select(self, query: str, **_: object) -> Answer:
        self.queries.append(query)
        found = re.findall(rf"<({re.escape(NS)}m\.\d+)>", query)
        rows = tuple({"s": URIRef(iri), "p": URIRef(f"{NS}a.b"), "n": Literal(1)} for iri in found)
        return Answer(rows, None, self.partial)


def _store(endpoint: Endpoint) -> Store:
    options = AdapterOptions()
    return Store.of(endpoint, Freebase.read("freebase+http://127.0.0.1/sparql", options), options)


async def test_a_long_list_is_read_by_several_queries_at_once():
    endpoint = Endpoint()
    iris = [URIRef(f"{NS}m.{n}") for n in range(1_001)]
    await _store(endpoint).reader.in_batches("SELECT ?s WHERE { VALUES ?s { $ids } ?s ?p ?o }", "ids", iris)
    assert sorted(query.count("<") for query in endpoint.queries) == [1, 500, 500]


async def test_counts_of_an_answer_that_a_time_out_cut_are_lower_bounds():
    counts = await CountReader(_store(Endpoint(partial=True))).one_hop([ANN], Direction.OUTGOING, None)
    assert (counts.stop, counts.total) == (Stop.TIME_OUT, Count.at_least(1))


async def test_counts_are_read_once_for_the_pages_of_a_list_and_anew_after_a_minute(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counts_module, "TTLCache", timed(clock := Clock()))
    endpoint = Endpoint()
    counts = CountReader(_store(endpoint))
    for seconds, queries in [(0, 1), (30, 1), (59, 1), (61, 2), (119, 2)]:
        clock.now = seconds
        await counts.one_hop([ANN], Direction.OUTGOING, None)
        assert len(endpoint.queries) == queries
