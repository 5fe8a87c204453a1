"""Freebase, or any graph shaped like it, on a Virtuoso SPARQL endpoint."""

from __future__ import annotations

from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """The adapter for `freebase+http(s)://host:port/sparql[?default-graph-uri=GRAPH]`. Nothing is asked before `open`.

    Raises:
        ConfigurationError: the location has no host, or an option is unknown or of the wrong kind.
    """
    from kgnav_mcp.adapters.freebase.adapter import FreebaseAdapter  # noqa: PLC0415 - keeps start-up cheap

    return FreebaseAdapter(location, options)
