"""A SPARQL endpoint that misbehaves to order: HTTP/1.1 on a loopback port, written byte by byte."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

ROWS = "application/sparql-results+json"


@dataclass
class Request:
    """One request as it came."""

    line: str
    headers: dict[str, str]
    body: str
    connection: int

    @property
    def form(self) -> dict[str, list[str]]:
        return parse_qs(self.body, strict_parsing=True)


@dataclass
class Exchange:
    """One request and the way to answer it."""

    request: Request
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    stub: Stub

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, body: bytes | str, *headers: str, status: str = "200 OK", kind: str = ROWS) -> None:
        content = body.encode() if isinstance(body, str) else body
        head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(content)}", *headers]
        await self.send("\r\n".join([*head, "", ""]).encode() + content)

    async def until_left(self) -> None:
        """Wait until the client has closed its connection, and note that it has."""
        await self.reader.read()
        self.stub.left.set()

    def drop(self) -> None:
        """Close the connection without a word."""
        self.writer.close()

    def reset(self) -> None:
        """Break the connection off."""
        self.writer.transport.abort()


Handler = Callable[[Exchange], Awaitable[None]]


@dataclass
class Stub:
    """What the endpoint has seen."""

    url: str = ""
    connections: int = 0
    requests: list[Request] = field(default_factory=list[Request])
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def serving(*handlers: Handler, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Stub]:
    """Answer the first request by the first handler, the next by the next; the last one goes on."""
    stub = Stub()
    writers: list[asyncio.StreamWriter] = []
    serving_now: list[asyncio.Task[None]] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stub.connections += 1
        number = stub.connections
        writers.append(writer)
        if task := asyncio.current_task():
            serving_now.append(task)
        try:
            while not writer.is_closing():
                request = await _read(reader, number)
                if request is None:
                    break
                handler = handlers[min(len(stub.requests), len(handlers) - 1)]
                stub.requests.append(request)
                stub.asked.set()
                await handler(Exchange(request, reader, writer, stub))
        except ConnectionError:
            pass
        finally:
            if not writer.is_closing():  # before Python 3.11.5, a TLS transport closed twice cannot be aborted
                writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    scheme, host = ("https", "localhost") if tls else ("http", "127.0.0.1")
    stub.url = f"{scheme}://{host}:{server.sockets[0].getsockname()[1]}/sparql"
    try:
        yield stub
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*serving_now)
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader, connection: int) -> Request | None:
    """The next request; None where the client has left, between two of them or within one that it gave up."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *fields = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (entry.split(": ", 1) for entry in fields)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except asyncio.IncompleteReadError:
        return None
    return Request(line, headers, body.decode(), connection)


def rows(*cells: str, variable: str = "v") -> str:
    """A result of one column."""
    return table([variable], [{variable: {"type": "literal", "value": cell}} for cell in cells])


def table(variables: Sequence[str], bindings: Sequence[object]) -> str:
    return json.dumps({"head": {"vars": variables}, "results": {"bindings": bindings}})


def always(body: bytes | str, *headers: str, status: str = "200 OK", kind: str = ROWS) -> Handler:
    """A handler that always answers so."""

    async def handle(exchange: Exchange) -> None:
        await exchange.answer(body, *headers, status=status, kind=kind)

    return handle
