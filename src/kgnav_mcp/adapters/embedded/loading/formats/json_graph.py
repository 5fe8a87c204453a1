"""JSON Graph Format: `graph` or `graphs`, with nodes as an object or a list.

Several graphs become one: a node that is equal in all of them is one node, and different nodes with one id are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

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

_LISTS = frozenset(("nodes", "edges"))
_EDGE = frozenset(("source", "target", "relation", "directed", "metadata"))


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
        given = as_mapping(value)
        match path[1:] if path[:1] == ("graph",) else path[2:]:
            case ("nodes", key):
                attributes = {name: each for name, each in given.items() if name not in {"id", "metadata"}}
                attributes |= as_mapping(given.get("metadata"))
                yield Node(given.get("id") if key == ITEM else key, attributes, graph=self._graph)
            case ("edges", _):
                self._edges += given.get("directed") is None
                yield _edge(given, directed=self._directed)
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


def _entries(source: Source, reader: SourceReader, _: LoadProblems) -> Iterator[tuple[int, Entry]]:
    document = _Document(source)
    for line, path, value in JsonStream(source, reader).values(document.enter):
        for entry in document.entries(line, path, value):
            yield line, entry


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
