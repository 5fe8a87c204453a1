"""Reads networks in JSON: node-link JSON (networkx, D3), the JSON of Cytoscape.js, and JSON Graph Format."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys
from kgnav_mcp.adapters.embedded.loading.json_stream import ITEM, JsonPath, JsonStream
from kgnav_mcp.adapters.embedded.loading.network import (
    Edge,
    EdgesAreUndirected,
    Entry,
    Node,
    Subgraph,
    as_mapping,
    network_format,
)
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader
from kgnav_mcp.errors import BadLine


def _attributes(
    record: Mapping[str, object], fields: Container[str | None], nested: str | None = None
) -> dict[str, object]:
    """Returns the attributes of a node or an edge: all but the format's fields, and those in the object `nested`."""
    attributes = {name: value for name, value in record.items() if name not in fields and name != nested}
    return attributes if nested is None else attributes | as_mapping(record.get(nested))


def _without_edge_number(attributes: dict[str, object]) -> dict[str, object]:
    """Leaves out the number by which networkx tells parallel edges apart."""
    if isinstance(attributes.get("key"), int):
        del attributes["key"]
    return attributes


# Node-link JSON: networkx's two forms, d3's with ids or places, and graphology's (sigma.js).

_EDGE_LISTS = frozenset(("edges", "links"))
_OTHERS = frozenset(("directed", "multigraph", "graph", "attributes", "options"))
_ENTERED = frozenset(((), ("nodes",), *((name,) for name in _EDGE_LISTS)))
_NODE_LINK_ENDS = frozenset(("source", "target", "undirected"))


class _NodeIds:
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
        record = _unwrapped(value)
        if not record:
            raise ValueError("a node is not a JSON object, or is empty")
        name = next((name for name in ("id", "key") if name in record), None)
        attributes = _attributes(record, {name}, "attributes")
        key: object = record[name] if name is not None else len(self._keys)
        if name is not None:
            self._has_ids = True
            self._has_numbers = self._has_numbers or str(key).isdecimal()
        elif isinstance(name := record.get("name", record.get("label")), str):
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


def _node_link_entries(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, Entry]]:
    nodes = _NodeIds()
    directed, seen_edges = True, False
    for line, path, value in JsonStream(source, reader).values(_ENTERED.__contains__):
        try:
            if path == ("nodes", ITEM):
                yield line, nodes.node(value)
            elif len(path) == 2 and path[0] in _EDGE_LISTS and path[1] == ITEM:
                seen_edges = True
                yield line, _node_link_edge(_unwrapped(value), nodes, directed=directed)
            elif _says_undirected(path, value):
                directed = False
                if seen_edges:
                    yield line, EdgesAreUndirected()
        except ValueError as error:
            problems.reject(source.name, line, str(error))


def _unwrapped(value: object) -> dict[str, object]:
    """Returns a node or an edge as an object. Cytoscape.js has what belongs to it within `data`."""
    record = as_mapping(value)
    return record if record.keys() & {"id", "key", "source"} else as_mapping(record.get("data")) or record


def _node_link_edge(record: dict[str, object], nodes: _NodeIds, *, directed: bool) -> Edge:
    attributes = _without_edge_number(_attributes(record, _NODE_LINK_ENDS, "attributes"))
    directed = directed and record.get("undirected") is not True
    return Edge(nodes.end(record.get("source")), nodes.end(record.get("target")), attributes, directed)


def _says_undirected(path: JsonPath, value: object) -> bool:
    return (path == ("directed",) and value is False) or (
        path == ("options",) and as_mapping(value).get("type") == "undirected"
    )


def _is_node_link(start: bytes) -> bool:
    keys = json_keys(start)
    if not keys & _EDGE_LISTS and not keys <= {"nodes", *_OTHERS}:
        return False
    return "nodes" in keys


NODE_LINK = network_format("node-link", "node-link JSON", (), _is_node_link, _node_link_entries)


# The JSON of Cytoscape.js, which Cytoscape and networkx write, too. What is for drawing is left out.

_ELEMENTS = re.compile(rb'\s*\[\s*\{\s*"(?:data|group)"\s*:')
_ENDS = frozenset(("source", "target"))


def _enter_cytoscape(path: JsonPath) -> bool:
    match path:
        case () | ("elements",) | ("elements", "nodes" | "edges"):
            return True
        case _:
            return False


