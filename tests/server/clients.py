"""Calls on a server over the demo graph, by an in-memory client in the newer protocol era."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp import Client
from mcp_types import CallToolResult, TextContent

from kgnav_mcp.app import App
from kgnav_mcp.config import Settings
from kgnav_mcp.server import build_server
from kgnav_mcp.server.toolsets import load_toolsets
from kgnav_mcp.server.trail_recorder import TRAIL

DEMO = Settings()
"""Default settings: the demo graph, all toolsets."""


SPECS = {spec.name: spec for toolset in load_toolsets().values() for spec in toolset.tools}
"""Every tool that there is."""


def example(tool: str, trail: str = "") -> dict[str, object]:
    """The example call of a tool, on this trail if it needs one."""
    spec = SPECS[tool]
    field = spec.arguments.model_fields.get(TRAIL)
    return {**spec.example, **({TRAIL: trail} if field is not None and field.is_required() else {})}


def reading_examples() -> dict[str, dict[str, object]]:
    """The example calls of the tools that read the graph and need no trail."""
    return {
        name: dict(spec.example)
        for name, spec in SPECS.items()
        if name != "think" and TRAIL not in spec.arguments.model_fields and "topic_entities" not in spec.example
    }


def client(settings: Settings = DEMO) -> Client:
    """A client of a new server with these settings; a context manager."""
    return Client(build_server(App(settings)))


async def call(tool: str, arguments: Mapping[str, object], settings: Settings = DEMO) -> str:
    """The text of a call that must succeed."""
    async with client(settings) as connected:
        result = await connected.call_tool(tool, dict(arguments))
    assert not result.is_error, text_of(result)
    return text_of(result)


async def refused(tool: str, arguments: Mapping[str, object], settings: Settings = DEMO) -> str:
    """The text of a call that must fail."""
    async with client(settings) as connected:
        result = await connected.call_tool(tool, dict(arguments))
    assert result.is_error, text_of(result)
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    """The one text of a result."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def without_cursors(text: str) -> str:
    """The text with cursors left out: they are bound to the file's revision, which is new at each load."""
    return re.sub(r'cursor "[^"]+"', 'cursor "..."', text)
