"""JSON Graph Format: `graph` or `graphs`, with nodes as an object or a list."""

from __future__ import annotations

from collections.abc import Iterator

from kgnav_mcp.adapters.embedded.loading.findings import Findings
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys
from kgnav_mcp.adapters.embedded.loading.json_stream import ITEM, JsonPath, JsonStream
from kgnav_mcp.adapters.embedded.loading.network import (
    Edge,
    EdgesAreUndirected,
    Entry,
    Node,
    as_mapping,
    network_format,
)
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader
from kgnav_mcp.errors import BadLine

_LISTS = frozenset(("nodes", "edges"))
_EDGE = frozenset(("source", "target", "relation", "directed", "metadata"))


def _enter(path: JsonPath) -> bool:
    match path:
        case () | ("graph",) | ("graphs",) | ("graphs", "[]"):
            return True
        case ("graph", name) | ("graphs", "[]", name):
            return name in _LISTS
        case _:
            return False


def _entries(source: Source, reader: SourceReader, _: Findings) -> Iterator[tuple[int, Entry]]:
    directed, seen_edges = True, False
    for line, path, value in JsonStream(source, reader).values(_enter):
        inner = path[1:] if path[:1] == ("graph",) else path[2:]
        match inner:
            case ("nodes", key):
                given = as_mapping(value)
                attributes = {name: each for name, each in given.items() if name not in {"id", "metadata"}}
                yield (
                    line,
                    Node(given.get("id") if key == ITEM else key, attributes | as_mapping(given.get("metadata"))),
                )
            case ("edges", _):
                seen_edges = True
                yield line, _edge(as_mapping(value), directed=directed)
            case ("directed",):
                directed = value is not False
                if not directed and seen_edges:
                    yield line, EdgesAreUndirected()
            case ("hyperedges",) if value:
                raise BadLine(
                    source.name,
                    line,
                    "hyperedges have more than two ends, and edges have two",
                    next_step="Replace each by a node with an edge to each of them.",
                )
            case _:
                pass


def _edge(given: dict[str, object], *, directed: bool) -> Edge:
    attributes = {name: value for name, value in given.items() if name not in _EDGE}
    attributes |= as_mapping(given.get("metadata"))
    relation = given.get("relation")
    own = given.get("directed")
    return Edge(
        given.get("source"),
        given.get("target"),
        attributes,
        directed if own is None else own is not False,
        relation if isinstance(relation, str) and relation else None,
    )


def _begins(start: bytes) -> bool:
    keys = json_keys(start)
    return ("graph" in keys or "graphs" in keys) and not keys & {"nodes", "elements", "@context"}


JSON_GRAPH = network_format("json-graph", "JSON Graph Format", (".jgf",), _begins, _entries)
