"""Values of a graph as JSON, as scripts get them: entities, relations, edges, paths, and the schema of each."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from math import isfinite
from typing import Any

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Cell, Entity, Literal, Path, Qualifier, Relation, Triple
from kgnav_mcp.port.scalars import scalar
from kgnav_mcp.render.text import clean, printable_id

Json = dict[str, Any]
Value = Cell | Literal | Relation | Qualifier | tuple["Value", ...]


def fact(value: Value, limit: int) -> object:
    """A value as JSON; its texts are clipped at `limit` characters, with their lengths."""
    match value:
        case None | bool() | int():
            found: object = value
        case float():
            found = value if isfinite(value) else str(value)  # JSON has no infinity
        case str():
            found = clean(clipped(value, limit))
        case Literal(language=str() as language):
            found = {"text": fact(value.text, limit), "language": fact(language, limit)}
        case Literal():
            found = fact(scalar(value), limit)
        case Entity() | Relation():
            label = {} if value.label in (None, value.id) else {"label": fact(value.label, limit)}
            found = {"id": printable_id(value.id), **label}
        case Qualifier():
            found = {"property": fact(value.relation, limit), "value": fact(value.value, limit)}
        case Triple():
            found = _edge(value, limit)
        case Path():
            found = {"nodes": fact(value.nodes, limit), "edges": fact(value.edges, limit)}
        case _:
            found = [fact(each, limit) for each in value]
    return found


def _edge(edge: Triple, limit: int) -> Json:
    ends = {"head": edge.head, "relation": edge.relation, "tail": edge.tail}
    qualifiers = {"qualifiers": fact(edge.qualifiers, limit)} if edge.qualifiers else {}
    return {**{name: fact(end, limit) for name, end in ends.items()}, **qualifiers}


def of_type(name: str) -> Json:
    """The schema of a value of one of the types below."""
    return {"$ref": f"#/$defs/{name}"}


def list_of(schema: Json) -> Json:
    """The schema of a list."""
    return {"type": "array", "items": schema}


def record(properties: Mapping[str, Json], description: str = "", *, optional: Collection[str] = ()) -> Json:
    """The schema of an object of these properties, and no others."""
    said = {"description": description} if description else {}
    return {
        "type": "object",
        **said,
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


STRING: Json = {"type": "string"}
_SCALARS: list[Json] = [STRING, {"type": "number"}, {"type": "boolean"}]
_NAMED = {"id": STRING, "label": STRING}
_TYPES: dict[str, Json] = {
    "Entity": record(_NAMED, "A node. Without a label it has no name but its id.", optional=["label"]),
    "Relation": record(_NAMED, "Without a label it has no name but its id.", optional=["label"]),
    "LanguageText": record({"text": STRING, "language": STRING}, "A text of a stated language."),
    "Value": {"anyOf": [of_type("Entity"), of_type("LanguageText"), *_SCALARS]},
    "Qualifier": record(
        {"property": of_type("Relation"), "value": of_type("Value")}, "A property of an edge or a node, and its value."
    ),
    "Edge": record(
        {
            "head": of_type("Entity"),
            "relation": of_type("Relation"),
            "tail": of_type("Value"),
            "qualifiers": list_of(of_type("Qualifier")),
        },
        optional=["qualifiers"],
    ),
    "Path": record({"nodes": list_of(of_type("Entity")), "edges": list_of(of_type("Edge"))}),
    "Cell": {
        "anyOf": [
            *map(of_type, ("Entity", "Edge", "Path")),
            *_SCALARS,
            {"type": "null"},
            list_of(of_type("Cell")),
        ]
    },
}
"""The schemas of what `fact` makes, by the names of the types."""


def with_types(schema: Json) -> Json:
    """A schema with the types that it speaks of, and those that these speak of."""
    used: dict[str, Json] = {}

    def use(part: Json) -> None:
        text = json.dumps(part)
        for name, definition in _TYPES.items():
            if name not in used and json.dumps(of_type(name)) in text:
                used[name] = definition
                use(definition)

    use(schema)
    return {**schema, "$defs": {name: _TYPES[name] for name in _TYPES if name in used}} if used else schema
