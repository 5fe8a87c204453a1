"""The SDK's server with readable errors: short, without a traceback, and with the next step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, CallToolResult, GetPromptResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import AnyUrl

from kgnav_mcp.clipping import ECHO, clipped, echoed
from kgnav_mcp.server.stdio import StdioServer

_LONGEST_URI = 20_000
"""Maximum characters of a resource's URI, enough for the longest printable id percent-encoded."""


_RESOURCE_NOT_FOUND = -32002
"""The code for an unknown resource in protocol versions before 2026-07-28, which use INVALID_PARAMS."""


class GraphServer(StdioServer):
    """The server with explanatory errors for unknown tools, prompts and resources."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            known = [tool.name for tool in await self.list_tools()]
            if name in known:
                raise
            message = f"Unknown tool: {echoed(name)}. The tools are: {', '.join(known)}."
            raise MCPError(INVALID_PARAMS, message) from error

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[None, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        given = arguments or {}
        prompts = {prompt.name: prompt for prompt in await self.list_prompts()}
        if name not in prompts:
            raise MCPError(
                INVALID_PARAMS, f"Not found: unknown prompt {echoed(name)}. The prompts are: {', '.join(prompts)}."
            )
        known = {argument.name: argument for argument in prompts[name].arguments or ()}
        for argument in known.values():
            if argument.required and argument.name not in given:
                raise MCPError(INVALID_PARAMS, f"Invalid call: the prompt {name} needs the argument {argument.name!r}.")
        for argument in given:
            if argument not in known:
                takes = f"it takes {', '.join(known)}"
                raise MCPError(INVALID_PARAMS, f"Invalid call: {name} has no argument {echoed(argument)}; {takes}.")
        return await super().get_prompt(name, arguments, context)

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
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
