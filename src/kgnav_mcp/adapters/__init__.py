"""The registry of adapters: entry points of the group `kgnav.adapters`, imported when a graph first needs them.

This module is on the start-up path: it imports no adapter and no driver. An entry point is named after the URL scheme
that its adapter opens (`bolt`, `sparql+http`); the one for paths is named `file`.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from typing import cast

from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions, GraphAdapter, OpenAdapter

GROUP = "kgnav.adapters"
FILE = "file"
"""The name of the entry point that opens paths."""

_DRIVER_LOGGERS = ("neo4j", "httpx2", "httpcore2")
"""Loggers of the drivers. They log each request and each failed attempt: hundreds of lines when a store dies."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
"""A URL scheme: at least two letters, because one letter is the drive of a Windows path."""


def scheme_of(location: str) -> str:
    """The name of the entry point that opens a location: its URL scheme in lower case, or `file` for a path.

    A scheme is followed by `//`, unless it is `file` or ends in `+file` and a path follows.
    """
    match = _SCHEME.match(location)
    if match is None:
        return FILE
    scheme = match[1].lower()
    is_url = scheme == FILE or scheme.endswith(f"+{FILE}") or location.startswith("//", match.end())
    return scheme if is_url else FILE


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """Make the adapter for a graph's location, without any I/O.

    Raises:
        ConfigurationError: no installed adapter reads this kind of location, or a package that it needs is missing.
    """
    scheme = scheme_of(location)
    for entry_point in installed_adapters().select(name=scheme):
        with drivers_of(location):
            return cast("OpenAdapter", entry_point.load())(location, options)
    schemes = installed_adapters()
    next_step = f"Use the path of a graph file, or a URL that starts with one of: {_schemes(schemes)}."
    stores = sorted(name for name in schemes.names if name.endswith(f"+{scheme}"))
    if stores:
        next_step = (
            f"Write which store it is at the beginning of the URL: {', '.join(f'{name}://' for name in stores)}."
        )
    raise ConfigurationError(f"no adapter for locations of the kind {scheme!r}", next_step=next_step)


def installed_adapters() -> EntryPoints:
    """The entry points of all adapters that are installed."""
    return _installed(tuple(sys.path))


@lru_cache(maxsize=1)
def _installed(_path: tuple[str, ...]) -> EntryPoints:
    """The entry points along a search path. Cached: finding them reads the metadata of all packages (milliseconds)."""
    return entry_points(group=GROUP)


@contextmanager
def drivers_of(location: str) -> Generator[None]:
    """Report a missing driver as an error. Imports, construction and opening of adapters run inside this context.

    Raises:
        ConfigurationError: a package that the adapter imports is missing.
    """
    try:
        yield
    except ImportError as error:
        scheme = scheme_of(location)
        package = next(iter(installed_adapters().select(name=scheme))).module.partition(".")[0]
        missing = (error.name or package).partition(".")[0]
        if missing == __name__.partition(".")[0]:
            raise  # The missing module is our own: a bug, not a missing driver.
        raise ConfigurationError(
            f"the adapter for {scheme!r} cannot be imported: {missing} is missing",
            next_step=f"Reinstall {package.replace('_', '-')} with all packages that it requires.",
        ) from error


def show_driver_logs(shown: bool) -> None:
    """Turn the drivers' logging on or off. A failure in a driver is reported in any case, as the error of the call."""
    for name in _DRIVER_LOGGERS:
        logging.getLogger(name).setLevel(logging.NOTSET if shown else logging.CRITICAL)


def _schemes(installed: EntryPoints) -> str:
    return ", ".join(f"{name}:" for name in sorted(installed.names))
