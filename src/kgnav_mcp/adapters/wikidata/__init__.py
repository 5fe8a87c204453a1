"""The adapter for Wikidata, any other Wikibase, or a copy of one, behind a SPARQL endpoint."""

from __future__ import annotations

from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """Make the adapter for a location `wikidata+http(s)://host[:port][/path][?default-graph-uri=GRAPH]`. No I/O yet.

    Raises:
        ConfigurationError: the location has no host, an option is unknown or of the wrong type, or the endpoint is
            one of Wikimedia's and no contact is configured.
    """
    from kgnav_mcp.adapters.wikidata.adapter import WikidataAdapter  # noqa: PLC0415 - keeps start-up cheap

    return WikidataAdapter(location, options)
