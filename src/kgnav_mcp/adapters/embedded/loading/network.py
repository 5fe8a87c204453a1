"""Stages networks: files of nodes and edges with attributes, in any order.

A format yields its nodes and edges in the order of the file, which is read twice: first for nodes, then for edges.
Parallel edges are kept apart. An undirected edge is stored once, in the direction in which it is written.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from kgnav_mcp.adapters.embedded.loading.headers import is_not_finite
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source, SourceReader, stage_entries
from kgnav_mcp.adapters.embedded.loading.staging_writer import PropertyStager
from kgnav_mcp.clipping import clipped, comma_list, echoed
from kgnav_mcp.errors import BadLine
from kgnav_mcp.values.scalars import is_integer, is_number

RELATION_ATTRIBUTES = ("relation", "type", "label", "kind", "interaction")
"""Attributes of an edge that name its relation, the first that it has. Letter case does not matter."""
_SHOWN = 100


@dataclass(slots=True)
class Subgraph:
    """One of several graphs in a file, numbered from 1. Its name may follow its nodes."""

    number: int
    name: str = ""

    def __str__(self) -> str:
        return f"graph {self.number} ({clipped(self.name, 60)})" if self.name else f"graph {self.number}"


@dataclass(slots=True)
class Node:
    """A node of a network, with its attributes as Python values.

    Several graphs of one file may contain the same node. Within one graph, or without graphs, an id belongs to one
    node.
    """

    key: object
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    labels: tuple[str, ...] = ()
    graph: Subgraph | None = None


@dataclass(slots=True)
class Edge:
    """An edge of a network. `relation` is None if the format has no field for it other than attributes."""

    start: object
    end: object
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    directed: bool = True
    relation: str | None = None


@dataclass(slots=True)
class EdgesAreUndirected:
    """Follows the edges of a file in the stream of entries: all of them, or this number of them, are undirected."""

    count: int | None = None


Entry: TypeAlias = "Node | Edge | EdgesAreUndirected"
Entries: TypeAlias = Callable[[Source, SourceReader, LoadProblems], Iterator[tuple[int, Entry]]]
"""Yields the nodes and edges of a file, each with its line."""


def network_format(
    name: str,
    title: str,
    suffixes: tuple[str, ...],
    begins: Callable[[bytes], object],
    entries: Entries,
    *,
    other_encoding: str = "",
    names_by_id: bool = True,
) -> FileFormat:
    """Returns the format of networks whose files are read by `entries`.

    `names_by_id`: a node without a name is named by its id.
    """

    def read_nodes(source: Source, stager: PropertyStager, problems: LoadProblems) -> None:
        shared = _SharedNodes(source.name, stager)

        def stage(line: int, entry: Entry) -> None:
            if isinstance(entry, Node) and not shared.has_equal(line, entry):
                _stage_node(entry, stager, names_by_id=names_by_id)

        stage_entries(source, stager.staging, problems, entries, stage)
        if source.encoding_note:
            problems.notes.append(f"{source.name}: {source.encoding_note}")

    def read_edges(source: Source, index: int, stager: PropertyStager, problems: LoadProblems) -> None:
        edges = _Edges(index, stager)
        unnamed = stager.unnamed_edges
        stage_entries(source, stager.staging, problems, entries, edges.stage, reported=True)
        problems.notes += edges.describe(source.name, stager.unnamed_edges - unnamed)

    return FileFormat(
        name,
        title,
        "property graph",
        suffixes,
        begins,
        read_nodes=read_nodes,
        read_edges=read_edges,
        other_encoding=other_encoding,
    )


def _stage_node(node: Node, stager: PropertyStager, *, names_by_id: bool) -> None:
    key = id_text(node.key)
    if not stager.node(key, node.labels, stager.literals(node.attributes)) and names_by_id:
        stager.name(key, key)


class _SharedNodes:
    """Finds the nodes that several graphs of a file have, and checks that they are equal there."""

    def __init__(self, source: str, stager: PropertyStager) -> None:
        self._source = source
        self._stager = stager
        self._graphs: dict[int, Subgraph] = {}
        self._first_graphs = array("I")
        """By the number of a term: the number of the first graph with this node; 0 if none has it."""
        self._hashes = array("q")
        """By the number of a term: the hash of the node's attributes."""

    def has_equal(self, line: int, node: Node) -> bool:
        """Returns whether a graph of the file before this one has the same node.

        Raises:
            BadLine: it has another node with this id.
        """
        if node.graph is None:
            return False
        self._graphs[node.graph.number] = node.graph
        key = id_text(node.key)
        term = self._stager.staging.terms.id(key)
        if missing := max(term + 1 - len(self._hashes), 0):
            for numbers in (self._first_graphs, self._hashes):
                numbers.frombytes(bytes((missing + term // 2) * numbers.itemsize))
        digest = hash(json.dumps(node.attributes, sort_keys=True))
        first = self._first_graphs[term]
        if first in {0, node.graph.number}:
            self._first_graphs[term], self._hashes[term] = node.graph.number, digest
            return False
        if self._hashes[term] != digest:
            raise BadLine(
                self._source,
                line,
                f"{self._graphs[first]} and {node.graph} have different nodes with the id {clipped(repr(key), 60)}",
                next_step="If they are one node, give it the same attributes in both. If not, give one another id, or "
                "load each graph into a graph file of its own.",
            )
        return True


class _Edges:
    """Stages the edges of one file, and counts how they were read."""

    def __init__(self, index: int, stager: PropertyStager) -> None:
        self._index = index
        self._stager = stager
        self._undirected = 0
        self._edges = 0
        self._relation_attributes: dict[str, None] = {}

    def stage(self, line: int, entry: Entry) -> None:
        if isinstance(entry, EdgesAreUndirected):
            self._undirected = self._edges if entry.count is None else self._undirected + entry.count
        if not isinstance(entry, Edge):
            return
        start, end = id_text(entry.start), id_text(entry.end)
        attributes, relation = entry.attributes, entry.relation
        if relation is None and (attribute := relation_attribute(attributes)) is not None:
            relation = str(attributes[attribute])
            attributes = {name: value for name, value in attributes.items() if name != attribute}
            self._relation_attributes[attribute] = None
        self._edges += 1
        self._undirected += not entry.directed
        place = (self._index, line)
        properties = self._stager.literals(attributes)
        self._stager.relationship(start, self._stager.relation_of(relation), end, properties, place)

    def describe(self, source: str, unnamed: int) -> list[str]:
        """Returns notes on what was decided for the user."""
        parts: list[str] = []
        if self._relation_attributes:
            names = comma_list([repr(name) for name in self._relation_attributes], _SHOWN)
            parts.append(f"the relation of an edge is its attribute {names}")
        if unnamed:
            which = "each edge gets" if unnamed == self._edges else f"{unnamed:,} edges without one get"
            default = echoed(self._stager.default_relation)
            parts.append(f"{which} the relation {default} (--relation NAME sets another)")
        notes = [f"{source}: {'; '.join(parts)}"] if parts else []
        if self._undirected:
            self._stager.undirected[source] = self._undirected == self._edges
            which = "all" if self._undirected == self._edges else f"{self._undirected:,} of {self._edges:,}"
            notes.append(
                f"{source}: {which} edges are undirected: each is stored once, from source to target, so follow them "
                "in the direction either"
            )
        return notes


def relation_attribute(attributes: Mapping[str, object]) -> str | None:
    """Returns the value of the attribute that names an edge's relation; None if it has none, or only an empty one."""
    places = {name.lower(): name for name in reversed([*attributes]) if _is_name(attributes[name])}
    return next((places[attribute] for attribute in RELATION_ATTRIBUTES if attribute in places), None)


def _is_name(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int) and not isinstance(value, bool)


def id_text(key: object) -> str:
    """Returns the id of a node as text.

    Raises:
        ValueError: the id is missing, or neither a text nor a number.
    """
    if isinstance(key, bool) or not isinstance(key, (str, int, float)) or key == "":
        what = "is missing" if key is None or key == "" else f"is not a text or number: {clipped(repr(key), 60)}"
        raise ValueError(f"a node's id {what}")
    return str(key)


def typed(text: str, datatype: str) -> object:
    """Converts an attribute's value to the type that its file declares.

    A text that does not have this type is returned as it is, such as `1_000`, which Python reads as a number.
    """
    plain = text.strip()
    match datatype:
        case "int" | "integer" | "long" | "short" | "byte" | "biginteger":
            return int(plain) if is_integer(plain) else text
        case "float" | "double" | "bigdecimal":
            return float(plain) if is_number(plain) or is_not_finite(plain) else text
        case "boolean":
            return _BOOLEANS.get(plain, text)
        case _:
            return text


def number_or_text(text: str) -> object:
    """Returns the number that a text without a declared type is, or the text if it is none."""
    return typed(text, "integer" if is_integer(text) else "double")


_BOOLEANS = {"true": True, "false": False, "True": True, "False": False, "1": True, "0": False}


def as_mapping(value: object) -> dict[str, object]:
    """Returns a JSON object, or an empty one for anything else."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
