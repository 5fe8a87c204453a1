"""Any SPARQL 1.1 endpoint, by its address: no vendor's functions, no schema known beforehand."""

from __future__ import annotations

from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """The adapter for `sparql+http(s)://host/path[?default-graph-uri=GRAPH][#OPTION=VALUE&...]`. Does no I/O yet.

    Raises:
        ConfigurationError: the location has no host, or an option is unknown or of the wrong kind.
    """
    from kgnav_mcp.adapters.endpoint.adapter import EndpointAdapter  # noqa: PLC0415 - keeps start-up cheap

    return EndpointAdapter(location, options)
