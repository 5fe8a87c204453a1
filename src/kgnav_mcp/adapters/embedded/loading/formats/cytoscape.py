"""The JSON of Cytoscape.js, which Cytoscape and networkx write, too. What is for drawing is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys
from kgnav_mcp.adapters.embedded.loading.json_stream import JsonPath, JsonStream
from kgnav_mcp.adapters.embedded.loading.network import (
    Edge,
    EdgesAreUndirected,
    Entry,
    Node,
    as_mapping,
    network_format,
)
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

_ELEMENTS = re.compile(rb'\s*\[\s*\{\s*"(?:data|group)"\s*:')
_ENDS = frozenset(("source", "target"))


def _enter(path: JsonPath) -> bool:
    match path:
        case () | ("elements",) | ("elements", "nodes" | "edges"):
            return True
        case _:
            return False


def _entries(source: Source, reader: SourceReader, findings: LoadProblems) -> Iterator[tuple[int, Entry]]:
    directed, seen_edges = True, False
    for line, path, value in JsonStream(source, reader).values(_enter):
        if path == ("directed",) and value is False:
            directed = False
            if seen_edges:
                yield line, EdgesAreUndirected()
        elif path in {("[]",), ("elements", "[]"), ("elements", "nodes", "[]"), ("elements", "edges", "[]")}:
            data = as_mapping(as_mapping(value).get("data"))
            if not data:
                findings.reject(source.name, line, "an element without data")
            elif "source" in data or "edges" in path:
                seen_edges = True
                yield line, _edge(data, directed=directed)
            else:
                yield line, Node(data.get("id"), {name: each for name, each in data.items() if name != "id"})


def _edge(data: dict[str, object], *, directed: bool) -> Edge:
    attributes = {name: each for name, each in data.items() if name not in _ENDS}
    if isinstance(attributes.get("key"), int):
        del attributes["key"]  # networkx's number of a parallel edge
    return Edge(data.get("source"), data.get("target"), attributes, directed)


def _begins(start: bytes) -> bool:
    return "elements" in json_keys(start) or _ELEMENTS.match(start) is not None


CYTOSCAPE = network_format("cytoscape", "Cytoscape's JSON", (".cyjs",), _begins, _entries)
