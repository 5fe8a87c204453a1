"""Limits on HTTP connections: idle and half-sent ones are closed, and too many are refused."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from unittest.mock import Mock
from urllib.parse import urlsplit

import httpx2
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from kgnav_mcp.server import connections
from kgnav_mcp.server.connections import ConnectionLimits
from tests.server.processes import KGNAV, PATIENCE_S, on_http

REQUEST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that reads the body of a request, waits, and sends it back."""
    assert scope["type"] == "http"
    message = await receive()
    while message["type"] == "http.request" and message.get("more_body"):
        message = await receive()
    if message["type"] == "http.disconnect":
        return
    await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
    await send({"type": "http.response.body", "body": b"done"})


@asynccontextmanager
async def served(limit: int = 100) -> AsyncGenerator[int]:
    """The port of a server of `echo` with this limit."""
    config = uvicorn.Config(
        echo, http=connections.bounded_connections(limit), ws="none", lifespan="off", timeout_keep_alive=1
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve([listening]))
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await running


async def answered(port: int, *parts: bytes) -> bytes:
    """All bytes that a connection is sent until it is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = bytearray()
    with suppress(ConnectionError):  # a refused connection is closed while it is written to
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.05)
        async with asyncio.timeout(PATIENCE_S):
            while block := await reader.read(1000):
                answer += block
    writer.close()
    return bytes(answer)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        ((), b""),
        ((b"POST / HTTP/1.1\r\nHo",), b"HTTP/1.1 408 "),
        ((b"POST / HT", b"TP/1.1\r\n"), b"HTTP/1.1 408 "),
        ((REQUEST, b"do"), b"HTTP/1.1 408 "),
    ],
    ids=["nothing", "half of the headers", "headers in pieces", "half of the body"],
)
async def test_a_connection_that_does_not_send_its_request_in_time_is_closed(
    monkeypatch: pytest.MonkeyPatch, sent: tuple[bytes, ...], answer: bytes
) -> None:
    monkeypatch.setattr(connections, "HEADERS_S", 0.3)
    monkeypatch.setattr(connections, "BODY_S", 0.3)
    async with served() as port:
        assert (await answered(port, *sent)).startswith(answer)
        assert answer or not await answered(port, *sent)


async def test_a_call_in_progress_outlasts_the_limits_and_the_idle_connection_is_closed_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEADERS_S", 0.3)
    monkeypatch.setattr(connections, "BODY_S", 0.3)
    async with served() as port:
        answer = await answered(port, REQUEST, b"body")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"done")


async def test_a_second_request_that_is_half_sent_is_closed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADERS_S", 0.8)
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST + b"body")
        assert (await reader.readuntil(b"done")).startswith(b"HTTP/1.1 200 ")
        writer.write(b"POST / HT")
        async with asyncio.timeout(PATIENCE_S):
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        writer.close()


async def test_connections_over_the_limit_are_told_to_try_again_and_let_in_later() -> None:
    async with served(limit=2) as port:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        refused = await answered(port)
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nRetry-After: 5\r\n" in refused
        for _, writer in idle:
            writer.close()
        async with asyncio.timeout(PATIENCE_S):
            while not (answer := await answered(port, REQUEST, b"body")).startswith(b"HTTP/1.1 200 "):
                assert not answer or b" 503 " in answer


def test_the_limit_leaves_file_descriptors_for_graphs_and_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    for soft, limit, backlog in (
        (1024, 640, 102),
        (256, 160, 25),
        (1_000_000, 10_000, 2_048),
        (resource.RLIM_INFINITY, 10_000, 2_000),
    ):
        monkeypatch.setattr(resource, "getrlimit", Mock(return_value=(soft, soft)))
        assert ConnectionLimits.of_process() == ConnectionLimits(limit, backlog)
        assert ConnectionLimits.of_process(7) == ConnectionLimits(7, backlog)


@pytest.mark.slow
def test_more_idle_sockets_than_file_descriptors_do_not_end_the_server(tmp_path: Path) -> None:
    command = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh", KGNAV, "serve", "--http", "127.0.0.1:0")
    with on_http(tmp_path, command=command) as server, ExitStack() as idle:
        place = urlsplit(server.url)
        assert place.port is not None
        for _ in range(300):
            idle.enter_context(socket.create_connection(("127.0.0.1", place.port), PATIENCE_S))
        answer = httpx2.get(server.url, timeout=PATIENCE_S)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        idle.close()
        while httpx2.get(server.url, timeout=PATIENCE_S).status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            pass
        assert server.process.poll() is None
