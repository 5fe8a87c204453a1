"""The server over stdin and stdout, without threads if these are pipes or sockets, and with readable errors.

The SDK's transport switches to a thread for every line that it reads and twice for every line that it writes: a third
of the time of an idle call. Clients start the server with pipes or sockets, which an event loop on POSIX can wait for.
A file or a terminal is read by a thread. On Windows the SDK's transport is used.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import islice
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeAlias, cast

import anyio
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    CallToolResult,
    ErrorData,
    GetPromptResult,
    InputRequiredResult,
    JSONRPCMessage,
    RequestId,
)
from mcp_types.jsonrpc import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import AnyUrl, BaseModel, ValidationError
from pydantic_core import from_json

from kgnav_mcp.clipping import ECHO, clipped, echoed

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
_TOKEN = re.compile(rf'{_STRING}"?|[{{}}\[\]]', re.DOTALL)
_VALUE = re.compile(rf'\s*:\s*({_STRING}"|-?\d+)\s*[,}}]', re.DOTALL)
_MAX_TOKENS = 1_000_000
"""Maximum tokens of an invalid line that are searched for its id: less than a second's work."""


class InvalidMessage(Exception):
    """A line is not a JSON-RPC message. `answer` is the error to send to the client."""

    def __init__(self, code: int, reason: str, request_id: RequestId | None = None) -> None:
        super().__init__(reason)
        self.answer = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=reason))


def parse_message(line: bytes) -> JSONRPCMessage:
    """The message on a line.

    Raises:
        InvalidMessage: the line is not JSON, or not a JSON-RPC message.
    """
    text = line.decode("utf-8", "replace")
    try:
        content: object = from_json(text)
    except ValueError as error:
        raise InvalidMessage(PARSE_ERROR, f"Parse error: {error}", _id_in(text)) from error
    if not isinstance(content, dict):
        raise InvalidMessage(INVALID_REQUEST, "Invalid request: a message is one JSON object. Send a batch one by one.")
    fields = cast("dict[str, Any]", content)
    kind = _kind(fields)
    try:
        return cast("JSONRPCMessage", kind.model_validate(fields, by_name=False))
    except ValidationError as error:
        findings = error.errors(include_url=False, include_context=False, include_input=False)
        reasons = "; ".join(dict.fromkeys(f"{finding['loc'][0]}: {finding['msg']}" for finding in findings))
        # The id of a response is one of our requests: under this id the client expects no answer, or another one.
        request_id = _as_id(fields.get("id")) if kind is JSONRPCRequest else None
        raise InvalidMessage(INVALID_REQUEST, f"Invalid request: {reasons}", request_id) from error


def _kind(fields: dict[str, Any]) -> type[BaseModel]:
    if "method" not in fields and "result" in fields:
        return JSONRPCResponse
    if "method" not in fields and "error" in fields:
        return JSONRPCError
    return JSONRPCRequest if "id" in fields or "method" not in fields else JSONRPCNotification


def _id_in(text: str) -> RequestId | None:
    """The id of a request that is not valid JSON; None if it cannot be found."""
    depth = 0
    for token in islice(_TOKEN.finditer(text), _MAX_TOKENS):
        part = token[0]
        if part in "{[":
            depth += 1
        elif part in "}]":
            depth -= 1
        elif depth == 1 and part == '"id"' and (value := _VALUE.match(text, token.end())):
            try:
                return _as_id(from_json(value[1]))
            except ValueError:
                return None
    return None


def _as_id(value: object) -> RequestId | None:
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


if sys.platform != "win32":
    import fcntl

STDIN, STDOUT, STDERR = 0, 1, 2

_LONGEST_LINE = 2**26
"""Maximum bytes of a message: more than any call needs, too few to exhaust the memory."""

Readline: TypeAlias = Callable[[], Awaitable[bytes]]
"""Reads the next line; empty at the end of the input. Raises ValueError for a line over _LONGEST_LINE."""


