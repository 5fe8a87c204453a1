"""The toolsets there are: the one list, in the order in which the setting `toolsets` names them.

The toolsets themselves belong to the server. Here they are names and places, so that a wrong name is refused, and
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
    """Where the value of a toolset is, as `module:NAME`, and whether it is on where nothing is configured."""

    location: str
    default: bool = True
    needs: str | None = None
    """Another toolset that comes with it."""


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
}
"""A new toolset takes a line here and a file of its own."""


def default_toolsets() -> tuple[str, ...]:
    """The names of the toolsets that are on where nothing is configured."""
    return tuple(name for name, entry in TOOLSETS.items() if entry.default)


def _known(name: object) -> object:
    if not isinstance(name, str) or name not in TOOLSETS:
        raise PydanticKnownError("literal_error", {"expected": _alternatives(TOOLSETS)})
    return name


def _alternatives(names: Collection[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last


ToolsetName = Annotated[str, BeforeValidator(_known)]
"""A name in `TOOLSETS`."""
