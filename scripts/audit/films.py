"""The film table: head, relation and tail a line, each a name."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import quote

from .raw_graph import Edge, Node, RawGraph

FILE = "metaqa/kb.tsv.gz"
_BASE = "http://films.example/"
ENTITY = _BASE + "entity/"
"""How the ids of entities begin in stores of RDF, before their names."""
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def read(file: Path) -> RawGraph:
    """The graph that the table holds. A name is a node, whatever relation leads to it."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = dict.fromkeys(tuple(line.rstrip("\n").split("\t")) for line in lines)
    edges = tuple(Edge(head, relation, tail) for head, relation, tail in rows)
    names = dict.fromkeys(name for edge in edges for name in (edge.head, edge.tail))
    nodes = {name: Node(name, properties={"name": name}) for name in names}
    return RawGraph("films", nodes, edges, key="name", names=frozenset({"name"}), rdf=True)


def write_rdf(graph: RawGraph, file: Path) -> None:
    """The same graph as N-Triples, for stores that do not read tables."""
    with file.open("w", encoding="utf-8") as lines:
        for name in graph.nodes:
            text = name.replace("\\", "\\\\").replace('"', '\\"')
            lines.write(f'{_iri(name)} {_LABEL} "{text}" .\n')
        for edge in graph.edges:
            lines.write(f"{_iri(edge.head)} <{_BASE}relation/{edge.relation}> {_iri(edge.tail)} .\n")


def _iri(name: str) -> str:
    return f"<{ENTITY}{quote(name, safe='')}>"
