"""The MCP server of one app: its tools, prompts, resources and completions."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp.server.caching import CacheHint
from mcp.server.mcpserver import MCPServer

from kgnav_mcp import __version__
from kgnav_mcp.app import App
from kgnav_mcp.server.prompts import add_prompts, read_texts
from kgnav_mcp.server.resources import add_completions, add_resources
from kgnav_mcp.server.stdio import GraphServer, clip_unknown_methods
from kgnav_mcp.server.tool import ToolSpec, build_tool
from kgnav_mcp.server.toolsets import Toolset, instructions, load_toolsets
from kgnav_mcp.server.trail_recorder import TRAIL, ClientTrails
from kgnav_mcp.server.worked_examples import WorkedExamples

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

NAME = "kgnav"
"""The server's name as clients show it. Clients put it before tool names, which stay under 60 characters with it."""

_LISTS_FRESH_MS = 3_600_000
"""Milliseconds that clients may cache lists of tools, prompts and resources. These depend only on the configuration."""


def build_server(app: App, *, structured: bool | None = None) -> MCPServer[None]:
    """The server of this app. Building it opens no graph.

    `structured`: whether tools answer with structured content instead of markdown; None for the configured setting.

    Raises:
        ConfigurationError: the folder of prompts has a text that cannot be used.
    """
    structured = app.settings.structured if structured is None else structured
    paper_format = app.settings.paper_format and not structured

    @asynccontextmanager
    async def lifespan(_: MCPServer[None]) -> AsyncGenerator[None]:
        async with app:
            yield

    hint = CacheHint(ttl_ms=_LISTS_FRESH_MS, scope="public")
    named = load_toolsets(app.settings.toolsets)
    toolsets = list((_in_paper_format(named) if paper_format else named).values())
    trails = ClientTrails() if TRAIL in named else None
    server = GraphServer(
        NAME,
        title="Knowledge graph navigator",
        description="Tools to navigate a knowledge graph: its relations, neighbourhoods, paths and queries.",
        instructions=instructions(toolsets, list(app.graphs), paper_format=paper_format),
        version=__version__,
        tools=[
            build_tool(spec, app, structured=structured, trails=trails)
            for toolset in toolsets
            for spec in toolset.tools
        ],
        log_level=app.settings.log_level,
        lifespan=lifespan,
        middleware=[clip_unknown_methods],
        subscriptions=False,  # nothing ever changes that clients could subscribe to
        cache_hints={
            "tools/list": hint,
            "prompts/list": hint,
            "resources/list": hint,
            "resources/templates/list": hint,
        },
    )
    examples = WorkedExamples(app, lambda: _every_tool(paper_format=paper_format))
    add_prompts(server, app, [prompt for toolset in toolsets for prompt in toolset.prompts], _own_texts(app), examples)
    add_resources(server, app)
    if trails is not None:
        from kgnav_mcp.server.exports import add_trail_resources  # noqa: PLC0415 - off by default

        add_trail_resources(server, app)
    add_completions(server, app)
    return server


def _in_paper_format(toolsets: Mapping[str, Toolset]) -> dict[str, Toolset]:
    """The toolsets with the tools of three papers in their formats."""
    from kgnav_mcp.server.toolsets.paper_formats import in_paper_format  # noqa: PLC0415 - imports three toolsets

    return {
        name: replace(toolset, tools=tuple(map(in_paper_format, toolset.tools))) for name, toolset in toolsets.items()
    }


def _every_tool(*, paper_format: bool) -> list[ToolSpec[Any]]:
    """The tools of all toolsets as they are served: examples may call those that are off."""
    toolsets = load_toolsets()
    return [
        spec
        for toolset in (_in_paper_format(toolsets) if paper_format else toolsets).values()
        for spec in toolset.tools
    ]


def _own_texts(app: App) -> Mapping[str, str]:
    """The user's own texts of prompts by name. Those of toolsets that are off may be there, but are not used."""
    folder = app.settings.prompts
    return (
        read_texts(folder, [prompt.name for toolset in load_toolsets().values() for prompt in toolset.prompts])
        if folder
        else {}
    )
