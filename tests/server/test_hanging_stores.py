"""A store that takes connections and never answers: every caller is told in time, none waits for another one's time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest
from mcp import Client

from kgnav_mcp.app import App
from kgnav_mcp.config import TOOLSETS, GraphSettings, Settings
from kgnav_mcp.server import build_server
from tests.sampling import sampled_rows
from tests.server.clients import reading_examples, text_of

pytestmark = pytest.mark.slow

CALLERS = 64
TIME_OUT = 2.0
GUARD = 60
"""Seconds: callers who wait one after the other would take longer than this."""
SEARCH: dict[str, object] = {"entity": "http://x.example/a", "direction": "outgoing"}
NO_ROWS = b'{"head": {"vars": ["s"]}, "results": {"bindings": []}}'


class Endpoint:
    """A SPARQL endpoint over an empty graph, until it hangs."""

    def __init__(self, *, hangs: bool) -> None:
        self.hangs = hangs
        self.connections = 0
        self.met = asyncio.Event()
        self.port = 0

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[App]:
        """An app whose one graph is here."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        location = f"sparql+http://127.0.0.1:{self.port}/sparql"
        try:
            yield App(
                Settings(
                    graphs={"hanging": GraphSettings(location=location)}, timeout=TIME_OUT, toolsets=tuple(TOOLSETS)
                )
            )
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.met.set()
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                await reader.readexactly(int(head.partition("content-length:")[2].split("\r\n")[0]))
                if self.hangs:
                    await reader.read()  # until the client has had enough
                    break
                kind = b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n"
                writer.write(kind + f"Content-Length: {len(NO_ROWS)}\r\n\r\n".encode() + NO_ROWS)
        writer.close()


async def answers(client: Client, tool: str, arguments: dict[str, object]) -> list[str]:
    """What as many callers at once are told."""
    async with asyncio.timeout(GUARD):
        results = await asyncio.gather(*(client.call_tool(tool, arguments) for _ in range(CALLERS)))
    return [text_of(result) for result in results]


async def test_callers_of_a_store_that_does_not_open_share_one_opening_and_are_told_together():
    endpoint = Endpoint(hangs=True)
    async with endpoint.listening() as app, Client(build_server(app)) as client:
        told = await answers(client, "search", SEARCH)
        assert {text.partition(":")[0] for text in told} == {"Timed out"}
        assert endpoint.connections <= 2, "one opening, which asks little"
        endpoint.hangs = False
        assert "Not found" in text_of(await client.call_tool("search", SEARCH)), "the next call opens it anew"


@pytest.mark.parametrize(("tool", "arguments"), sampled_rows(reading_examples().items(), 2), ids=reading_examples())
async def test_callers_of_an_open_store_that_hangs_are_told_together(tool: str, arguments: dict[str, object]):
    endpoint = Endpoint(hangs=False)
    async with endpoint.listening() as app, Client(build_server(app)) as client:
        assert "Not found" in text_of(await client.call_tool("search", SEARCH))
        endpoint.hangs = True
        assert {text.partition(":")[0] for text in await answers(client, tool, arguments)} == {"Timed out"}


async def test_a_caller_who_leaves_does_not_end_the_opening_of_the_others_and_the_last_one_does():
    endpoint = Endpoint(hangs=True)
    async with endpoint.listening() as app:
        graph = app.graph()

        async def call() -> None:
            async with graph.adapter():
                pytest.fail("it does not open")

        first, second = asyncio.create_task(call()), asyncio.create_task(call())
        async with asyncio.timeout(GUARD):
            await endpoint.met.wait()
        first.cancel()
        await asyncio.wait([first])
        opening = [task for task in asyncio.all_tasks() if "SharedTask._outcome" in repr(task)]
        assert len(opening) == 1
        second.cancel()
        await asyncio.wait(opening)
        assert opening[0].cancelled()
        await app.close()
