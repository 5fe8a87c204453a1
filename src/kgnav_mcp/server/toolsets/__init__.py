"""The toolsets of the server, one module each. `config.TOOLSETS` lists them."""

from __future__ import annotations

from collections.abc import Collection
from pkgutil import resolve_name

from kgnav_mcp.config import TOOLSETS
from kgnav_mcp.server.toolset import Toolset


def load_toolsets(names: Collection[str] = TOOLSETS) -> dict[str, Toolset]:
    """The toolsets with these names and those that they need, by name in the order in which clients list their tools.

    Other toolsets are not imported.

    Raises:
        TypeError: an entry of the list does not refer to a toolset.
    """
    needed = {needs for name in names if (needs := TOOLSETS[name].needs) is not None}
    toolsets = {name: _load(entry.location) for name, entry in TOOLSETS.items() if name in {*names, *needed}}
    return dict(sorted(toolsets.items(), key=lambda item: not item[1].comes_first))


def _load(location: str) -> Toolset:
    toolset: object = resolve_name(location)
    if not isinstance(toolset, Toolset):
        raise TypeError(f"{location} is not a toolset")
    return toolset
