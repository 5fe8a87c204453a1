"""Columns of answers with their types: cells as text and as values, and the JSON schema of an answer made of them.

A table and the schema of its tool are made from the same columns, so that neither can say what the other does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kgnav_mcp.model import Certainty, Completeness, Count, Direction, Stop
from kgnav_mcp.render.text import clean

_AT_LEAST = "AtLeast"
"""Ends the name of what says that a count is a lower bound."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value that is more than its text: what a reader sees, and what a script gets as JSON."""

    text: str
    value: object


TableCell = str | Count | Shown | None
Row = Sequence[TableCell]


class Kind(Enum):
    """The type of a column's values, as JSON schema has it."""

    TEXT = "string"
    COUNT = "count"
    """A whole number, null where it is unknown; a lower bound is said to be one beside it."""
    INTEGER = "integer"
    """A whole number, or null."""
    NUMBER = "number"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: Kind = Kind.TEXT
    optional: bool = False
    """Whether it is left out where every row shown has nothing in it."""
    choices: tuple[str, ...] = ()
    """The only texts in it; empty: any."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of what a row has of this column."""
        match self.kind:
            case Kind.ANY:
                return {self.name: {}}
            case Kind.INTEGER:
                return {self.name: {"type": ["integer", "null"]}}
            case Kind.COUNT:
                bound = {"const": True, "description": f"There: {self.name} is a lower bound."}
                return {self.name: {"type": ["integer", "null"]}, f"{self.name}{_AT_LEAST}": bound}
            case _:
                choices = {"enum": [*self.choices]} if self.choices else {}
                return {self.name: {"type": self.kind.value, **choices}}


Columns = tuple[Column, ...]

DIRECTION = Column("direction", choices=tuple(Direction))


def count_text(count: Count) -> str:
    """A count inside a cell: `4,030`, `4,030+` where it is a lower bound, `?` where it is unknown."""
    match count.certainty:
        case Certainty.EXACT:
            return f"{count.value:,}"
        case Certainty.AT_LEAST:
            return f"{count.value:,}+"
        case Certainty.UNKNOWN:
            return "?"


def cell_text(cell: TableCell) -> str:
    """A cell as a reader sees it."""
    match cell:
        case str():
            return cell
        case Count():
            return count_text(cell)
        case Shown():
            return cell.text
        case None:
            return ""


def is_number(cell: TableCell) -> bool:
    """Whether a cell holds a number or nothing, of which no part may be left out."""
    return isinstance(cell.value if isinstance(cell, Shown) else cell, Count | int | float | None)


def row_texts(row: Row) -> list[str]:
    """A row as a reader sees it."""
    return [cell if isinstance(cell, str) else cell_text(cell) for cell in row]


def cell_value(cell: TableCell) -> object:
    """A cell as a script gets it."""
    match cell:
        case str():
            return clean(cell)
        case Count():
            return None if cell.certainty is Certainty.UNKNOWN else cell.value
        case Shown():
            return cell.value
        case None:
            return None


def row_facts(columns: Sequence[Column], row: Row) -> dict[str, object]:
    """A row as a script gets it: values by the names of their columns."""
    facts: dict[str, object] = {}
    for column, cell in zip(columns, row, strict=True):
        facts[column.name] = cell_value(cell)
        if isinstance(cell, Count) and cell.certainty is Certainty.AT_LEAST:
            facts[column.name + _AT_LEAST] = True
    return facts


def answer_facts(
    completeness: Completeness, rows: Sequence[dict[str, object]], notes: Sequence[str] = (), *, before: int = 0
) -> dict[str, object]:
    """An answer as a script gets it. `before` rows were shown by earlier answers to the same call."""
    return {
        "completeness": {
            "shown": completeness.shown,
            "before": before,
            "total": cell_value(completeness.total),
            "certainty": str(completeness.total.certainty),
            "stop": str(completeness.stop),
            "cursor": completeness.cursor,
        },
        "rows": [*rows],
        "notes": [*map(clean, notes)],
    }


def answer_schema(tables: Sequence[Columns]) -> dict[str, Any]:
    """The JSON schema of `answer_facts` with rows of any of these tables; without tables, rows may have any columns."""
    rows = [_row_schema(columns) for columns in tables]
    return {
        "type": "object",
        "properties": {
            "completeness": _COMPLETENESS,
            "rows": {
                "type": "array",
                "items": {"type": "object"} if not rows else rows[0] if len(rows) == 1 else {"anyOf": rows},
            },
            "notes": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["completeness", "rows", "notes"],
        "additionalProperties": False,
    }


def _row_schema(columns: Columns) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: schema for column in columns for name, schema in column.schema.items()},
        "required": [column.name for column in columns if not column.optional],
        "additionalProperties": False,
    }


_COMPLETENESS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "shown": {"type": "integer", "description": "Rows of this answer."},
        "before": {"type": "integer", "description": "Rows of earlier answers to the same call."},
        "total": {"type": ["integer", "null"], "description": "Rows of the whole list; null: unknown."},
        "certainty": {"type": "string", "enum": [str(each) for each in Certainty]},
        "stop": {"type": "string", "enum": [str(each) for each in Stop], "description": "Why the answer ends."},
        "cursor": {"type": ["string", "null"], "description": "Goes on behind the last row."},
    },
    "required": ["shown", "before", "total", "certainty", "stop", "cursor"],
    "additionalProperties": False,
}
