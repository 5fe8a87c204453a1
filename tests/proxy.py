"""A way to a store that lets everything through until it is told to hang, as a store does that is stuck."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

_CHUNK = 65_536


class Proxy:
    """A port of this machine in front of another one."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self._left: int | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.port = 0
        self.is_holding = False
        """Whether a message came after it was told to hang."""

    def hang(self, *, after: int = 0) -> None:
        """Take connections and what is sent, and let no more than so many more messages through to the store."""
        self._left = after

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[None]:
        """Forward in this block."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            for task in self._serving:
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._behind)
        replies = asyncio.create_task(_forward(far_reader, writer))
        try:
            with suppress(ConnectionError):
                while message := await reader.read(_CHUNK):
                    if self._left is not None and self._left <= 0:
                        self.is_holding = True
                        await reader.read()  # until the client has had enough
                        break
                    self._left = None if self._left is None else self._left - 1
                    far_writer.write(message)
        finally:
            replies.cancel()
            far_writer.close()
            writer.close()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while message := await reader.read(_CHUNK):
            writer.write(message)
