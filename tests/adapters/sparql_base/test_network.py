"""A network that does not reach the endpoint is said to be the fault, with what to do about it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
import traceback
from typing import Any

import httpx2
import pytest
import trustme

from kgnav_mcp.adapters.sparql_base import client
from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.errors import ConfigurationError, KgnavError, StoreUnavailable

from .stub import Exchange, always, rows, serving

QUERY = "SELECT ?v { ?s ?p ?v }"


async def unreachable(url: str, transport: httpx2.AsyncBaseTransport | None = None) -> KgnavError:
    sparql = SparqlClient(url, timeout=60, transport=transport)  # which is another error, and far from any here
    with pytest.raises(StoreUnavailable) as caught:
        await sparql.select(QUERY)
    await sparql.close()
    return caught.value


async def test_an_endpoint_that_is_down_is_said_to_be_down():
    async with serving(always("")) as stub:
        url = stub.url

    error = await unreachable(url)

    assert error.message == f"nothing listens at {url}"


async def test_a_host_that_is_not_known_is_named():
    error = await unreachable("http://no-such-host.invalid/sparql")

    assert error.message == "unknown host no-such-host.invalid"


@pytest.mark.slow
async def test_a_host_that_takes_no_connection_is_given_up_soon():
    with socket.socket() as server, contextlib.ExitStack() as waiting:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(3):  # nobody accepts, and the queue is full: further calls are not even refused
            caller = waiting.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(server.getsockname())
        url = f"http://127.0.0.1:{server.getsockname()[1]}/sparql"
        error = await unreachable(url)

    assert error.message == f"{url} accepts no connection within 3 s"


async def test_a_connection_that_this_program_was_too_busy_to_see_is_made_again(monkeypatch: pytest.MonkeyPatch):
    connecting: list[str] = []
    send = httpx2.AsyncClient.send

    async def busy(http: httpx2.AsyncClient, request: httpx2.Request, **how: Any) -> httpx2.Response:
        note = request.extensions["trace"]

        async def noted(event: str, facts: object) -> None:
            await note(event, facts)
            if event == "connection.connect_tcp.started":
                connecting.append(event)
                if len(connecting) == 1:
                    asyncio.get_running_loop().call_soon(time.sleep, 0.5)

        request.extensions["trace"] = noted
        return await send(http, request, **how)

    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(httpx2.AsyncClient, "send", busy)
    async with serving(always(rows("1"))) as stub:
        sparql = SparqlClient(stub.url, timeout=60)
        assert (await sparql.select(QUERY)).rows
        await sparql.close()
    assert len(connecting) == 2


async def test_a_certificate_that_is_not_trusted_is_said_to_be():
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(server)  # pyright: ignore[reportUnknownMemberType]
    async with serving(always(rows("a")), tls=server) as stub:
        error = await unreachable(stub.url)

    assert error.message == "the TLS certificate of localhost is not trusted"


async def test_an_answer_that_is_cut_under_tls_is_not_taken_for_a_fault_of_tls():
    async def cuts(exchange: Exchange) -> None:
        await exchange.send(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"head"')
        exchange.reset()

    authority = trustme.CA()
    server, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(server)  # pyright: ignore[reportUnknownMemberType]
    authority.configure_trust(ours)  # pyright: ignore[reportUnknownMemberType]
    async with serving(cuts, tls=server) as stub:
        error = await unreachable(stub.url, httpx2.AsyncHTTPTransport(verify=ours))

    assert "broke before the answer was complete" in error.message


async def test_a_plain_endpoint_under_an_https_address_is_said_to_be_one():
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        error = await unreachable(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/sparql")

    assert "does not support TLS" in error.message
    assert "http://" in error.next_step


@pytest.mark.parametrize("proxy", ["ftp://me:secret@proxy.example", "http://me:secret@proxy.example:port"])
def test_a_proxy_that_is_no_address_is_said_to_be_none_without_its_password(
    proxy: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(ConfigurationError, match="the proxy setting") as error:
        SparqlClient("https://store.example/sparql", timeout=3)
    assert "secret" not in "".join(traceback.format_exception(error.value))
