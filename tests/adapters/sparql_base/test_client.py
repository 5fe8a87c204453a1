"""What a call sends, and that its answer is bounded in bytes."""

from __future__ import annotations

import asyncio
import gzip
import inspect
import time
from importlib.metadata import version
from urllib.parse import parse_qs

import pytest
from rdflib import Literal
from SPARQLWrapper import SPARQLWrapper

from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.requests import RequestBuilder
from kgnav_mcp.adapters.sparql_base.results import JSON_TYPE
from kgnav_mcp.errors import InvalidStore, Unsupported

from .stub import Exchange, always, rows, serving

QUERY = "SELECT ?v { ?s ?p ?v }"
ONE = rows("1")


def client(url: str, **options: object) -> SparqlClient:
    settings = {"timeout": 5.0, **options}
    return SparqlClient(url, **settings)  # pyright: ignore[reportArgumentType] - options of one test


async def test_a_query_is_a_form_that_is_posted_and_asks_for_json():
    async with serving(always(ONE)) as stub:
        sparql = client(stub.url, default_graph="http://x/g", user_agent="tester/1 (me@x)")
        answer = await sparql.select('SELECT ?v { ?s ?p "é&+= %" }')
        await sparql.close()

    (request,) = stub.requests
    assert answer.rows == ({"v": Literal("1")},)
    assert request.line == "POST /sparql HTTP/1.1"
    assert request.form == {
        "query": ['SELECT ?v { ?s ?p "é&+= %" }'],
        "default-graph-uri": ["http://x/g"],
    }
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert request.headers["accept"] == "application/sparql-results+json"
    assert request.headers["user-agent"] == "tester/1 (me@x)"
    assert "gzip" in request.headers["accept-encoding"]


async def test_no_default_graph_is_sent_where_none_is_set():
    async with serving(always(ONE)) as stub:
        sparql = client(stub.url)
        await sparql.select(QUERY)
        await sparql.close()

    assert list(stub.requests[0].form) == ["query"]


@pytest.mark.parametrize(
    "query",
    [
        "INSERT DATA { <http://x/a> <http://x/b> <http://x/c> }",
        "# SELECT\nDELETE WHERE { ?s ?p ?o }",
        "PREFIX x: <http://x/SELECT> CLEAR ALL",
        'DEFINE x:y "SELECT ?v { ?v ?p ?o }',
        "",
    ],
)
async def test_nothing_but_queries_leaves_the_client(query: str):
    async with serving(always(ONE)) as stub:
        sparql = client(stub.url)
        with pytest.raises(Unsupported, match="only SELECT and ASK"):
            await sparql.select(query)
        await sparql.close()

    assert stub.requests == []


@pytest.mark.parametrize(
    "prologue",
    ["", "PREFIX x: <http://x/DELETE>\nprefix : <http://x/> ", "BASE <http://x/> # INSERT\n", 'DEFINE x:y "on"\n'],
)
async def test_a_prologue_may_stand_before_the_form(prologue: str):
    async with serving(always('{"head": {}, "boolean": true}')) as stub:
        sparql = client(stub.url)
        assert await sparql.ask(f"{prologue}ASK {{ }}")
        await sparql.close()


def test_the_private_method_that_makes_requests_is_as_in_sparqlwrapper_2_0_0():
    make_request = getattr(SPARQLWrapper, "_createRequest", None)

    found = f"SPARQLWrapper {version('SPARQLWrapper')}: see what makes a request there, and whether it is public now"
    assert make_request is not None, found
    assert str(inspect.signature(make_request)) == "(self) -> urllib.request.Request", found


def test_a_request_is_unchanged_by_another_that_is_made_at_the_same_time(monkeypatch: pytest.MonkeyPatch):
    builder = RequestBuilder("http://127.0.0.1/sparql", default_graph=None, agent="tester")
    make_request = vars(SPARQLWrapper)["_createRequest"]

    def interrupted(self: SPARQLWrapper) -> object:
        monkeypatch.undo()
        builder.form("ASK { ?other ?p ?o }", "application/xml")  # as another thread does
        return make_request(self)

    monkeypatch.setattr(SPARQLWrapper, "_createRequest", interrupted)
    form = builder.form(QUERY, JSON_TYPE)

    assert (parse_qs(form.body.decode())["query"], form.headers["Accept"]) == ([QUERY], JSON_TYPE)


def test_a_long_text_in_a_query_costs_linear_time():
    builder = RequestBuilder("http://127.0.0.1/sparql", default_graph=None, agent="tester")
    began = time.monotonic()

    builder.form(f'SELECT ?v {{ ?s ?p "{" " * 200_000}" }}', JSON_TYPE)

    assert time.monotonic() - began < 60  # quadratic time takes hours


@pytest.mark.parametrize("size_is_told", [True, False])
async def test_an_answer_above_the_bound_is_given_up_while_it_comes(size_is_told: bool):
    sent = 0

    async def floods(exchange: Exchange) -> None:
        nonlocal sent
        how = b"Content-Length: 100000000" if size_is_told else b"Connection: close"
        await exchange.send(b"HTTP/1.1 200 OK\r\n" + how + b"\r\n\r\n")
        for _ in range(1_000):
            await exchange.send(b" " * 100_000)
            sent += 100_000

    async with serving(floods) as stub:
        sparql = client(stub.url, max_bytes=200_000)
        with pytest.raises(InvalidStore, match="larger than 200,000 bytes") as caught:
            await sparql.select(QUERY)
        await sparql.close()

    assert "Narrow the call" in caught.value.next_step
    assert sent < 50_000_000


async def test_a_small_answer_that_unpacks_to_a_huge_one_is_given_up():
    async with serving(always(gzip.compress(b" " * 50_000_000), "Content-Encoding: gzip")) as stub:
        sparql = client(stub.url, max_bytes=1_000_000)
        with pytest.raises(InvalidStore, match="larger than"):
            await sparql.select(QUERY)
        await sparql.close()


async def test_a_packed_answer_is_unpacked():
    async with serving(always(gzip.compress(ONE.encode()), "Content-Encoding: gzip")) as stub:
        sparql = client(stub.url)
        assert (await sparql.select(QUERY)).rows == ({"v": Literal("1")},)
        await sparql.close()


@pytest.mark.slow
async def test_reading_a_large_answer_leaves_the_loop_to_others():
    cells = [str(number) for number in range(60_000)]
    async with serving(always(rows(*cells))) as stub:
        sparql = client(stub.url, timeout=30.0)
        call = asyncio.create_task(sparql.select(QUERY))
        turns = 0
        while not call.done():
            await asyncio.sleep(0.001)
            turns += 1
        await sparql.close()

    assert len(call.result().rows) == 60_000
    assert turns > 5


async def test_a_client_can_be_closed_twice():
    sparql = client("http://127.0.0.1/sparql")
    await sparql.close()
    await sparql.close()
