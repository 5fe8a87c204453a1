"""What the values of a column are: how each is shown in a table, what a script gets of it, and its JSON schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Cell, Certainty, Count, Entity, Qualifier
from kgnav_mcp.render.facts import STRING, Json, fact, list_of, of_type
from kgnav_mcp.render.text import (
    UNNAMED,
    cell_text,
    edge_text,
    id_and_label,
    joined,
    node_text,
    printable_id,
    qualifiers_text,
    value_and_label,
)

_INTEGER_OR_NULL: Json = {"type": ["integer", "null"]}


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a column's values; each function takes a value and the characters of its longest text."""

    schema: Json
    texts: Callable[[Any, int], Sequence[str]]
    """Its text; of what has an id, the id and the name beside it."""
    fact: Callable[[Any, int], object] = fact


def count_fact(count: Count, _: int = 0) -> int | None:
    """A count as a number; None where it is unknown."""
    return None if count.certainty is Certainty.UNKNOWN else count.value


def _cell_texts(cell: Cell, limit: int) -> tuple[str, str]:
    """A value of a plan: an entity as its id and its name, whatever else as one text."""
    if not isinstance(cell, Entity):
        return cell_text(cell, limit), ""
    return printable_id(cell.id), UNNAMED if cell.label is None else clipped(cell.label, limit)


def _own_properties_text(properties: Sequence[Qualifier], limit: int) -> str:
    return "; ".join(f"{printable_id(each.relation.id)}: {node_text(each.value, limit)}" for each in properties)


def _one(text: Callable[[Any, int], str]) -> Callable[[Any, int], Sequence[str]]:
    return lambda value, limit: (text(value, limit),)


def _list(items: str, text: Callable[[Any, int], str]) -> Kind:
    return Kind(list_of(of_type(items)), _one(text))


TEXT = Kind(STRING, _one(lambda text, _: text), lambda text, _: fact(text, len(text)))
"""A text that is shown whole."""
LONG_TEXT = Kind(STRING, _one(clipped))
TEXTS = Kind(list_of(STRING), _one(joined))
COUNT = Kind(_INTEGER_OR_NULL, _one(lambda count, _: str(count)), count_fact)
"""A Count, null where it is unknown; a lower bound is said to be one beside it."""
INTEGER = Kind(_INTEGER_OR_NULL, _one(lambda number, _: f"{number:,}"))
SCORE = Kind({"type": "number"}, _one(lambda score, _: f"{score:.2f}"), lambda score, _: round(score, 2))
ENTITY = Kind(of_type("Entity"), value_and_label)
VALUE = Kind(of_type("Value"), value_and_label)
"""An entity, or a literal."""
RELATION = Kind(of_type("Relation"), id_and_label)
VALUES = _list("Value", lambda nodes, limit: "; ".join(node_text(node, limit) for node in nodes))
QUALIFIERS = _list("Qualifier", qualifiers_text)
PROPERTIES = _list("Qualifier", _own_properties_text)
"""The own properties of a node, by their ids."""
EDGES = _list("Edge", lambda edges, _: "; ".join(map(edge_text, edges)))
CELL = Kind(of_type("Cell"), _cell_texts)
"""Whatever a plan may return."""
WHOLE_CELL = Kind(of_type("Cell"), _one(cell_text))
"""The same where no entity has a name other than its id."""
