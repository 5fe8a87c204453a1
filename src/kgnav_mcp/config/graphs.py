"""Chooses the graphs to serve by `--graph` or KGNAV_GRAPH, which may name tables of kgnav.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kgnav_mcp.config.problems import did_you_mean
from kgnav_mcp.config.settings import DEMO_LOCATION
from kgnav_mcp.errors import ConfigurationError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_STORE_IN_FILE = re.compile(r"[A-Za-z][A-Za-z0-9.-]*\+file:(?!//)")
"""The scheme of a store that is a file, followed by its path."""


def choose_graphs(wanted: Sequence[str], known: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """The chosen graphs in order, each with its unvalidated settings.

    Args:
        wanted: names in `known`, locations, or NAME=LOCATION.
        known: the configured graphs by name, not yet validated.
        file: the configuration file, for the error message.

    Raises:
        ConfigurationError: neither a known name nor a file, or two graphs with the same name.
    """
    chosen: dict[str, Any] = {}
    for text in wanted:
        name, graph = _parse_choice(text, known, file)
        if name in chosen:
            raise ConfigurationError(
                f"two graphs are called {name!r}", next_step="Tell them apart: --graph NAME=LOCATION."
            )
        chosen[name] = graph
    return chosen


def _parse_choice(text: str, known: Mapping[str, Any], file: Path | None) -> tuple[str, Any]:
    name, given, location = text.partition("=")
    if given and _NAME.fullmatch(name):
        return name, {"location": resolve_location(location, Path())}
    if text in known:
        return text, known[text]
    if text != DEMO_LOCATION and _NAME.fullmatch(text) and not Path(text).exists():
        raise ConfigurationError(
            f"no graph is called {text!r} in {file or 'any configuration file'}, and there is no such file",
            next_step=did_you_mean(text, known) or "Give --graph a path, a URL of a store, or NAME=LOCATION.",
        )
    return _default_name(text), {"location": resolve_location(text, Path())}


def resolve_location(location: str, folder: Path) -> str:
    """The location, with a relative path resolved from `folder`. URLs and `demo` are unchanged."""
    if not location or location == DEMO_LOCATION or _URL.match(location):
        return location
    scheme = _scheme_of_file(location)
    return scheme + str(folder / Path(location.removeprefix(scheme)).expanduser())


def _scheme_of_file(location: str) -> str:
    """`ladybug+file:` before the path of a store that is a file, otherwise nothing."""
    match = _STORE_IN_FILE.match(location)
    return match[0] if match is not None else ""


def _default_name(location: str) -> str:
    """A valid graph name made from the stem of a path or the host of a URL."""
    base = (
        (urlsplit(location).hostname or "")
        if _URL.match(location)
        else Path(location.removeprefix(_scheme_of_file(location))).stem
    )
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", base).strip("_")
    return name if _NAME.fullmatch(name) else f"graph_{name}".rstrip("_")
