"""A property graph in Neo4j, spoken to over Bolt."""

from __future__ import annotations

from kgnav_mcp.adapters.neo4j.adapter import Neo4jAdapter
from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """The adapter for `bolt://` and `neo4j://HOST[:PORT][/DATABASE]`, each also `+s` and `+ssc`. No I/O before `open`.

    Raises:
        ConfigurationError: the location has no host, or an option is unknown, of the wrong kind or names no file.
    """
    return Neo4jAdapter(location, options)
