"""Adapter for any SPARQL 1.1 endpoint. It uses no vendor's functions and needs no schema."""

from __future__ import annotations

from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """Create the adapter for `sparql+http(s)://host/path[?default-graph-uri=GRAPH][#OPTION=VALUE&...]`. Does no I/O.

    Raises:
        ConfigurationError: the location has no host, or an option is unknown or of the wrong kind.
    """
    from kgnav_mcp.adapters.generic_sparql.adapter import EndpointAdapter  # noqa: PLC0415 - keeps start-up cheap

    return EndpointAdapter(location, options)
