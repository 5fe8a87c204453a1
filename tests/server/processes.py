"""The server as clients meet it: the installed commands in processes of their own, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import sysconfig
import threading
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

from mcp import StdioServerParameters

SCRIPTS = Path(sysconfig.get_path("scripts"))
KGNAV = str(SCRIPTS / "kgnav")
KGNAV_MCP = str(SCRIPTS / "kgnav-mcp")

PATIENCE_S = 120
"""How long anything may take before the test fails instead of hanging."""

_READY = "Serving MCP at "

Json = dict[str, Any]


def environment(folder: Path) -> dict[str, str]:
    """The variables of this process without this project's own, and with folders of the tests' for everything kept.

    The cache is shared by all tests of a worker: the demo graph and the parser's tables are made once.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KGNAV_")}
    return {**kept, "XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": str(folder.parent / "cache")}


def missing_graph(folder: Path) -> tuple[str, str]:
    """The arguments for a server whose one graph, `films`, is a file that does not exist."""
    (folder / "missing.toml").write_text('[graphs.films]\nlocation = "missing.kg"\n', encoding="utf-8")
    return "--config", "missing.toml"


def on_stdio(folder: Path, *arguments: str) -> StdioServerParameters:
    """How a client starts the server."""
    return StdioServerParameters(command=KGNAV_MCP, args=[*arguments], env=environment(folder), cwd=folder)


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that listens, its process, and the lines it says on stderr; None is the end of them."""

    url: str
    process: subprocess.Popen[str]
    lines: Queue[str | None]

    def said(self) -> str:
        """The next line on stderr."""
        try:
            line = self.lines.get(timeout=PATIENCE_S)
        except Empty:
            raise AssertionError(f"nothing was said within {PATIENCE_S} s; exit code {self.process.poll()}") from None
        assert line is not None, f"the server ended with {self.process.wait(PATIENCE_S)}"
        return line

    def ended_by(self, signal: int) -> tuple[int, str]:
        """The exit code and what else was said on stderr, once the signal has ended it."""
        self.process.send_signal(signal)
        code = self.process.wait(PATIENCE_S)
        return code, "".join(line for line in iter(lambda: self.lines.get(timeout=PATIENCE_S), None) if line)


@contextmanager
def on_http(
    folder: Path, *arguments: str, address: str = "127.0.0.1:0", command: Sequence[str] = ()
) -> Generator[HttpServer]:
    """A server on a free port, once it listens. Without a command it is `kgnav serve --http`."""
    serve = command or (KGNAV, "serve", "--http", address, *arguments)
    with subprocess.Popen(
        serve, env=environment(folder), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        lines: Queue[str | None] = Queue()
        reader = threading.Thread(target=_pass_on, args=(process.stderr, lines))
        reader.start()
        try:
            first = lines.get(timeout=PATIENCE_S) or ""
            assert first.startswith(_READY), first
            url = first.removeprefix(_READY).strip()
            assert lines.get(timeout=PATIENCE_S) == f"Answers as structured content at {url}/structured\n"
            yield HttpServer(url, process, lines)
        finally:
            process.kill()
            reader.join()


def _pass_on(said: IO[str], lines: Queue[str | None]) -> None:
    for line in said:
        lines.put(line)
    lines.put(None)


@dataclass(frozen=True, slots=True)
class Wire:
    """A server process on stdio, met line by line."""

    process: asyncio.subprocess.Process

    async def send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()

    async def receive(self) -> Json:
        """The next message; that it is one is checked."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            message = json.loads(await self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    async def answer(self, message: Mapping[str, Any]) -> Json:
        """What is answered to this request, which is the only one that is open."""
        await self.send(message)
        received = await self.receive()
        assert received["id"] == message["id"]
        return received

    async def shake_hands(self) -> None:
        """Open a session of the handshake era."""
        await self.answer(INITIALIZE)
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def said(self, words: str) -> None:
        """Wait until these words are on a line of stderr."""
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE_S):
            while words not in (line := (await self.process.stderr.readline()).decode()):
                assert line, f"the server ended without saying {words!r}"

    async def closed(self) -> tuple[int, str, str]:
        """The exit code and the rest of stdout and stderr, once stdin is closed."""
        async with asyncio.timeout(PATIENCE_S):
            out, said = await self.process.communicate(b"")
        assert self.process.returncode is not None
        return self.process.returncode, out.decode(), said.decode()

    async def ended_by(self, signal: int) -> tuple[int, str]:
        """The exit code and the rest of stderr, once the signal has ended it. Stdin stays open."""
        assert self.process.stderr is not None
        self.process.send_signal(signal)
        async with asyncio.timeout(PATIENCE_S):
            said = await self.process.stderr.read()
            return await self.process.wait(), said.decode()


@asynccontextmanager
async def on_wire(folder: Path, *command: str) -> AsyncGenerator[Wire]:
    """A server on stdio without a client's comfort. Without a command it is `kgnav-mcp`."""
    process = await asyncio.create_subprocess_exec(
        *(command or (KGNAV_MCP,)),
        env=environment(folder),
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    try:
        yield Wire(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def python(script: str) -> tuple[str, str]:
    """The command that runs a script that lies beside this file."""
    return sys.executable, str(Path(__file__).with_name(script))


INITIALIZE: Json = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def request(number: int, method: str, **params: Any) -> Json:
    """A request of the handshake era."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def modern(number: int, method: str, **params: Any) -> Json:
    """A request of the stateless era: it carries what a handshake would have settled."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return request(number, method, **params, _meta=meta)
