"""A toolset as data: everything the server needs to serve a group of related tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgnav_mcp.server.prompts import PromptSpec
from kgnav_mcp.server.tool import ToolSpec

DEFINITIONS_LIMIT = 12_000
"""Most characters of the default toolsets' tool definitions, as compact JSON.

A client without a tool search sends all of them with every request, so together they must cost less than one answer
may: this many characters are about 4,700 tokens by the count that bounds answers to 8,000.
"""

TEXTS_LIMIT = 8_500
"""Most characters of their descriptions and argument schemas, which models read."""


@dataclass(frozen=True, slots=True)
class Toolset:
    """A group of tools, usually those of one paper, with instructions and prompts. `config.TOOLSETS` names it."""

    title: str
    """The paper, or the purpose of the tools."""
    instructions: str
    """The part of the server's instructions about these tools."""
    tools: tuple[ToolSpec[Any], ...]
    prompts: tuple[PromptSpec, ...] = ()
    comes_first: bool = False
    """Whether these tools are listed before all others, because a walk begins with them."""

    @property
    def read_only(self) -> bool:
        """Whether all of its tools are read-only."""
        return all(tool.read_only for tool in self.tools)
