"""Node-link JSON: networkx's two forms, d3's with ids or places, and graphology's (sigma.js)."""

from __future__ import annotations

from collections.abc import Iterator

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
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

_EDGES = frozenset(("edges", "links"))
_OTHERS = frozenset(("directed", "multigraph", "graph", "attributes", "options"))
_ENTERED = frozenset(((), ("nodes",), *((name,) for name in _EDGES)))
_ENDS = frozenset(("source", "target", "undirected"))


class _Nodes:
    """The ids of the nodes, as far as ends of edges may name them by place or by name.

    d3 names nodes by their place in the list, unless a node has a number as its id. Nodes without ids have their places
    as ids, and ends of edges may name them by `name`.
    """

    def __init__(self) -> None:
        self._keys: list[object] = []
        self._places: dict[object, int] = {}
        self._has_ids = False
        self._has_numbers = False

    def node(self, value: object) -> Node:
        given = _unwrapped(value)
        if not given:
            raise ValueError("a node is not a JSON object, or is empty")
        name = next((name for name in ("id", "key") if name in given), None)
        attributes = {key: each for key, each in given.items() if key not in {name, "attributes"}}
        attributes |= as_mapping(given.get("attributes"))
        key: object = given[name] if name is not None else len(self._keys)
        if name is not None:
            self._has_ids = True
            self._has_numbers = self._has_numbers or str(key).isdecimal()
        elif isinstance(name := given.get("name", given.get("label")), str):
            self._places.setdefault(name, len(self._keys))
        self._keys.append(key)
        return Node(key, attributes)

    def end(self, value: object) -> object:
        """Returns the id of the node that an edge names.

        Raises:
            ValueError: there is none at this place, or with this name.
        """
        if drawn := as_mapping(value):  # d3 replaces the ends by the nodes when it draws them
            value = drawn.get("id", drawn.get("index"))
        if isinstance(value, int) and not self._has_numbers and not isinstance(value, bool):
            if not self._keys:
                raise ValueError("an edge names a node by its place before the nodes are listed")
            if not 0 <= value < len(self._keys):
                raise ValueError(f"an edge names node {value}, and the places are 0 to {len(self._keys) - 1:,}")
            return self._keys[value]
        if not self._has_ids and self._keys:
            if value not in self._places:
                raise ValueError(f"no node has the name {value!r}")
            return self._places[value]
        return value


def _entries(source: Source, reader: SourceReader, findings: LoadProblems) -> Iterator[tuple[int, Entry]]:
    nodes = _Nodes()
    directed, seen_edges = True, False
    for line, path, value in JsonStream(source, reader).values(_ENTERED.__contains__):
        try:
            if path == ("nodes", ITEM):
                yield line, nodes.node(value)
            elif len(path) == 2 and path[0] in _EDGES and path[1] == ITEM:
                seen_edges = True
                yield line, _edge(_unwrapped(value), nodes, directed=directed)
            elif _says_undirected(path, value):
                directed = False
                if seen_edges:
                    yield line, EdgesAreUndirected()
        except ValueError as error:
            findings.reject(source.name, line, str(error))


def _unwrapped(value: object) -> dict[str, object]:
    """Returns a node or an edge as an object. Cytoscape.js has what belongs to it within `data`."""
    given = as_mapping(value)
    return given if given.keys() & {"id", "key", "source"} else as_mapping(given.get("data")) or given


def _edge(given: dict[str, object], nodes: _Nodes, *, directed: bool) -> Edge:
    attributes = {name: value for name, value in given.items() if name not in _ENDS and name != "attributes"}
    attributes |= as_mapping(given.get("attributes"))
    if isinstance(attributes.get("key"), int):
        del attributes["key"]  # networkx's number of a parallel edge
    directed = directed and given.get("undirected") is not True
    return Edge(nodes.end(given.get("source")), nodes.end(given.get("target")), attributes, directed)


def _says_undirected(path: JsonPath, value: object) -> bool:
    return (path == ("directed",) and value is False) or (
        path == ("options",) and as_mapping(value).get("type") == "undirected"
    )


def _begins(start: bytes) -> bool:
    keys = json_keys(start)
    if not keys & _EDGES and not keys <= {"nodes", *_OTHERS}:
        return False
    return "nodes" in keys


NODE_LINK = network_format("node-link", "node-link JSON", (), _begins, _entries)
