"""Types of column values: how each is printed in a table, how it is written as JSON, and its JSON schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kgnav_mcp.clipping import clipped, comma_list
from kgnav_mcp.model import Cell, Certainty, Count, Entity, Qualifier
from kgnav_mcp.render.json_values import STRING, Json, json_value, list_schema, nullable, type_reference
from kgnav_mcp.render.text import (
    UNNAMED,
    cell_text,
    edge_text,
    id_and_label,
    node_text,
    printable_id,
    qualifiers_text,
    value_and_label,
)


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column's values. Each function takes a value and the most characters of a text."""

    schema: Json
    texts: Callable[[Any, int], Sequence[str]]
    """The printed text; two texts, id and name, for what has an id."""
    to_json: Callable[[Any, int], object] = json_value


def count_json(count: Count, _: int = 0) -> int | None:
    """A count as a number; None if it is unknown."""
    return None if count.certainty is Certainty.UNKNOWN else count.value


def _cell_texts(cell: Cell, limit: int) -> tuple[str, str]:
    """A value in a plan's row: id and name of an entity, one text for anything else."""
    if not isinstance(cell, Entity):
        return cell_text(cell, limit), ""
    return printable_id(cell.id), UNNAMED if cell.label is None else clipped(cell.label, limit)


def _own_properties_text(properties: Sequence[Qualifier], limit: int) -> str:
    return "; ".join(f"{printable_id(each.relation.id)}: {node_text(each.value, limit)}" for each in properties)


def _single_text(text: Callable[[Any, int], str]) -> Callable[[Any, int], Sequence[str]]:
    return lambda value, limit: (text(value, limit),)


def _list(items: str, text: Callable[[Any, int], str]) -> ColumnType:
    return ColumnType(list_schema(type_reference(items)), _single_text(text))


TEXT = ColumnType(STRING, _single_text(lambda text, _: text), lambda text, _: json_value(text, len(text)))
"""A text that is never clipped."""
LONG_TEXT = ColumnType(STRING, _single_text(clipped))
TEXTS = ColumnType(list_schema(STRING), _single_text(comma_list))
COUNT = ColumnType(nullable("integer"), _single_text(lambda count, _: str(count)), count_json)
"""A Count; null if unknown. A lower bound is marked by a second property."""
INTEGER = ColumnType(nullable("integer"), _single_text(lambda number, _: f"{number:,}"))
SCORE = ColumnType({"type": "number"}, _single_text(lambda score, _: f"{score:.2f}"), lambda score, _: round(score, 2))
SIMILARITY = ColumnType(nullable("number"), SCORE.texts, SCORE.to_json)
ENTITY = ColumnType(type_reference("Entity"), value_and_label)
VALUE = ColumnType(type_reference("Value"), value_and_label)
"""An entity, or a literal."""
RELATION = ColumnType(type_reference("Relation"), id_and_label)
VALUES = _list("Value", lambda nodes, limit: "; ".join(node_text(node, limit) for node in nodes))
QUALIFIERS = _list("Qualifier", qualifiers_text)
PROPERTIES = _list("Qualifier", _own_properties_text)
"""A node's own properties, named by their ids."""
EDGES = _list("Edge", lambda edges, _: "; ".join(map(edge_text, edges)))
CELL = ColumnType(type_reference("Cell"), _cell_texts)
"""Any value that a plan may return."""
SINGLE_COLUMN_CELL = ColumnType(type_reference("Cell"), _single_text(cell_text))
"""The same, for columns in which no entity has a name other than its id."""
