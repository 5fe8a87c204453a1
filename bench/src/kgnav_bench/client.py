"""Two MCP clients for measuring: a minimal one with hardly any cost of its own, and the `mcp` package's client.

Both start the server as a child process and talk to it over its stdin and stdout, as desktop clients do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

PROTOCOL = "2025-11-25"
"""The newest protocol version with a handshake, which clients use on stdio."""

HANDSHAKE: Mapping[str, object] = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "kgnav-bench", "version": "0"},
}
"""The parameters of `initialize`."""

_END_TIMEOUT = 10.0
"""Maximum seconds for a server to end after its stdin is closed."""


class ToolFailedError(Exception):
    """A tool answered with an error, whose text is the message."""


class ServerEndedError(Exception):
    """The server closed its stdout, or answered a request with a protocol error."""


def script(name: str) -> str:
    """The path of one of this project's commands."""
    return str(Path(sysconfig.get_path("scripts")) / name)


def load_command(sources: Iterable[Path], target: Path) -> list[str]:
    """The command that creates a graph file from the sources."""
    return [script("kgnav"), "load", *map(str, sources), "--output", str(target), "--quiet"]


def load(sources: Iterable[Path], target: Path) -> None:
    """Create a graph file from the sources.

    Raises:
        CalledProcessError: the sources cannot be loaded. The reason is on stderr.
    """
    subprocess.run(load_command(sources, target), check=True)  # noqa: S603 - our own command


def server_command(graph: Path | str | None) -> list[str]:
    """The command that serves a graph file, a store by its URL, or (None) the demo graph."""
    return [script("kgnav-mcp"), *(("--graph", str(graph)) if graph else ())]


def noop_command() -> list[str]:
    """The command of a bare server with one tool that does nothing."""
    return [sys.executable, "-m", "kgnav_bench.noop"]


class BareClient:
    """A client of a server that it starts as a child process: one JSON object per line, one request at a time.

    Raises ServerEndedError if the server does not answer.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._last = 0
        try:
            self._request("initialize", HANDSHAKE)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.close()
            raise

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """The text of a tool's answer.

        Raises:
            ToolFailedError: the answer is an error.
        """
        return text_of(self._request("tools/call", {"name": tool, "arguments": arguments}))

    def close(self) -> None:
        """Close the server's stdin, as clients do at the end, and wait until it has ended."""
        self._in.close()
        try:
            self._process.wait(_END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._out.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, message: Mapping[str, object]) -> None:
        self._in.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        self._in.flush()

    def _request(self, method: str, parameters: Mapping[str, object]) -> dict[str, Any]:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters})
        for line in self._out:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") != self._last:
                continue  # a notification from the server
            if "error" in answer:
                raise ServerEndedError(f"{method}: {answer['error']}")
            return answer["result"]
        raise ServerEndedError(f"the server ended before it answered {method}")


def text_of(result: Mapping[str, Any]) -> str:
    """The text of a tool's answer.

    Raises:
        ToolFailedError: the answer is an error.
    """
    text = str(result["content"][0]["text"])
    if result.get("isError"):
        raise ToolFailedError(text)
    return text


class PackageClient:
    """The client of the `mcp` package, connected to a running server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """The text of a tool's answer.

        Raises:
            ToolFailedError: the answer is an error.
        """
        result = await self._client.call_tool(tool, dict(arguments))
        first = result.content[0]
        assert isinstance(first, TextContent)
        if result.is_error:
            raise ToolFailedError(first.text)
        return first.text


@asynccontextmanager
async def package_client(command: Sequence[str]) -> AsyncGenerator[PackageClient]:
    """Start a server as a child process, and connect the `mcp` package's client with the handshake protocol."""
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]))
    async with Client(parameters, mode="legacy") as client:
        yield PackageClient(client)
