"""A connection is kept from call to call, ends with a cancelled one, and is replaced where it was dropped."""

from __future__ import annotations

import asyncio
import socket
import ssl
from asyncio.trsock import TransportSocket
from dataclasses import replace
from typing import Any

import httpx2
import pytest
import trustme
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.errors import StoreTimeout, StoreUnavailable, Unsupported

from .stub import Exchange, always, rows, serving

QUERY = "SELECT ?v { ?s ?p ?v }"
ONE = rows("1")
PATIENCE_S = 60
"""How long anything may take before the test fails instead of hanging."""


def client(url: str, **options: object) -> SparqlClient:
    settings = {"timeout": 5.0, **options}
    return SparqlClient(url, **settings)  # pyright: ignore[reportArgumentType] - options of one test


async def hangs(exchange: Exchange) -> None:
    await exchange.until_left()


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


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="only Linux lets a program say when to acknowledge")
async def test_the_beginning_of_every_answer_is_acknowledged_at_once(monkeypatch: pytest.MonkeyPatch):
    set_: list[tuple[object, ...]] = []
    setsockopt = TransportSocket.setsockopt

    def note(connection: TransportSocket, *option: Any) -> None:
        set_.append(option)
        setsockopt(connection, *option)

    monkeypatch.setattr(TransportSocket, "setsockopt", note)
    async with serving(always(ONE)) as stub:
        sparql = client(stub.url)
        for _ in range(3):
            await sparql.select(QUERY)
        await sparql.close()

    assert set_.count((socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)) == 3


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
        sparql = client(stub.url, max_queries=3)
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
        await asyncio.wait_for(stub.left.wait(), PATIENCE_S)
        await sparql.close()


async def test_where_one_of_several_queries_fails_the_others_leave_the_endpoint():
    hanging = asyncio.Event()

    async def waits(exchange: Exchange) -> None:
        hanging.set()
        await exchange.until_left()

    async def fails(exchange: Exchange) -> None:
        await hanging.wait()
        await exchange.answer("Virtuoso 37000 Error SP030: no such thing", status="400 Bad Request", kind="text/plain")

    async with serving(waits, fails) as stub:
        sparql = client(stub.url)
        reader = Reader(sparql, {}, 5.0, dialect=replace(PLAIN, max_iris=1))
        with pytest.raises(Unsupported):
            await reader.in_batches(
                "SELECT ?v { VALUES ?v { $ids } }", "ids", [URIRef("http://e/1"), URIRef("http://e/2")]
            )
        await asyncio.wait_for(stub.left.wait(), PATIENCE_S)
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
        await asyncio.wait_for(stub.left.wait(), PATIENCE_S)
        assert (await sparql.select(QUERY)).rows
        await sparql.close()


async def test_a_call_that_takes_too_long_ends_in_time_is_told_to_the_endpoint_and_not_repeated():
    async with serving(always(ONE), hangs) as stub:
        sparql = client(stub.url, timeout=0.2)
        await sparql.select(QUERY)
        with pytest.raises(StoreTimeout, match=r"within 0\.2 s"):
            await asyncio.wait_for(sparql.select(QUERY), PATIENCE_S)
        await asyncio.wait_for(stub.left.wait(), PATIENCE_S)
        await sparql.close()

    assert len(stub.requests) == 2


async def test_the_time_limit_of_a_call_includes_a_body_that_trickles():
    async def trickles(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n")
        while not exchange.writer.is_closing():
            await exchange.send(b" ")
            await asyncio.sleep(0.02)

    async with serving(trickles) as stub:
        sparql = client(stub.url, timeout=0.3)
        with pytest.raises(StoreTimeout):
            await asyncio.wait_for(sparql.select(QUERY), PATIENCE_S)
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
        with pytest.raises(StoreUnavailable, match="broke before the answer was complete"):
            await sparql.select(QUERY)
        await sparql.close()

    assert len(stub.requests) == 1


async def test_every_dropped_connection_is_replaced_when_the_endpoint_restarts():
    all_here = asyncio.Barrier(3)

    async def together(exchange: Exchange) -> None:
        await all_here.wait()
        await exchange.answer(ONE)

    async with serving(*[together] * 3, drops, drops, drops, always(rows("2"))) as stub:
        sparql = client(stub.url)
        await asyncio.gather(*(sparql.select(QUERY) for _ in range(3)))
        assert (await sparql.select(QUERY)).rows == ({"v": Literal("2")},)
        await sparql.close()

    assert len(stub.requests) == 7


async def test_a_connection_lost_in_the_middle_of_an_answer_is_not_tried_again():
    async def cut(exchange: Exchange) -> None:
        await exchange.send(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"head"')
        exchange.drop()

    async with serving(always(ONE), cut) as stub:
        sparql = client(stub.url)
        await sparql.select(QUERY)
        with pytest.raises(StoreUnavailable, match="broke before the answer was complete"):
            await sparql.select(QUERY)
        await sparql.close()

    assert len(stub.requests) == 2
