"""Values of a graph as JSON: entities, relations, edges, paths, and the JSON schema of each."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from math import inf, isfinite
from typing import Any

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Cell, Entity, Literal, Path, Qualifier, Relation, Triple
from kgnav_mcp.render.text import printable_id, visible
from kgnav_mcp.values.scalars import scalar

Json = dict[str, Any]
Value = Cell | Literal | Relation | Qualifier | tuple["Value", ...]


def json_value(value: Value, limit: int) -> object:
    """A value as JSON, unchanged except for invisible characters, which are removed from texts.

    Texts are clipped at `limit` characters; a clipped one states its full length.
    """
    match value:
        case None | bool() | int():
            result: object = value
        case float():
            result = value if isfinite(value) else _not_finite(value)
        case str():
            result = visible(clipped(value, limit))
        case Literal(language=str() as language):
            result = {"text": json_value(value.text, limit), "language": json_value(language, limit)}
        case Literal():
            result = json_value(scalar(value), limit)
        case Entity() | Relation():
            label = {} if value.label in (None, value.id) else {"label": json_value(value.label, limit)}
            result = {"id": printable_id(value.id), **label}
        case Qualifier():
            result = {"property": json_value(value.relation, limit), "value": json_value(value.value, limit)}
        case Triple():
            result = _edge(value, limit)
        case Path():
            result = {"nodes": json_value(value.nodes, limit), "edges": json_value(value.edges, limit)}
        case _:
            result = [json_value(each, limit) for each in value]
    return result


def _not_finite(value: float) -> str:
    """NaN or an infinity as a text, as Neo4j writes it: JSON has no such numbers."""
    return {inf: "Infinity", -inf: "-Infinity"}.get(value, "NaN")


def _edge(edge: Triple, limit: int) -> Json:
    ends = {"head": edge.head, "relation": edge.relation, "tail": edge.tail}
    qualifiers = {"qualifiers": json_value(edge.qualifiers, limit)} if edge.qualifiers else {}
    return {**{name: json_value(end, limit) for name, end in ends.items()}, **qualifiers}


def type_reference(name: str) -> Json:
    """A reference to the schema of one of the types below."""
    return {"$ref": f"#/$defs/{name}"}


def nullable(type_name: str) -> Json:
    """The schema of a value of this type or null: two schemas, since some clients know no list of types."""
    return {"anyOf": [{"type": type_name}, {"type": "null"}]}


def list_schema(schema: Json) -> Json:
    """The schema of a list."""
    return {"type": "array", "items": schema}


def object_schema(properties: Mapping[str, Json], description: str = "", *, optional: Collection[str] = ()) -> Json:
    """The schema of an object with exactly these properties; those not `optional` are required."""
    described = {"description": description} if description else {}
    return {
        "type": "object",
        **described,
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


STRING: Json = {"type": "string"}
_SCALARS: list[Json] = [STRING, {"type": "number"}, {"type": "boolean"}]
_NAMED = {"id": STRING, "label": STRING}
_TYPES: dict[str, Json] = {
    "Entity": object_schema(_NAMED, "A node. Without a label it has no name but its id.", optional=["label"]),
    "Relation": object_schema(_NAMED, "Without a label it has no name but its id.", optional=["label"]),
    "LanguageText": object_schema({"text": STRING, "language": STRING}, "A text of a stated language."),
    "Value": {"anyOf": [type_reference("Entity"), type_reference("LanguageText"), *_SCALARS]},
    "Qualifier": object_schema(
        {"property": type_reference("Relation"), "value": type_reference("Value")},
        "A property of an edge or a node, and its value.",
    ),
    "Edge": object_schema(
        {
            "head": type_reference("Entity"),
            "relation": type_reference("Relation"),
            "tail": type_reference("Value"),
            "qualifiers": list_schema(type_reference("Qualifier")),
        },
        optional=["qualifiers"],
    ),
    "Path": object_schema(
        {"nodes": list_schema(type_reference("Entity")), "edges": list_schema(type_reference("Edge"))}
    ),
    "Cell": {
        "anyOf": [
            *map(type_reference, ("Entity", "Edge", "Path")),
            *_SCALARS,
            {"type": "null"},
            list_schema(type_reference("Cell")),
        ]
    },
}
"""JSON schemas of the values that `fact` returns, by type name."""


def with_definitions(schema: Json) -> Json:
    """The schema with `$defs` of all types that it refers to, directly or through other types."""
    used: dict[str, Json] = {}

    def collect(part: Json) -> None:
        text = json.dumps(part)
        for name, definition in _TYPES.items():
            if name not in used and json.dumps(type_reference(name)) in text:
                used[name] = definition
                collect(definition)

    collect(schema)
    return {**schema, "$defs": {name: _TYPES[name] for name in _TYPES if name in used}} if used else schema
