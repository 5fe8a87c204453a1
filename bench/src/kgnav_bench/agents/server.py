"""The server's tools and prompts, as the loop of a model uses them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from tempfile import TemporaryFile
from time import perf_counter
from typing import Any, TextIO, cast

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import INVALID_PARAMS, TextContent

from kgnav_bench.agents.arms import ALL_TOOLS, SCHEMA_TOOL, Arm, ArmError
from kgnav_bench.client import server_command
from kgnav_bench.models import ServerFailedError, Tool
from kgnav_bench.records import ToolCall

_TIMEOUT = 180.0
"""Seconds for a tool's answer. The server's own limit is shorter."""


class Server:
    """The tools and prompts of a running server. Several calls may run concurrently."""

    def __init__(self, client: Client, tools: Sequence[Tool], instructions: str) -> None:
        self._client = client
        self._tools = {tool.name: tool for tool in tools}
        self.instructions = instructions
        """The server's instructions to a client."""
        self._schema: str | None = None

    def tools(self, names: Sequence[str]) -> list[Tool]:
        """The tools with these names, in this order."""
        return list(self._tools.values()) if ALL_TOOLS in names else [self._tools[name] for name in names]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolCall:
        """Call a tool. Its answer is returned even if it is an error.

        Raises:
            ServerFailedError: the server does not answer.
        """
        begin = perf_counter()
        try:
            async with asyncio.timeout(_TIMEOUT):
                result = await self._client.call_tool(tool, dict(arguments))
        except Exception as error:
            # Only what is wrong with the call is an answer: a closed connection is an MCPError, too.
            if isinstance(error, MCPError) and error.error.code == INVALID_PARAMS:
                return ToolCall(
                    tool=tool, arguments=arguments, result=str(error), is_error=True, seconds=perf_counter() - begin
                )
            raise ServerFailedError(f"the server did not answer {tool}: {error or type(error).__name__}") from error
        text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        seconds = perf_counter() - begin
        return ToolCall(tool=tool, arguments=arguments, result=text, is_error=bool(result.is_error), seconds=seconds)

    async def prompt(self, name: str, question: str, topics: Sequence[str]) -> str:
        """The text of one of the server's prompts for a question about entities.

        Raises:
            ServerFailedError: the server refuses it, for example because it does not know an entity.
        """
        arguments = {"question": question, "topic_entities": json.dumps(topics) if topics else ""}
        try:
            result = await self._client.get_prompt(name, arguments)
        except Exception as error:
            raise ServerFailedError(f"the server's prompt {name}: {error or type(error).__name__}") from error
        content = result.messages[0].content
        assert isinstance(content, TextContent)
        return content.text

    async def schema(self) -> str:
        """The overview of the graph. It is requested once.

        Raises:
            ServerFailedError: the server does not answer, or the graph cannot be read.
        """
        if self._schema is None:
            described = await self.call(SCHEMA_TOOL, {})
            if described.is_error:
                raise ServerFailedError(f"the server cannot describe the graph: {described.result}")
            self._schema = described.result
        return self._schema


@asynccontextmanager
async def served(arm: Arm, location: str | None, url: str | None) -> AsyncGenerator[Server]:
    """Connect to the server at a URL, or start one for a graph with the arm's toolsets.

    Raises:
        ArmError: the server does not have the tools of the arm.
        ServerFailedError: it does not start, or does not answer.
    """
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        client = Client(_transport(arm, location, log) if url is None else url, mode="legacy")
        try:
            await client.__aenter__()
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
                raise
            place = url or location or "the demo graph"
            reason = _written(log).removeprefix("Error: ") or f"{_first(error)}. Check the address."
            raise ServerFailedError(f"no server for {place}: {reason}") from error
        try:
            listed = (await client.list_tools()).tools
            tools = [Tool(each.name, each.description or "", each.input_schema) for each in listed]
            if missing := sorted(arm.tool_names - {tool.name for tool in tools}):
                raise ArmError(
                    f"the server has no {', '.join(missing)}, which arm {arm.name} needs. Start it with the toolsets "
                    "in the line `toolsets` of the arm's file: kgnav-mcp --toolsets NAMES."
                )
            yield Server(client, tools, client.instructions or "")
        finally:
            await client.__aexit__(None, None, None)
            sys.stderr.write(_written(log))


def _transport(arm: Arm, location: str | None, log: TextIO) -> AbstractAsyncContextManager[Any]:
    """A server as a child process, which writes its stderr to a file."""
    toolsets = ("--toolsets", arm.toolsets) if arm.toolsets else ()
    command, *arguments = [*server_command(location), *toolsets, *arm.server_options]
    return stdio_client(StdioServerParameters(command=command, args=arguments), log)


def _written(log: TextIO) -> str:
    log.seek(0)
    return log.read().strip()


def _first(error: BaseException) -> str:
    """The first message of an error that may be a group."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return str(error) or type(error).__name__