class StdioServer(MCPServer[None]):
    """The SDK's server with a faster stdio transport, which answers invalid lines with an error."""

    async def run_stdio_async(self) -> None:
        """Serve on stdin and stdout until the client closes them."""
        if sys.platform == "win32":
            await super().run_stdio_async()
            return
        server = self._protocol_server()
        with _redirected_stdio() as (incoming, outgoing):
            async with _streams(incoming, outgoing) as (readline, write):
                await server.run(_Incoming(readline, write), write, server.create_initialization_options())

    def _protocol_server(self) -> Server[Any]:
        """The SDK's low-level server, which can serve any pair of streams.

        The SDK exposes it only through the HTTP application, so one is created. That opens no socket.
        """
        self.streamable_http_app()
        return self.session_manager.app


def _is_pollable(descriptor: int) -> bool:
    """Whether an event loop can wait for this file descriptor: a pipe or a socket."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextmanager
def _redirected_stdio() -> Generator[tuple[int, int]]:
    """Move stdin and stdout to new file descriptors. Within the block stdin is empty and stdout goes to stderr.

    So the output of a library or a child process can never get between two messages.
    """
    incoming, outgoing = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, STDERR + 1) for end in (STDIN, STDOUT))
    try:
        _redirect(STDIN, os.devnull, os.O_RDONLY)
        try:
            os.dup2(STDERR, STDOUT)
        except OSError:  # there is no stderr
            _redirect(STDOUT, os.devnull, os.O_WRONLY)
        yield os.dup(incoming), os.dup(outgoing)
    finally:
        os.dup2(incoming, STDIN)
        os.dup2(outgoing, STDOUT)
        os.close(incoming)
        os.close(outgoing)


def _redirect(descriptor: int, path: str, flags: int) -> None:
    opened = os.open(path, flags)
    os.dup2(opened, descriptor)
    os.close(opened)


class _Stream:
    """The methods that the SDK needs of a stream besides sending and receiving."""

    async def aclose(self) -> None:
        """Do nothing: the code that opened the file descriptors closes them."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class _Incoming(_Stream):
    """Messages from the client. An invalid line is answered at once with an error."""

    def __init__(self, readline: Readline, outgoing: _Outgoing) -> None:
        self._readline = readline
        self._outgoing = outgoing

    async def receive(self) -> SessionMessage:
        while True:
            try:
                line = await self._readline()
                if not line:
                    raise anyio.EndOfStream
                if not line.isspace():
                    return SessionMessage(parse_message(line))
            except InvalidMessage as error:
                await self._refuse(error)
            except ConnectionError as error:
                raise anyio.EndOfStream from error
            except ValueError:
                await self._refuse(InvalidMessage(INVALID_REQUEST, f"A message has at most {_LONGEST_LINE:,} bytes."))

    async def _refuse(self, error: InvalidMessage) -> None:
        with suppress(anyio.BrokenResourceError):  # the client stopped reading; it may still send
            await self._outgoing.send(SessionMessage(error.answer))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream as error:
            raise StopAsyncIteration from error


class _Outgoing(_Stream, ABC):
    """Messages to the client."""

    @abstractmethod
    async def send(self, item: SessionMessage) -> None:
        """Send a message. Raises anyio.BrokenResourceError if the client has stopped reading."""


class _FileOutgoing(_Outgoing):
    """Sends messages to a file or a terminal."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def send(self, item: SessionMessage) -> None:
        try:
            self._file.write(_line(item))
            self._file.flush()
        except OSError as error:
            raise anyio.BrokenResourceError from error


class _SocketOutgoing(_Outgoing):
    """Sends messages to the socket from which the client's messages come, too."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, item: SessionMessage) -> None:
        try:
            self._writer.write(_line(item))
            await self._writer.drain()
        except ConnectionError as error:
            raise anyio.BrokenResourceError from error


class _PipeOutgoing(_Outgoing, asyncio.BaseProtocol):
    """Sends messages to a pipe. Sending waits while the client does not read."""

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
        line = _line(item)
        await self._flows.wait()
        if self._transport is None or self._transport.is_closing():
            raise anyio.BrokenResourceError
        self._transport.write(line)


def _line(item: SessionMessage) -> bytes:
    return item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


