"""A language model's API on loopback that answers what a test tells it to, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Self

from pydantic import SecretStr

from kgnav_mcp.config import LlmSettings

KEY = "sk-open-sesame"


@dataclass(frozen=True)
class Request:
    """One request as it came over the wire."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def document(self) -> dict[str, Any]:
        """What the model was shown as data."""
        return json.loads(self.body["messages"][-1]["content"])


class StubEndpoint:
    """Answers `text` as a chat completion; or `raw` bytes, another `status`, or only after `delay` seconds."""

    def __init__(self) -> None:
        self.text = ""
        self.raw: bytes | None = None
        self.status = 200
        self.delay = 0.0
        self.requests: list[Request] = []
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def connections(self) -> int:
        return len(self._serving)

    def chooses(self, *ids: str) -> None:
        self.text = json.dumps({"relations": ids})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def settings(self, *, timeout: float = 5.0) -> LlmSettings:
        return LlmSettings(base_url=self.url, model="stub", api_key=SecretStr(KEY), timeout=timeout)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self._answer(head.decode(), reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has gone
        finally:
            writer.close()

    async def _answer(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers["content-length"]))
        self.requests.append(Request(first.split()[1], headers, json.loads(body)))
        await asyncio.sleep(self.delay)
        completion = {"choices": [{"message": {"role": "assistant", "content": self.text}}]}
        answer = json.dumps(completion).encode() if self.raw is None else self.raw
        writer.write(
            f"HTTP/1.1 {self.status} Whatever\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(answer)}\r\n\r\n".encode()
            + answer
        )
        await writer.drain()
