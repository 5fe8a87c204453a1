"""Which graphs to serve: what `--graph` and KGNAV_GRAPH say, over the tables of kgnav.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kgnav_mcp.config.faults import nearest
from kgnav_mcp.config.settings import DEMO_LOCATION
from kgnav_mcp.errors import ConfigurationError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def choose_graphs(wanted: Sequence[str], known: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """The graphs asked for, in the order asked, each as its table.

    Args:
        wanted: each a name in `known`, a location, or NAME=LOCATION.
        known: the tables of the configuration, not yet validated.
        file: where they come from, for the message.

    Raises:
        ConfigurationError: a word that is neither a known name nor a file, or two graphs of one name.
    """
    chosen: dict[str, Any] = {}
    for text in wanted:
        name, graph = _read(text, known, file)
        if name in chosen:
            raise ConfigurationError(
                f"two graphs are called {name!r}", next_step="Tell them apart: --graph NAME=LOCATION."
            )
        chosen[name] = graph
    return chosen


def _read(text: str, known: Mapping[str, Any], file: Path | None) -> tuple[str, Any]:
    name, given, location = text.partition("=")
    if given and _NAME.fullmatch(name):
        return name, {"location": location_from(location, Path())}
    if text in known:
        return text, known[text]
    if text != DEMO_LOCATION and _NAME.fullmatch(text) and not Path(text).exists():
        raise ConfigurationError(
            f"no graph is called {text!r} in {file or 'any configuration file'}, and there is no such file",
            next_step=nearest(text, known) or "Give --graph a path, a URL of a store, or NAME=LOCATION.",
        )
    return _name_of(text), {"location": location_from(text, Path())}


def location_from(location: str, folder: Path) -> str:
    """A relative path as seen from `folder`; absolute paths, URLs and the demo stay as they are."""
    if not location or location == DEMO_LOCATION or _URL.match(location):
        return location
    return str(folder / Path(location).expanduser())


def _name_of(location: str) -> str:
    """A name for a location: the stem of a path, the host of a URL, with what a name cannot hold replaced."""
    base = (urlsplit(location).hostname or "") if _URL.match(location) else Path(location).stem
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", base).strip("_")
    return name if _NAME.fullmatch(name) else f"graph_{name}".rstrip("_")