def _cytoscape_entries(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, Entry]]:
    directed, seen_edges = True, False
    for line, path, value in JsonStream(source, reader).values(_enter_cytoscape):
        if path == ("directed",) and value is False:
            directed = False
            if seen_edges:
                yield line, EdgesAreUndirected()
        elif path in {("[]",), ("elements", "[]"), ("elements", "nodes", "[]"), ("elements", "edges", "[]")}:
            data = as_mapping(as_mapping(value).get("data"))
            if not data:
                problems.reject(source.name, line, "an element without data")
            elif "source" in data or "edges" in path:
                seen_edges = True
                yield line, _cytoscape_edge(data, directed=directed)
            else:
                yield line, Node(data.get("id"), _attributes(data, {"id"}))


def _cytoscape_edge(data: dict[str, object], *, directed: bool) -> Edge:
    attributes = _without_edge_number(_attributes(data, _ENDS))
    return Edge(data.get("source"), data.get("target"), attributes, directed)


def _is_cytoscape(start: bytes) -> bool:
    return "elements" in json_keys(start) or _ELEMENTS.match(start) is not None


CYTOSCAPE = network_format("cytoscape", "Cytoscape's JSON", (".cyjs",), _is_cytoscape, _cytoscape_entries)


# JSON Graph Format: `graph` or `graphs`, with nodes as an object or a list. Several graphs become one: a node that is
# equal in all of them is one node, and different nodes with one id are refused.

_LISTS = frozenset(("nodes", "edges"))
_EDGE_FIELDS = frozenset(("source", "target", "relation", "directed"))


class _Document:
    """A JSON document with one graph, or several that may share nodes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._graph: Subgraph | None = None
        """The graph that is being read; None in a document with a single one."""
        self._directed = True
        self._edges = 0
        """Number of this graph's edges that do not state their direction."""

    def _begin_graph(self) -> None:
        self._graph = Subgraph(self._graph.number + 1 if self._graph else 1)
        self._directed, self._edges = True, 0

    def enter(self, path: JsonPath) -> bool:
        """Whether to read the values in the container at this path one by one. Notices where a graph begins."""
        match path:
            case ("graphs", "[]"):
                self._begin_graph()
                return True
            case () | ("graph",) | ("graphs",):
                return True
            case ("graph", name) | ("graphs", "[]", name):
                return name in _LISTS
            case _:
                return False

    def entries(self, line: int, path: JsonPath, value: object) -> Iterator[Entry]:
        """Yields the node or the edge that a value is."""
        record = as_mapping(value)
        match path[1:] if path[:1] == ("graph",) else path[2:]:
            case ("nodes", key):
                attributes = _attributes(record, {"id"}, "metadata")
                yield Node(record.get("id") if key == ITEM else key, attributes, graph=self._graph)
            case ("edges", _):
                self._edges += record.get("directed") is None
                yield _json_graph_edge(record, directed=self._directed)
            case ("directed",):
                self._directed = value is not False
                if not self._directed and self._edges:
                    yield EdgesAreUndirected(self._edges)
            case ("id" | "label" as key,) if self._graph and (key == "label" or not self._graph.name):
                self._graph.name = str(value)
            case ("hyperedges",) if value:
                raise BadLine(
                    self._source.name,
                    line,
                    "hyperedges have more than two ends, and edges have two",
                    next_step="Replace each by a node with an edge to each of them.",
                )
            case _:
                pass


def _json_graph_entries(source: Source, reader: SourceReader, _: LoadProblems) -> Iterator[tuple[int, Entry]]:
    document = _Document(source)
    for line, path, value in JsonStream(source, reader).values(document.enter):
        for entry in document.entries(line, path, value):
            yield line, entry


def _json_graph_edge(record: dict[str, object], *, directed: bool) -> Edge:
    attributes = _attributes(record, _EDGE_FIELDS, "metadata")
    relation = record.get("relation")
    edge_directed = record.get("directed")
    return Edge(
        record.get("source"),
        record.get("target"),
        attributes,
        directed if edge_directed is None else edge_directed is not False,
        relation if isinstance(relation, str) and relation else None,
    )


def _is_json_graph(start: bytes) -> bool:
    keys = json_keys(start)
    return ("graph" in keys or "graphs" in keys) and not keys & {"nodes", "elements", "@context"}


JSON_GRAPH = network_format("json-graph", "JSON Graph Format", (".jgf",), _is_json_graph, _json_graph_entries)
