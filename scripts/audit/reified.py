"""A property graph as RDF 1.1: each edge is a triple, with a statement about it that has the edge's properties.

The generic SPARQL adapter and `kgnav load` read such statements as qualifiers. RDF has sets of values, no arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .raw_graph import Day, Edge, Node, Properties, RawGraph, Scalar, Value, values_of

FILE = "people.ttl"

_PREFIXES = """\
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix schema: <http://schema.org/> .
@prefix p: <http://people.example/> .
"""


def as_sets(graph: RawGraph) -> RawGraph:
    """The graph with sets of values in place of arrays."""
    nodes = {key: Node(key, node.labels, _without_order(node.properties)) for key, node in graph.nodes.items()}
    edges = tuple(Edge(e.head, e.relation, e.tail, _without_order(e.properties)) for e in graph.edges)
    name = f"{graph.name} as RDF"
    return replace(graph, name=name, nodes=nodes, edges=edges, arrays=frozenset(), rdf=True)


def write(graph: RawGraph, file: Path) -> None:
    """Write the graph in Turtle."""
    with file.open("w", encoding="utf-8") as lines:
        lines.write(_PREFIXES)
        for node in graph.nodes.values():
            labels = ", ".join(f"p:{label}" for label in sorted(node.labels))
            lines.write(f"p:{node.key} {' ; '.join((f'a {labels}', *_facts(node.properties)))} .\n")
        for edge in graph.edges:
            triple = f"p:{edge.head} p:{edge.relation} p:{edge.tail}"
            parts = f"rdf:subject p:{edge.head} ; rdf:predicate p:{edge.relation} ; rdf:object p:{edge.tail}"
            about = " ; ".join(("a rdf:Statement", parts, *_facts(edge.properties)))
            lines.write(f"{triple} .\n[] {about} .\n")


def _without_order(properties: Properties) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name in properties:
        values = tuple(sorted(set(values_of(properties, name)), key=lambda value: (str(type(value)), value)))
        found[name] = values[0] if len(values) == 1 else values
    return found


def _facts(properties: Properties) -> Iterator[str]:
    for name in properties:
        for value in values_of(properties, name):
            yield f"{'schema:name' if name == 'name' else f'p:{name}'} {_literal(value)}"


def _literal(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f'"{value!r}"^^xsd:double'
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"' + ((f"^^xsd:{'dateTime' if 'T' in value else 'date'}") if isinstance(value, Day) else "")
