"""Writes the toy graph as files for `kgnav load`, and as RDF that any store can load."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from tests.contract import toy

NAMESPACES = {
    "node": "http://toy.example/node/",
    "rel": "http://toy.example/relation/",
    "class": "http://toy.example/class/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

FREEBASE = "http://rdf.freebase.com/ns/"
FREEBASE_NAME = "type.object.name"

_COLUMN_TYPES: dict[toy.Kind, str] = {
    "string": "string",
    "integer": "long",
    "decimal": "double",
    "boolean": "boolean",
    "date": "date",
    "dateTime": "datetime",
}


def write_property_graph(
    folder: Path, given: Sequence[toy.Node] = toy.NODES, between: Sequence[toy.Edge] = toy.EDGES
) -> list[Path]:
    """Node and edge files with neo4j-admin's headers. A property with several values has several columns."""
    nodes = [(node, _columns((*_names(node), *node.properties))) for node in given]
    edges = [(edge, _columns(edge.qualifiers)) for edge in between]
    return [
        _write(
            folder / "nodes.csv",
            [":ID", ":LABEL"],
            [([node.id, ";".join(node.types)], columns) for node, columns in nodes],
        ),
        _write(
            folder / "edges.csv",
            [":START_ID", ":TYPE", ":END_ID"],
            [([edge.head, edge.relation, edge.tail], columns) for edge, columns in edges],
        ),
    ]


def _names(node: toy.Node) -> list[tuple[str, toy.Value]]:
    names = [("name", value) for value in node.names]
    names += [("aka", toy.Value(alias)) for alias in node.aliases]
    return names + ([("description", toy.Value(node.description))] if node.description else [])


def _columns(properties: Iterable[tuple[str, toy.Value]]) -> dict[tuple[str, int], str]:
    """Fields by (header, number): a second value of a property goes to a second column with that header."""
    columns: dict[tuple[str, int], str] = {}
    for name, value in properties:
        header = f"{name}@{value.language}" if value.language else f"{name}:{_COLUMN_TYPES[value.kind]}"
        place = next(place for place in range(1_000) if (header, place) not in columns)
        columns[header, place] = value.text
    return columns


def _write(path: Path, fixed: list[str], rows: list[tuple[list[str], dict[tuple[str, int], str]]]) -> Path:
    columns = list(dict.fromkeys(column for _, fields in rows for column in fields))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*fixed, *(header for header, _ in columns)])
        writer.writerows([*start, *(fields.get(column, "") for column in columns)] for start, fields in rows)
    return path


def write_rdf(
    folder: Path,
    given: Sequence[toy.Node] = toy.NODES,
    between: Sequence[toy.Edge] = toy.EDGES,
    *,
    statements: bool = False,
) -> list[Path]:
    """Turtle, one statement a line. Edge properties belong to RDF 1.2 reifiers of the edge's triple.

    With `statements` they belong to RDF 1.1 statements instead, for stores without RDF 1.2; every second has an IRI.
    """
    lines = [f"@prefix {prefix}: <{namespace}> ." for prefix, namespace in NAMESPACES.items()]
    lines += [f"class:{label} rdfs:label {_literal(toy.Value(label))} ." for label in toy.labels_of(given)]
    for node in given:
        subject = _iri("node", node.id)
        lines += [f"{subject} rdf:type class:{label} ." for label in node.types]
        lines += [f"{subject} rdfs:label {_literal(value)} ." for value in node.names]
        lines += [f"{subject} skos:altLabel {_literal(toy.Value(alias))} ." for alias in node.aliases]
        if node.description:
            lines.append(f"{subject} rdfs:comment {_literal(toy.Value(node.description))} .")
        lines += [f"{subject} {_iri('rel', name)} {_literal(value)} ." for name, value in node.properties]
    for number, edge in enumerate(between):
        triple = f"{_iri('node', edge.head)} {_iri('rel', edge.relation)} {_iri('node', edge.tail)}"
        lines.append(f"{triple} .")
        reifier = f"<{NAMESPACES['node']}edge{number}>" if statements and number % 2 else f"_:edge{number}"
        if edge.qualifiers and statements:
            parts = zip(("subject", "predicate", "object"), triple.split(" "), strict=True)
            lines.append(f"{reifier} rdf:type rdf:Statement .")
            lines += [f"{reifier} rdf:{name} {part} ." for name, part in parts]
        elif edge.qualifiers:
            lines.append(f"{reifier} rdf:reifies <<( {triple} )>> .")
        lines += [f"{reifier} {_iri('rel', name)} {_literal(value)} ." for name, value in edge.qualifiers]
    path = folder / "toy.ttl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return [path]


def write_freebase(
    folder: Path, given: Sequence[toy.Node] = toy.NODES, between: Sequence[toy.Edge] = toy.EDGES
) -> list[Path]:
    """N-Triples as Freebase writes them: dotted ids in one namespace. Freebase's edges have no properties."""
    lines = [_statement(f"toy.{label}", FREEBASE_NAME, _literal(toy.Value(label))) for label in toy.labels_of(given)]
    for node in given:
        subject = f"m.{node.id}"
        lines += [_statement(subject, "type.object.type", _freebase(f"toy.{label}")) for label in node.types]
        lines += [_statement(subject, FREEBASE_NAME, _literal(value)) for value in node.names]
        lines += [_statement(subject, "common.topic.alias", _literal(toy.Value(alias))) for alias in node.aliases]
        if node.description:
            lines.append(_statement(subject, "common.topic.description", _literal(toy.Value(node.description))))
        lines += [_statement(subject, f"toy.thing.{name}", _typed(value)) for name, value in node.properties]
    lines += [
        _statement(f"m.{edge.head}", f"toy.thing.{edge.relation}", _freebase(f"m.{edge.tail}")) for edge in between
    ]
    path = folder / "toy.nt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return [path]


def _statement(subject: str, predicate: str, tail: str) -> str:
    return f"{_freebase(subject)} {_freebase(predicate)} {tail} ."


def _typed(value: toy.Value) -> str:
    """A literal with the full IRI of its datatype."""
    return _literal(value).replace("^^xsd:" + value.kind, f"^^<{NAMESPACES['xsd']}{value.kind}>")


def _freebase(local: str) -> str:
    return f"<{FREEBASE}{quote(local, safe='')}>"


def _iri(prefix: str, local: str) -> str:
    return f"<{NAMESPACES[prefix]}{quote(local, safe='')}>"


def _literal(value: toy.Value) -> str:
    escaped = value.text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    if value.language:
        return f'"{escaped}"@{value.language}'
    return f'"{escaped}"' if value.kind == "string" else f'"{escaped}"^^xsd:{value.kind}'
