"""The graph file: a knowledge graph in one SQLite file, read without a server."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """Returns the adapter for a graph file, given as a path or a `file:` URL. Reads nothing before `open`."""
    from kgnav_mcp.adapters.embedded.adapter import EmbeddedAdapter  # noqa: PLC0415 - keeps start-up cheap

    return EmbeddedAdapter(path_of(location), options)


def path_of(location: str) -> str:
    """Returns the path of a location. A path is returned as it is, a `file:` URL is unquoted."""
    if not location.lower().startswith("file:"):
        return location
    return unquote(urlsplit(location.replace("?", "%3F").replace("#", "%23")).path)
