"""Adapters are found by the entry-point group `kgnav.adapters` and imported when a graph first needs them.

This module is on the start-up path: it imports no adapter and no driver. The entry point of a graph is named by
the scheme of its location (`bolt`, `sparql+http`), and is `file` for a path.
"""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import cast

from kgnav_mcp.errors import ConfigurationError, MissingDriver
from kgnav_mcp.port import AdapterOptions, GraphAdapter, OpenAdapter

GROUP = "kgnav.adapters"
FILE = "file"
"""The entry point that reads a path."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
"""A scheme has two letters or more, so that the drive of a Windows path is none."""


def scheme_of(location: str) -> str:
    """The name of the entry point that opens a location: its URL scheme in lower case, or `file` for a path."""
    match = _SCHEME.match(location)
    if match is None:
        return FILE
    scheme = match[1].lower()
    is_url = scheme == FILE or location.startswith("//", match.end())
    return scheme if is_url else FILE


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """Make the adapter for a graph's location, without any I/O.

    Raises:
        ConfigurationError: no installed adapter reads this kind of location.
        MissingDriver: the adapter is there, but the package it needs is not.
    """
    scheme = scheme_of(location)
    installed = entry_points(group=GROUP)
    for entry_point in installed.select(name=scheme):
        return _load(entry_point)(location, options)
    raise ConfigurationError(
        f"no adapter reads locations of the kind {scheme!r}",
        next_step=f"Use the path of a graph file, or a URL that starts with one of: {_schemes(installed)}.",
    )


def _load(entry_point: EntryPoint) -> OpenAdapter:
    try:
        return cast("OpenAdapter", entry_point.load())
    except ImportError as error:
        package, *folders = entry_point.module.split(".")
        if package != "kgnav_mcp":
            raise ConfigurationError(
                f"the adapter for {entry_point.name!r} cannot be imported: {error.name or package} is missing",
                next_step=f"Install what {package} needs.",
            ) from error
        if error.name is not None and error.name.startswith(package):
            raise
        raise MissingDriver(entry_point.name, "neo4j" if "neo4j" in folders else "sparql") from error


def _schemes(installed: EntryPoints) -> str:
    return ", ".join(f"{name}:" for name in sorted(installed.names))
