"""What a call sends, and that its connection is kept, ended with the call, and bounded in time and bytes."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import time

import httpx2
import pytest
import trustme
from rdflib import Literal

from kgnav_mcp.adapters.sparql.client import SparqlClient
from kgnav_mcp.adapters.sparql.requests import RequestBuilder
from kgnav_mcp.errors import InvalidStore, StoreTimeout, StoreUnavailable, Unsupported

from .stub import Exchange, always, rows, serving

QUERY = "SELECT ?v { ?s ?p ?v }"
ONE = rows("1")


def client(url: str, **options: object) -> SparqlClient:
    settings = {"timeout": 5.0, **options}
    return SparqlClient(url, **settings)  # pyright: ignore[reportArgumentType] - options of one test


async def hangs(exchange: Exchange) -> None:
    await exchange.until_left()


async def test_a_query_is_a_form_that_is_posted_and_asks_for_json():
    async with serving(always(ONE)) as stub:
        sparql = client(
            stub.url, default_graph="http://x/g", user_agent="tester/1 (me@x)", parameters={"timeout": "900"}
        )
        answer = await sparql.select('SELECT ?v { ?s ?p "é&+= %" }')
        await sparql.close()

    (request,) = stub.requests
    assert answer.rows == ({"v": Literal("1")},)
    assert request.line == "POST /sparql HTTP/1.1"
    assert request.form == {
        "query": ['SELECT ?v { ?s ?p "é&+= %" }'],
        "default-graph-uri": ["http://x/g"],
        "timeout": ["900"],
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


def test_a_long_text_in_a_query_costs_linear_time():
    builder = RequestBuilder("http://127.0.0.1/sparql", default_graph=None, agent="tester")
    began = time.monotonic()

    builder.form(f'SELECT ?v {{ ?s ?p "{" " * 200_000}" }}')

    assert time.monotonic() - began < 1


async def test_one_connection_serves_call_after_call():
    async with serving(always(ONE)) as stub:
        sparql = client(stub.url)
        for _ in range(50):
            await sparql.select(QUERY)
        await sparql.close()

    assert len(stub.requests) == 50
    assert stub.connections == 1


async def test_one_tls_handshake_serves_call_after_call():
    authority = trustme.CA()
    server, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(server)  # pyright: ignore[reportUnknownMemberType] - of pyOpenSSL, too
    authority.configure_trust(ours)  # pyright: ignore[reportUnknownMemberType]
    async with serving(always(ONE), tls=server) as stub:
        sparql = client(stub.url, transport=httpx2.AsyncHTTPTransport(verify=ours))
        for _ in range(20):
            await sparql.select(QUERY)
        await sparql.close()

    assert len(stub.requests) == 20
    assert stub.connections == 1


async def test_an_error_of_the_endpoint_leaves_the_connection_open():
    async with serving(always("no", status="400 Bad Request", kind="text/plain"), always(ONE)) as stub:
        sparql = client(stub.url)
        with pytest.raises(Unsupported):
            await sparql.select(QUERY)
        await sparql.select(QUERY)
        await sparql.close()

    assert stub.connections == 1


async def test_calls_at_one_time_share_as_many_connections_as_are_allowed():
    async def slow(exchange: Exchange) -> None:
        await asyncio.sleep(0.02)
        await exchange.answer(ONE)

    async with serving(slow) as stub:
        sparql = client(stub.url, max_connections=3)
        await asyncio.gather(*(sparql.select(QUERY) for _ in range(12)))
        await sparql.close()

    assert len(stub.requests) == 12
    assert stub.connections == 3


async def test_a_cancelled_call_leaves_the_endpoint_at_once():
    async with serving(hangs) as stub:
        sparql = client(stub.url)
        call = asyncio.create_task(sparql.select(QUERY))
        await stub.asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(stub.left.wait(), 0.5)
        await sparql.close()


async def test_a_call_cancelled_in_the_middle_of_an_answer_leaves_too_and_the_next_one_works():
    started = asyncio.Event()

    async def begins(exchange: Exchange) -> None:
        await exchange.send(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"head"')
        started.set()
        await exchange.until_left()

    async with serving(begins, always(ONE)) as stub:
        sparql = client(stub.url)
        call = asyncio.create_task(sparql.select(QUERY))
        await started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(stub.left.wait(), 0.5)
        assert (await sparql.select(QUERY)).rows
        await sparql.close()


async def test_a_call_that_takes_too_long_ends_in_time_is_told_to_the_endpoint_and_not_repeated():
    async with serving(always(ONE), hangs) as stub:
        sparql = client(stub.url, timeout=0.2)
        await sparql.select(QUERY)
        began = time.monotonic()
        with pytest.raises(StoreTimeout, match=r"within 0\.2 s"):
            await sparql.select(QUERY)
        assert time.monotonic() - began < 0.5
        await asyncio.wait_for(stub.left.wait(), 0.5)
        await sparql.close()

    assert len(stub.requests) == 2


async def test_a_body_that_trickles_is_held_to_the_time_of_the_whole_call():
    async def trickles(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n")
        while not exchange.writer.is_closing():
            await exchange.send(b" ")
            await asyncio.sleep(0.02)

    async with serving(trickles) as stub:
        sparql = client(stub.url, timeout=0.3)
        began = time.monotonic()
        with pytest.raises(StoreTimeout):
            await sparql.select(QUERY)
        assert time.monotonic() - began < 0.8
        await sparql.close()


async def test_a_connection_dropped_while_idle_is_replaced_unnoticed():
    async def answers_and_drops(exchange: Exchange) -> None:
        await exchange.answer(ONE)
        exchange.drop()

    async with serving(answers_and_drops) as stub:
        sparql = client(stub.url)
        for _ in range(5):
            assert (await sparql.select(QUERY)).rows
            await asyncio.sleep(0.01)
        await sparql.close()

    assert len(stub.requests) == 5


async def drops(exchange: Exchange) -> None:
    exchange.drop()


async def resets(exchange: Exchange) -> None:
    exchange.reset()


@pytest.mark.parametrize("fails", [drops, resets])
async def test_a_kept_connection_that_fails_under_the_request_is_replaced_once(fails: object):
    async with serving(always(ONE), fails, always(rows("2"))) as stub:  # pyright: ignore[reportArgumentType]
        sparql = client(stub.url)
        await sparql.select(QUERY)
        assert (await sparql.select(QUERY)).rows == ({"v": Literal("2")},)
        await sparql.close()

    assert [request.connection for request in stub.requests] == [1, 1, 2]


@pytest.mark.parametrize("fails", [drops, resets])
async def test_a_fresh_connection_that_fails_is_an_error_at_once(fails: object):
    async with serving(fails) as stub:  # pyright: ignore[reportArgumentType]
        sparql = client(stub.url)
        with pytest.raises(StoreUnavailable, match="broke before its answer was whole"):
            await sparql.select(QUERY)
        await sparql.close()

    assert len(stub.requests) == 1


async def test_every_dropped_connection_is_replaced_when_the_endpoint_restarts():
    all_here = asyncio.Barrier(4)

    async def together(exchange: Exchange) -> None:
        await all_here.wait()
        await exchange.answer(ONE)

    async with serving(*[together] * 4, drops, drops, drops, drops, always(rows("2"))) as stub:
        sparql = client(stub.url)
        await asyncio.gather(*(sparql.select(QUERY) for _ in range(4)))
        assert (await sparql.select(QUERY)).rows == ({"v": Literal("2")},)
        await sparql.close()

    assert len(stub.requests) == 9


async def test_a_connection_lost_in_the_middle_of_an_answer_is_not_tried_again():
    async def cut(exchange: Exchange) -> None:
        await exchange.send(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"head"')
        exchange.drop()

    async with serving(always(ONE), cut) as stub:
        sparql = client(stub.url)
        await sparql.select(QUERY)
        with pytest.raises(StoreUnavailable, match="broke before its answer was whole"):
            await sparql.select(QUERY)
        await sparql.close()

    assert len(stub.requests) == 2


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

    assert "Ask for less" in caught.value.next_step
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
