"""Every tool of the server, by toolset, in the order in which clients list them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgnav_mcp.server.tool import ToolSpec
from kgnav_mcp.server.toolsets import graphwalk, graphwalker, linking, sog

TOOLS: tuple[ToolSpec[Any], ...] = (*linking.TOOLS, *sog.TOOLS, *graphwalker.TOOLS, *graphwalk.TOOLS)
"""Finding a node comes first: it is where a walk starts."""


def chosen(toolsets: Sequence[str]) -> list[ToolSpec[Any]]:
    """The tools of the toolsets that are switched on."""
    return [tool for tool in TOOLS if tool.toolset in toolsets]