@asynccontextmanager
async def _streams(incoming: int, outgoing: int) -> AsyncGenerator[tuple[Readline, _Outgoing]]:
    """A reader and a writer. One socket for both is opened as one connection: two would compete for its data."""
    modes = os.fstat(incoming), os.fstat(outgoing)
    if not (os.path.samestat(*modes) and stat.S_ISSOCK(modes[0].st_mode)):
        async with _line_reader(incoming) as readline, _line_writer(outgoing) as write:
            yield readline, write
        return
    os.close(outgoing)
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=incoming), limit=_LONGEST_LINE)
    try:
        yield reader.readline, _SocketOutgoing(writer)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def _line_reader(descriptor: int) -> AsyncGenerator[Readline]:
    if not _is_pollable(descriptor):
        async with anyio.wrap_file(os.fdopen(descriptor, "rb")) as file:
            yield file.readline
        return
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    try:
        yield reader.readline
    finally:
        transport.close()


@asynccontextmanager
async def _line_writer(descriptor: int) -> AsyncGenerator[_Outgoing]:
    if not _is_pollable(descriptor):
        with os.fdopen(descriptor, "wb") as file:
            yield _FileOutgoing(file)
        return
    transport, outgoing = await asyncio.get_running_loop().connect_write_pipe(
        _PipeOutgoing, os.fdopen(descriptor, "wb", buffering=0)
    )
    try:
        yield outgoing
    finally:
        transport.close()  # writes what is still waiting, unless the client has left
        await outgoing.ended.wait()


_LONGEST_URI = 20_000
"""Maximum characters of a resource's URI, enough for the longest printable id percent-encoded."""


_RESOURCE_NOT_FOUND = -32002
"""The code for an unknown resource in protocol versions before 2026-07-28, which use INVALID_PARAMS."""


class GraphServer(StdioServer):
    """The server with explanatory errors for unknown tools, prompts and resources."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            MCPError: there is no such tool; the message lists the tools.
        """
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            names = [tool.name for tool in await self.list_tools()]
            if name in names:
                raise
            message = f"Unknown tool: {echoed(name)}. The tools are: {', '.join(names)}."
            raise MCPError(INVALID_PARAMS, message) from error

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[None, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Get a prompt with its arguments filled in.

        Raises:
            MCPError: there is no such prompt, it has no such argument, or a required argument is missing.
        """
        values = arguments or {}
        prompts = {prompt.name: prompt for prompt in await self.list_prompts()}
        if name not in prompts:
            raise MCPError(
                INVALID_PARAMS, f"Not found: unknown prompt {echoed(name)}. The prompts are: {', '.join(prompts)}."
            )
        declared = {argument.name: argument for argument in prompts[name].arguments or ()}
        for argument in declared.values():
            if argument.required and argument.name not in values:
                raise MCPError(INVALID_PARAMS, f"Invalid call: the prompt {name} needs the argument {argument.name!r}.")
        for argument in values:
            if argument not in declared:
                takes = f"it takes {', '.join(declared)}"
                raise MCPError(INVALID_PARAMS, f"Invalid call: {name} has no argument {echoed(argument)}; {takes}.")
        return await super().get_prompt(name, arguments, context)

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource.

        Raises:
            MCPError: there is no such resource, with the code of the client's protocol version.
        """
        if len(str(uri)) > _LONGEST_URI:
            raise _not_found(context, f"Not found: no resource has an address of {len(str(uri)):,} characters.")
        try:
            return await super().read_resource(uri, context)
        except ResourceNotFoundError as error:
            raise _not_found(context, str(error), {"uri": str(uri)}) from error


async def clip_unknown_methods(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that clips the name of an unknown method in the error: the SDK repeats all of it."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        if error.code != METHOD_NOT_FOUND or len(ctx.method) <= ECHO:
            raise
        raise MCPError(METHOD_NOT_FOUND, error.message, clipped(ctx.method, ECHO)) from None


def _not_found(context: Context[None, Any] | None, message: str, data: dict[str, str] | None = None) -> MCPError:
    """The error for a resource that does not exist, with the code of the client's protocol version."""
    version = context.protocol_version if context is not None else None
    return MCPError(INVALID_PARAMS if version in MODERN_PROTOCOL_VERSIONS else _RESOURCE_NOT_FOUND, message, data)
