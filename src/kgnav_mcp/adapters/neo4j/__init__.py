"""The adapter for property graphs in Neo4j, over the Bolt protocol."""

from __future__ import annotations

from kgnav_mcp.adapters.neo4j.adapter import Neo4jAdapter
from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """Make the adapter for a location `bolt://` or `neo4j://HOST[:PORT][/DATABASE]`, each also with `+s` or `+ssc`.

    No I/O happens before `open`.

    Raises:
        ConfigurationError: the location has no host, or an option is unknown, of the wrong type, or names no file.
    """
    return Neo4jAdapter(location, options)
