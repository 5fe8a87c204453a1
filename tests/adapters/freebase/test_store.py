"""What an endpoint cuts is asked for again in smaller parts, or said."""

from __future__ import annotations

import re

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase.options import Freebase
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.freebase.tallies import Tallies
from kgnav_mcp.adapters.sparql.results import Answer
from kgnav_mcp.model import Certainty, Direction, Stop
from kgnav_mcp.port import AdapterOptions

NS = "http://rdf.freebase.com/ns/"


class Capped:
    """An endpoint that gives at most `cap` rows of 25, or of as many as there are terms in a VALUES list."""

    def __init__(self, cap: int, *, partial: bool = False) -> None:
        self.cap = cap
        self.partial = partial
        self.queries: list[str] = []

    async def select(self, query: str) -> Answer:
        self.queries.append(query)
        skip = re.search(r"OFFSET (\d+) LIMIT (\d+)", query)
        if skip:
            numbers = list(range(25))[int(skip[1]) :][: int(skip[2])]
        else:
            numbers = [int(n) for n in re.findall(r"/m\.(\d+)>", query)]
        rows = tuple({"s": URIRef(f"{NS}m.{n}"), "p": URIRef(f"{NS}a.b"), "n": Literal(n)} for n in numbers[: self.cap])
        return Answer(rows, self.cap if len(rows) == self.cap else None, self.partial)


def _store(endpoint: Capped) -> Store:
    return Store(endpoint, Freebase.read("freebase+http://127.0.0.1/sparql", AdapterOptions()), ("en",))


async def test_a_slice_longer_than_the_row_cap_is_read_in_several():
    read = await _store(Capped(10)).slice("SELECT ?s WHERE { ?s ?p ?o } OFFSET $skip LIMIT $most", 2, 21)
    assert [str(row["s"]).rpartition(".")[2] for row in read.rows] == [str(n) for n in range(2, 23)]
    assert read.stop is Stop.COMPLETE


async def test_a_list_whose_answer_is_cut_is_asked_in_halves():
    iris = [URIRef(f"{NS}m.{n}") for n in range(25)]
    read = await _store(Capped(10)).over("SELECT ?s WHERE { VALUES ?s { $ids } ?s ?p ?o }", "ids", iris)
    assert {str(row["s"]) for row in read.rows} == set(map(str, iris))
    assert read.stop is Stop.COMPLETE


async def test_counts_of_an_answer_that_a_time_out_cut_are_lower_bounds():
    tally = await Tallies(_store(Capped(10, partial=True))).near([URIRef(f"{NS}m.7")], Direction.OUTGOING, None)
    assert tally.stop is Stop.TIME_OUT
    assert tally.count(7).certainty is Certainty.AT_LEAST


async def test_counts_are_read_once_for_the_pages_of_a_list():
    endpoint = Capped(10)
    tallies = Tallies(_store(endpoint))
    for _ in range(3):
        await tallies.near([URIRef(f"{NS}m.7")], Direction.OUTGOING, None)
    assert len(endpoint.queries) == 1
