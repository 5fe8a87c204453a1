"""The protocol over this process's own stdin and stdout, with the event loop itself waiting for them.

The SDK's transport crosses to a thread for every line it reads and twice for every line it writes: a third of what an
idle call takes. Clients start the server with pipes or sockets, which an event loop on POSIX waits for without one.
Everything else, such as a terminal, a file, or Windows, is left to the SDK.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Self

import anyio
import mcp_types
from mcp.server.mcpserver import MCPServer
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if sys.platform != "win32":
    import fcntl

STDIN, STDOUT, STDERR = 0, 1, 2

_LONGEST_LINE = 2**26
"""Bytes of one message: more than any call has arguments, less than would fill the memory."""


class PipedServer(MCPServer[None]):
    """The SDK's server, with a faster way over pipes."""

    async def run_stdio_async(self) -> None:
        """Serve on stdin and stdout until the client closes them."""
        if not _are_pipes():
            await super().run_stdio_async()
            return
        server = self._lowlevel_server
        with _wire() as (incoming, outgoing):
            async with _lines_from(incoming) as read, _lines_to(outgoing) as write:
                await server.run(read, write, server.create_initialization_options())


def _are_pipes() -> bool:
    """Whether an event loop can wait for stdin and stdout."""
    if sys.platform == "win32":
        return False
    try:
        modes = [os.fstat(end).st_mode for end in (STDIN, STDOUT)]
    except OSError:
        return False
    return all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)


@contextmanager
def _wire() -> Generator[tuple[int, int]]:
    """Both ends under numbers of their own, while stdin is empty and stdout leads to stderr.

    What a library prints, or a child process, can then never come between two messages.
    """
    incoming, outgoing = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, STDERR + 1) for end in (STDIN, STDOUT))
    try:
        _lead(STDIN, os.devnull, os.O_RDONLY)
        try:
            os.dup2(STDERR, STDOUT)
        except OSError:  # there is no stderr
            _lead(STDOUT, os.devnull, os.O_WRONLY)
        yield os.dup(incoming), os.dup(outgoing)
    finally:
        os.dup2(incoming, STDIN)
        os.dup2(outgoing, STDOUT)
        os.close(incoming)
        os.close(outgoing)


def _lead(end: int, path: str, flags: int) -> None:
    opened = os.open(path, flags)
    os.dup2(opened, end)
    os.close(opened)


class _Stream:
    """What the SDK asks of a stream beside its items."""

    async def aclose(self) -> None:
        """Nothing is to be done: who opened the wire closes it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class _Incoming(_Stream):
    """The client's messages; a line that is none is handed on as the error it gave."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def receive(self) -> SessionMessage | Exception:
        try:
            line = await self._reader.readline()
        except ValueError as error:  # longer than _LONGEST_LINE
            return error
        except ConnectionError as error:
            raise anyio.EndOfStream from error
        if not line:
            raise anyio.EndOfStream
        try:
            text = line.decode("utf-8", "replace")
            return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(text, by_name=False))
        except ValidationError as error:
            return error

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream as error:
            raise StopAsyncIteration from error


class _Outgoing(_Stream, asyncio.BaseProtocol):
    """Messages to the client. Whoever sends waits while the client does not read."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._flows = asyncio.Event()
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)  # noqa: S101 - connect_write_pipe makes no other
        self._transport = transport
        self._flows.set()

    def pause_writing(self) -> None:
        self._flows.clear()

    def resume_writing(self) -> None:
        self._flows.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why the client left makes no difference
        self._transport = None
        self._flows.set()
        self.ended.set()

    async def send(self, item: SessionMessage) -> None:
        """Raises anyio.BrokenResourceError when the client reads no more."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        await self._flows.wait()
        if self._transport is None or self._transport.is_closing():
            raise anyio.BrokenResourceError
        self._transport.write(f"{text}\n".encode())


@asynccontextmanager
async def _lines_from(end: int) -> AsyncGenerator[_Incoming]:
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb", buffering=0)
    )
    try:
        yield _Incoming(reader)
    finally:
        transport.close()


@asynccontextmanager
async def _lines_to(end: int) -> AsyncGenerator[_Outgoing]:
    transport, outgoing = await asyncio.get_running_loop().connect_write_pipe(
        _Outgoing, os.fdopen(end, "wb", buffering=0)
    )
    try:
        yield outgoing
    finally:
        transport.close()  # writes what is still waiting, unless the client has left
        await outgoing.ended.wait()
