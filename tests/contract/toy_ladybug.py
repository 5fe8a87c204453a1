"""Writes the toy graph as a LadybugDB file, through the engine's own API: a table for each label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import ladybug

from tests.contract import toy
from tests.contract.toy_views import Style

_TYPES: Mapping[toy.Kind, str] = {
    "string": "STRING",
    "integer": "INT64",
    "decimal": "DOUBLE",
    "boolean": "BOOL",
    "date": "DATE",
    "dateTime": "TIMESTAMP_TZ",
}
Columns = dict[str, list[toy.Value]]


def write(
    path: Path, style: Style, given: Sequence[toy.Node] = toy.NODES, between: Sequence[toy.Edge] = toy.EDGES
) -> None:
    """Create the file."""
    nodes = {node.id: (style.types(node)[0], _columns(_values(node))) for node in given}
    edges = [(edge, _columns(edge.qualifiers)) for edge in between]
    with ladybug.Database(str(path)) as database, ladybug.Connection(database) as connection:
        for label in sorted({label for label, _ in nodes.values()}):
            types = _types(columns for own, columns in nodes.values() if own == label)
            declared = "".join(f", {_quoted(key)} {type_}" for key, type_ in types.items())
            connection.execute(f"CREATE NODE TABLE {_quoted(label)}(id STRING{declared}, PRIMARY KEY(id))")
            for node, (own, columns) in nodes.items():
                if own == label:
                    _create(connection, f"CREATE (:{_quoted(label)} {{}})", {"id": node, **_given(columns, types)})
        for relation in sorted({edge.relation for edge, _ in edges}):
            own_edges = [(edge, columns) for edge, columns in edges if edge.relation == relation]
            types = _types(columns for _, columns in own_edges)
            joins = sorted({(nodes[edge.head][0], nodes[edge.tail][0]) for edge, _ in own_edges})
            declared = [f"FROM {_quoted(head)} TO {_quoted(tail)}" for head, tail in joins]
            declared += [f"{_quoted(key)} {type_}" for key, type_ in types.items()]
            connection.execute(f"CREATE REL TABLE {_quoted(relation)}({', '.join(declared)})")
            for edge, columns in own_edges:
                head, tail = (_quoted(nodes[end][0]) for end in (edge.head, edge.tail))
                ends = f"(a:{head} {{id: $head}}), (b:{tail} {{id: $tail}})"
                query = f"MATCH {ends} CREATE (a)-[:{_quoted(relation)} {{}}]->(b)"
                _create(connection, query, _given(columns, types), {"head": edge.head, "tail": edge.tail})


def _values(node: toy.Node) -> Iterable[tuple[str, toy.Value]]:
    yield from (("name", value) for value in node.names)
    yield from (("aka", toy.Value(alias)) for alias in node.aliases)
    if node.description:
        yield "description", toy.Value(node.description)
    yield from node.properties


def _columns(values: Iterable[tuple[str, toy.Value]]) -> Columns:
    found: Columns = defaultdict(list)
    for name, value in values:
        found[f"{name}@{value.language}" if value.language else name].append(value)
    return found


def _types(rows: Iterable[Columns]) -> dict[str, str]:
    """The type of each column: a list where some row has several values."""
    found: dict[str, str] = {}
    several = Counter[str]()
    for columns in rows:
        for key, values in columns.items():
            found[key] = _TYPES[values[0].kind]
            several[key] = max(several[key], len(values))
    return {key: type_ + ("[]" if several[key] > 1 else "") for key, type_ in found.items()}


def _given(columns: Columns, types: Mapping[str, str]) -> dict[str, Any]:
    values = {key: [_value(value) for value in own] for key, own in columns.items()}
    return {key: own if types[key].endswith("[]") else own[0] for key, own in values.items()}


def _value(value: toy.Value) -> object:
    match value.kind:
        case "integer":
            return int(value.text)
        case "decimal":
            return float(value.text)
        case "boolean":
            return value.text == "true"
        case "date":
            return date.fromisoformat(value.text)
        case "dateTime":
            return datetime.fromisoformat(value.text)
        case _:
            return value.text


def _create(
    connection: ladybug.Connection, query: str, columns: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> None:
    names = {key: f"p{number}" for number, key in enumerate(columns)}
    properties = ", ".join(f"{_quoted(key)}: ${name}" for key, name in names.items())
    values = {names[key]: value for key, value in columns.items()}
    connection.execute(query.replace("{}", f"{{{properties}}}" if properties else ""), {**values, **(given or {})})


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
