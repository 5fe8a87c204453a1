"""Adapter for Freebase, or any graph of the same structure, on a Virtuoso SPARQL endpoint."""

from __future__ import annotations

from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """Create the adapter for `freebase+http(s)://host:port/sparql[?default-graph-uri=GRAPH]`. Does no I/O.

    Raises:
        ConfigurationError: the location has no host, or an option is unknown or of the wrong kind.
    """
    from kgnav_mcp.adapters.freebase.adapter import FreebaseAdapter  # noqa: PLC0415 - keeps start-up cheap

    return FreebaseAdapter(location, options)
