"""What an endpoint cuts is asked for again in smaller parts, or said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rdflib import Literal, URIRef

from kgnav_mcp import store_limits
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN
from kgnav_mcp.adapters.sparql_base.dialects import OXIGRAPH
from kgnav_mcp.adapters.sparql_base.query_reader import PING, Read, Reader, Row, is_at_most
from kgnav_mcp.adapters.sparql_base.results import Answer
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Count, Stop
from tests.adapters.sparql_base.clock import Clock

SLICE = "SELECT ?s WHERE { ?s ?p ?o } OFFSET $skip LIMIT $most"
LIST = "SELECT ?s WHERE { VALUES ?s { $ids } ?s ?p ?o }"
BRANCH = "{ BIND($n AS ?s) }"
NOTHING = Answer(())
IRIS = [URIRef(f"http://e.example/{n}") for n in range(25)]


class Capped:
    """An endpoint that gives at most `cap` rows of 25, or of as many as there are terms in a list."""

    dialect = OXIGRAPH

    def __init__(self, cap: int, *, partial: bool = False) -> None:
        self.cap = cap
        self.partial = partial
        self.queries: list[str] = []

    async def select(self, query: str, **_: object) -> Answer:
        self.queries.append(query)
        assert len(self.queries) < 100, "the endpoint is asked for ever"
        skip = re.search(r"OFFSET (\d+) LIMIT (\d+)", query)
        found = IRIS[int(skip[1]) :][: int(skip[2])] if skip else [iri for iri in IRIS if iri.n3() in query]
        rows = tuple({"s": iri} for iri in found[: self.cap])
        return Answer(rows, self.cap if len(rows) == self.cap else None, self.partial)


def reader(endpoint: Capped, *, batch: int = 200, branches: int = 40, prologue: str = "") -> Reader:
    known = {"everywhere": Literal("known")}
    return Reader(
        endpoint, known, 30.0, prologue=prologue, dialect=replace(PLAIN, max_iris=batch, max_branches=branches)
    )


def sizes(endpoint: Capped, pattern: str) -> list[int]:
    """How often the pattern is in each of the queries."""
    return [len(re.findall(pattern, query)) for query in endpoint.queries]


async def test_a_slice_longer_than_the_row_cap_is_read_in_several():
    read = await reader(Capped(10)).slice(SLICE, 2, 21)
    assert [row["s"] for row in read.rows] == IRIS[2:23]
    assert read.stop is Stop.COMPLETE


async def test_a_slice_of_an_endpoint_that_gives_no_rows_ends_and_says_so():
    endpoint = Capped(0)
    read = await reader(endpoint).slice(SLICE, 0, 21)
    assert (read.rows, read.stop) == ((), Stop.ROW_CAP)
    assert len(endpoint.queries) == 1


async def test_a_list_whose_answer_is_cut_is_read_in_halves():
    read = await reader(Capped(10)).in_batches(LIST, "ids", IRIS)
    assert {row["s"] for row in read.rows} == set(IRIS)
    assert read.stop is Stop.COMPLETE


@pytest.mark.parametrize(("batch", "asked"), [(25, [25]), (24, [24, 1]), (10, [10, 10, 5])])
async def test_a_list_is_read_in_batches_of_the_size_that_fits_the_store(batch: int, asked: Sequence[int]):
    endpoint = Capped(1_000)
    read = await reader(endpoint, batch=batch).in_batches(LIST, "ids", IRIS)
    assert sizes(endpoint, "<http") == asked
    assert [row["s"] for row in read.rows] == IRIS


async def test_a_union_has_as_many_branches_as_fit_the_store():
    endpoint = Capped(1_000)
    asked = reader(endpoint, branches=2)
    await asked.union([asked.filled(BRANCH, n=n) for n in range(5)])
    assert sizes(endpoint, "BIND") == [2, 2, 1]


async def test_the_prologue_stands_before_every_query():
    endpoint = Capped(10)
    asked = reader(endpoint, prologue="PREFIX e: <http://e.example/>\n")
    await asked.select("SELECT ?s WHERE { ?s ?p $everywhere }")
    await asked.in_batches(LIST, "ids", IRIS)
    await asked.union([asked.filled(BRANCH, n=1)])
    await asked.slice(SLICE, 0, 25)
    assert all(query.startswith("PREFIX e: <http://e.example/>\nSELECT") for query in endpoint.queries)
    assert 'WHERE { ?s ?p "known" }' in endpoint.queries[0]


async def test_rows_that_a_time_out_cut_are_no_whole_answer():
    cut = await reader(Capped(10, partial=True)).slice(SLICE, 0, 5)
    assert (len(cut.rows), cut.stop) == (5, Stop.TIME_OUT)
    with pytest.raises(StoreTimeout, match="stopped the query"):
        cut.all_rows()
    assert len((await reader(Capped(10)).slice(SLICE, 0, 5)).all_rows()) == 5


async def test_any_rows_needs_one_row_or_a_query_that_ended_in_time():
    row = {"s": IRIS[0]}
    assert Read((row,), Stop.TIME_OUT).any_rows() == (row,)
    assert Read(()).any_rows() == ()
    with pytest.raises(StoreTimeout, match="stopped the query"):
        Read((), Stop.TIME_OUT).any_rows()


class Fixed:
    """An endpoint that always gives the same answer."""

    dialect = OXIGRAPH

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def select(self, query: str, **_: object) -> Answer:
        del query
        return self._answer


class Counting:
    """An endpoint that counts."""

    dialect = OXIGRAPH

    def __init__(self, counted: int, answer: Answer) -> None:
        self.answer = replace(answer, rows=({"n": Literal(counted)},))

    async def select(self, query: str, **_: object) -> Answer:
        assert query.startswith("SELECT (COUNT(*) AS ?n)")
        return self.answer


@pytest.mark.parametrize(
    ("answer", "most", "count"),
    [
        (NOTHING, None, Count(7)),
        (NOTHING, 8, Count(7)),
        (NOTHING, 7, Count.at_least(7)),
        (replace(NOTHING, partial=True), None, Count.at_least(7)),
        (replace(NOTHING, row_cap=1), 8, Count.at_least(7)),
    ],
)
async def test_a_number_is_exact_where_all_was_counted(answer: Answer, most: int | None, count: Count):
    query = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }" if most is None else "SELECT (COUNT(*) AS ?n) LIMIT $most"
    assert await Reader(Counting(7, answer), {}, 30.0).count(query, most=most) == count


def test_what_was_not_all_counted_is_not_known_to_fit():
    assert [is_at_most(count, 7) for count in (Count(7), Count(8), Count.at_least(7), Count.unknown())] == [
        True,
        False,
        False,
        False,
    ]


class Slow:
    """An endpoint whose queries of a list take their whole time in vain, and after so many queries all of them."""

    dialect = OXIGRAPH

    def __init__(self, clock: Clock, *, hangs_after: int = 100) -> None:
        self.clock = clock
        self.hangs_after = hangs_after
        self.queries: list[str] = []

    async def select(self, query: str, **_: object) -> Answer:
        self.queries.append(query)
        if "VALUES" in query or len(self.queries) > self.hangs_after:
            self.clock.now += 30
            raise StoreTimeout(30)
        return NOTHING


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(store_limits, "monotonic", clock)
    return clock


async def test_after_a_time_out_an_endpoint_that_still_answers_gets_more_queries(clock: Clock):
    endpoint = Slow(clock)
    asked = Reader(endpoint, {}, 30.0)
    with store_limits.single_call():
        with pytest.raises(StoreTimeout):
            await asked.in_batches(LIST, "ids", IRIS)
        await asked.select("SELECT ?less")
        await asked.select("SELECT ?names")
    assert endpoint.queries[1:] == [PING, "SELECT ?less", "SELECT ?names"]


async def test_after_a_time_out_an_endpoint_that_hangs_gets_only_a_ping(clock: Clock):
    endpoint = Slow(clock, hangs_after=0)
    asked = Reader(endpoint, {}, 30.0)
    with store_limits.single_call():
        for _ in range(2):
            with pytest.raises(StoreTimeout):
                await asked.select("SELECT ?everything")
    assert endpoint.queries == ["SELECT ?everything", PING]


async def test_that_an_endpoint_refuses_a_question_is_a_sign_too(clock: Clock):
    class Refusing(Slow):
        async def select(self, query: str, **_: object) -> Answer:
            if query == PING:
                raise Unsupported("no such syntax")
            return await super().select(query)

    endpoint = Refusing(clock)
    asked = Reader(endpoint, {}, 30.0)
    with store_limits.single_call():
        with pytest.raises(StoreTimeout):
            await asked.in_batches(LIST, "ids", IRIS)
        assert await asked.select("SELECT ?less") == Read(())


@pytest.mark.parametrize("row", [{}, {"n": Literal(0)}, {"n": Literal(0), "t": Literal(0)}, {"number": Literal(3)}])
async def test_a_row_for_no_group_is_no_row(row: Row):
    grouped = "SELECT ?s (COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?s"
    read = await Reader(Fixed(Answer((row,))), {}, 30.0).select(grouped)
    assert read == Read(())


async def test_a_group_without_its_key_and_a_count_of_nothing_are_rows():
    of_texts = {"n": Literal(2)}
    assert (await Reader(Fixed(Answer((of_texts,))), {}, 30.0).select("SELECT ?d GROUP BY ?d")).rows == (of_texts,)
    assert (await Reader(Fixed(Answer(({"n": Literal(0)},))), {}, 30.0).select("SELECT ?n {}")).rows
