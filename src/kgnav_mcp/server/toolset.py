"""A toolset as one value: everything the server needs to offer a group of tools that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgnav_mcp.server.prompts import PromptSpec
from kgnav_mcp.server.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class Toolset:
    """A group of tools, as a rule those of one paper, with the words that go with them."""

    name: str
    """As the setting `toolsets` names it."""
    title: str
    """The paper, or what the tools are for."""
    instructions: str
    """What the server's instructions say of these tools."""
    tools: tuple[ToolSpec[Any], ...]
    prompts: tuple[PromptSpec, ...] = ()
    comes_first: bool = False
    """Whether clients list these tools before all others, since a walk begins with them."""

    @property
    def read_only(self) -> bool:
        """Whether none of its tools changes anything."""
        return all(tool.read_only for tool in self.tools)
