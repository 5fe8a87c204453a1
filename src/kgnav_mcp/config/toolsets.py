"""The list of all toolsets, in their default order.

The server implements the toolsets. This module has only their names and locations, so that names can be checked, and
`--help` printed, without importing the server.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator
from pydantic_core import PydanticKnownError


@dataclass(frozen=True, slots=True)
class ToolsetEntry:
    """The location of a toolset, as `module:NAME`, and whether it is enabled by default."""

    location: str
    default: bool = True
    needs: str | None = None
    """Another toolset that is enabled together with it."""


TOOLSETS: Final = {
    "sog": ToolsetEntry("kgnav_mcp.server.toolsets.sog:TOOLSET"),
    "graphwalker": ToolsetEntry("kgnav_mcp.server.toolsets.graphwalker:TOOLSET"),
    "graphwalk": ToolsetEntry("kgnav_mcp.server.toolsets.graphwalk:TOOLSET"),
    "linking": ToolsetEntry("kgnav_mcp.server.toolsets.linking:TOOLSET"),
    "plans": ToolsetEntry("kgnav_mcp.server.toolsets.plans:TOOLSET"),
    "graphrunner": ToolsetEntry("kgnav_mcp.server.toolsets.graphrunner:TOOLSET", default=False),
    "trail": ToolsetEntry("kgnav_mcp.server.toolsets.trail:TOOLSET", default=False),
    "ark": ToolsetEntry("kgnav_mcp.server.toolsets.ark:TOOLSET", default=False, needs="trail"),
    "maze": ToolsetEntry("kgnav_mcp.server.toolsets.maze:TOOLSET", default=False, needs="trail"),
    "counts": ToolsetEntry("kgnav_mcp.server.toolsets.counts:TOOLSET", default=False),
}
"""All toolsets by name. A new toolset needs a module and an entry here, a new tool only a `ToolSpec` in a module."""


def default_toolsets() -> tuple[str, ...]:
    """The names of the toolsets that are enabled by default."""
    return tuple(name for name, entry in TOOLSETS.items() if entry.default)


def _check_name(name: object) -> object:
    if not isinstance(name, str) or name not in TOOLSETS:
        raise PydanticKnownError("literal_error", {"expected": _alternatives(TOOLSETS)})
    return name


def _alternatives(names: Collection[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last


ToolsetName = Annotated[str, BeforeValidator(_check_name)]
"""A name in `TOOLSETS`."""
