"""A client of `kgnav serve`, over stdio or HTTP, by the `mcp` package."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

_MAX_PAGES = 2_000
"""More pages than any list of the audit has: cursors that lead round in a circle end here."""
_CALL_TIMEOUT_S = 120.0
_START_TIMEOUT_S = 60.0
_TOOLSETS = ("--toolsets", "sog,graphwalker,graphwalk,linking,plans,counts")


@dataclass(frozen=True)
class Answer:
    """All rows of a list, from its first page to its last; or an error's text."""

    rows: Sequence[Mapping[str, Any]] = ()
    total: int | None = None
    exact: bool = True
    complete: bool = True
    """Whether the list ended because nothing was left."""
    notes: Sequence[str] = ()
    error: str | None = None
    pages: int = 1


class Server:
    """A running server with one graph."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ask(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool, and again with each cursor until the list ends."""
        rows: list[Mapping[str, Any]] = []
        notes: list[str] = []
        cursor: str | None = None
        for page in range(1, _MAX_PAGES):
            call = dict(arguments) if cursor is None else {**arguments, "cursor": cursor}
            async with asyncio.timeout(_CALL_TIMEOUT_S):
                result = await self._client.call_tool(tool, call)
            if result.is_error or result.structured_content is None:
                text = " ".join(part.text for part in result.content if isinstance(part, TextContent)).strip()
                return Answer(error=f"page {page}: {text}" if cursor else text, pages=page)
            content: Mapping[str, Any] = result.structured_content
            rows += content.get("rows", ())
            notes += content.get("notes", ())
            end = content["completeness"]
            cursor = end["cursor"]
            if cursor is None:
                return Answer(
                    rows, end["total"], end["certainty"] == "exact", end["stop"] == "complete", notes, pages=page
                )
        return Answer(error=f"the cursors do not end: {len(rows)} rows on {_MAX_PAGES} pages")


@asynccontextmanager
async def over_stdio(kgnav: Path, graph: str, environment: Mapping[str, str]) -> AsyncGenerator[Server]:
    """A server started as a child process that answers with structured content."""
    parameters = StdioServerParameters(
        command=str(kgnav), args=["serve", "--graph", graph, "--structured", *_TOOLSETS], env=dict(environment)
    )
    async with Client(parameters, mode="legacy") as client:
        yield Server(client)


@asynccontextmanager
async def over_http(kgnav: Path, graph: str, environment: Mapping[str, str]) -> AsyncGenerator[Server]:
    """The same over HTTP on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        kgnav,
        "serve",
        "--graph",
        graph,
        *_TOOLSETS,
        "--http",
        f"127.0.0.1:{port}",
        env=dict(environment),
        stderr=subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_START_TIMEOUT_S):
            while not _accepts(port):  # noqa: ASYNC110 - a port has no event
                await asyncio.sleep(0.1)
        async with Client(f"http://127.0.0.1:{port}/mcp/structured") as client:
            yield Server(client)
    finally:
        process.terminate()
        await process.wait()


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def shown(arguments: Mapping[str, Any]) -> str:
    """Arguments as a report prints them."""
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
