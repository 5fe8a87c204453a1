"""An HTTP server as a child process, and a client with hardly any cost of its own: one kept-alive socket."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from kgnav_bench.client import HANDSHAKE, PROTOCOL, ServerEndedError, script, text_of

READY = "Serving MCP at "
"""The text that a server writes to stderr, followed by its URL, when it listens."""

Era = Literal["stateless", "handshake"]

_STATELESS = "2026-07-28"
_ENVELOPE: Mapping[str, object] = {
    "io.modelcontextprotocol/protocolVersion": _STATELESS,
    "io.modelcontextprotocol/clientInfo": HANDSHAKE["clientInfo"],
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""The client's description in each request of the stateless protocol."""

_DATA = b"data: "
_PATIENCE_S = 30


def http_server_command(graph: Path) -> list[str]:
    """The command that serves a graph file over HTTP on a free port."""
    return [script("kgnav"), "serve", "--http", "127.0.0.1:0", "--graph", str(graph)]


def http_noop_command() -> list[str]:
    """The command of a bare server with one tool that does nothing, over HTTP on a free port."""
    return [sys.executable, "-m", "kgnav_bench.noop", "http"]


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A running server."""

    url: str
    pid: int

    @property
    def memory(self) -> float:
        """Resident memory in MiB. Linux only."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@contextmanager
def serving(command: Sequence[str]) -> Generator[HttpServer]:
    """Start a server as a child process and wait until it listens.

    Raises:
        ServerEndedError: it ended before.
    """
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None
        try:
            first = process.stderr.readline()
            if not first.startswith(READY):
                raise ServerEndedError(f"the server does not listen: {first}")
            yield HttpServer(first.removeprefix(READY).strip(), process.pid)
        finally:
            process.kill()


class BareHttpClient:
    """One HTTP connection to a server, one request at a time.

    Raises ServerEndedError if the server does not answer.
    """

    def __init__(self, url: str, era: Era = "stateless") -> None:
        address = urlsplit(url)
        assert address.hostname is not None
        self._socket = socket.create_connection((address.hostname, address.port), _PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._in = self._socket.makefile("rb")
        self._head = f"POST {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        self._head += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        self._era: Era = era
        self._last = 0
        if era == "handshake":
            self._shake_hands()

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """The text of a tool's answer.

        Raises:
            ToolFailedError: the answer is an error.
        """
        parameters: dict[str, object] = {"name": tool, "arguments": arguments}
        if self._era == "handshake":
            return text_of(self._request("tools/call", parameters))
        named = f"MCP-Protocol-Version: {_STATELESS}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        return text_of(self._request("tools/call", {**parameters, "_meta": _ENVELOPE}, named))

    def close(self) -> None:
        """Close the connection."""
        self._in.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _shake_hands(self) -> None:
        first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HANDSHAKE}
        headers, _ = self._post(first, "")
        self._head += f"MCP-Protocol-Version: {PROTOCOL}\r\nMcp-Session-Id: {headers['mcp-session-id']}\r\n"
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}, "")

    def _request(self, method: str, parameters: Mapping[str, object], headers: str = "") -> dict[str, Any]:
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters}
        _, body = self._post(message, headers)
        if body.startswith(b"{"):
            return _result(body)
        return _result(
            next(line for line in body.splitlines() if line.startswith(_DATA) and line != _DATA).removeprefix(_DATA)
        )

    def _post(self, message: Mapping[str, object], headers: str) -> tuple[Mapping[str, str], bytes]:
        body = json.dumps(message, separators=(",", ":"))
        self._socket.sendall(f"{self._head}{headers}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        status = self._in.readline()
        if b" 20" not in status:
            raise ServerEndedError(f"the server answered {status!r}")
        received = dict[str, str]()
        while line := self._in.readline().decode().strip():
            name, _, value = line.partition(": ")
            received[name.lower()] = value
        return received, self._body(received)

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if "content-length" in headers:
            return self._in.read(int(headers["content-length"]))
        parts = list[bytes]()
        while size := int(self._in.readline(), 16):
            parts.append(self._in.read(size))
            self._in.readline()
        self._in.readline()
        return b"".join(parts)


def _result(body: bytes) -> dict[str, Any]:
    answer = json.loads(body)
    if "error" in answer:
        raise ServerEndedError(str(answer["error"]))
    return answer["result"]
