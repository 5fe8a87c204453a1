"""The toolsets of the server, one module each. `config.TOOLSETS` lists them."""

from __future__ import annotations

from collections.abc import Collection
from pkgutil import resolve_name

from kgnav_mcp.config import TOOLSETS
from kgnav_mcp.server.toolset import Toolset


def load_toolsets(names: Collection[str] = TOOLSETS) -> list[Toolset]:
    """The toolsets with these names and those that they need, in the order in which clients list their tools.

    Other toolsets are not imported.

    Raises:
        TypeError: an entry of the list does not lead to the toolset of its name.
    """
    needed = {needs for name in names if (needs := TOOLSETS[name].needs) is not None}
    toolsets = [_load(name) for name in TOOLSETS if name in {*names, *needed}]
    return sorted(toolsets, key=lambda toolset: not toolset.comes_first)


def _load(name: str) -> Toolset:
    location = TOOLSETS[name].location
    toolset: object = resolve_name(location)
    if not isinstance(toolset, Toolset) or toolset.name != name:
        raise TypeError(f"{location} is not the toolset {name!r}")
    return toolset
