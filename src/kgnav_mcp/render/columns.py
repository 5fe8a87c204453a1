"""Typed columns of answers: their cells as text and as JSON, and the JSON schema of an answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import inf, isfinite
from typing import Any

from kgnav_mcp.clipping import clipped, comma_list
from kgnav_mcp.model import (
    Cell,
    Certainty,
    Completeness,
    Count,
    Direction,
    Entity,
    Literal,
    Path,
    Qualifier,
    Relation,
    Stop,
    Triple,
)
from kgnav_mcp.render.text import (
    UNNAMED,
    cell_text,
    clean,
    edge_text,
    id_and_label,
    node_text,
    printable_id,
    qualifiers_text,
    table_body,
    value_and_label,
    visible,
)
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
            result = [json_value(member, limit) for member in value]
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
    """The schema of a value of this type or null, as `anyOf`, since some clients do not support a list of types."""
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
    "Entity": object_schema(_NAMED, "A node. Without a label it has no name other than its id.", optional=["label"]),
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


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column's values. Each function takes a value and the most characters of a text."""

    schema: Json
    texts: Callable[[Any, int], Sequence[str]]
    """The printed text; two texts, id and name, for entities and relations."""
    to_json: Callable[[Any, int], object] = json_value


def count_json(count: Count, _: int = 0) -> int | None:
    """A count as a number; None if it is unknown."""
    return None if count.certainty is Certainty.UNKNOWN else count.value


def _cell_texts(cell: Cell, limit: int) -> tuple[str, str]:
    """A value in a plan's row: id and name of an entity, a single text for anything else."""
    if not isinstance(cell, Entity):
        return cell_text(cell, limit), ""
    return printable_id(cell.id), UNNAMED if cell.label is None else clipped(cell.label, limit)


def _own_properties_text(properties: Sequence[Qualifier], limit: int) -> str:
    return "; ".join(f"{printable_id(item.relation.id)}: {node_text(item.value, limit)}" for item in properties)


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


_AT_LEAST = "AtLeast"
"""Suffix of the JSON property that marks a count as a lower bound."""
_MORE = "More"
"""Suffix of the JSON property with the number of items omitted from a list."""
UNLIMITED = sys.maxsize
"""A limit of cells with which no cell is clipped, whatever the limit of its column."""
_BATCH = 50
"""Number of rows that are printed together, column by column."""


@dataclass(frozen=True, slots=True)
class TruncatedList:
    """The first items of a list, and how many more there are."""

    items: tuple[Any, ...]
    omitted: int


TableCell = Value | Count | TruncatedList | Sequence[Any]
Row = Sequence[TableCell]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer. Things with an id and a name may take two columns in a table; in JSON they stay one."""

    name: str
    kind: ColumnType = TEXT
    name_heading: str = ""
    """Heading of the second column, which has the names; empty if there is none."""
    optional: bool = False
    """Whether the column is omitted if it is empty in every row shown."""
    limit: int | None = None
    """Maximum characters of a cell; None for the limit of all cells."""
    choices: tuple[str, ...] = ()
    """The allowed texts; empty for any."""
    truncatable: bool = False
    """Whether its lists may be truncated to their first items."""

    def cell_limit(self, limit: int) -> int:
        """Maximum characters of its cells, where all cells have `limit`."""
        return limit if self.limit is None or limit == UNLIMITED else self.limit

    @property
    def headings(self) -> tuple[str, ...]:
        """Its one or two headings in a table."""
        return (self.name, self.name_heading) if self.name_heading else (self.name,)

    def cell_texts(self, cell: TableCell, limit: int) -> Sequence[str]:
        """A cell as it is printed, one text for each heading."""
        match cell:
            case None:
                return ("",) * len(self.headings)
            case TruncatedList(items, more):
                (text,) = self.cell_texts(items, limit)
                return (f"{text}, and {more:,} more" if more else text,)
            case _:
                return self.kind.texts(cell, self.cell_limit(limit))[: len(self.headings)]

    def printed(self, cells: Iterable[TableCell], limit: int) -> Sequence[Sequence[str]]:
        """Cells as they are printed: one list of texts for each heading."""
        print_cell, cell_limit = self.kind.texts, self.cell_limit(limit)
        texts = [
            self.cell_texts(cell, limit)
            if cell is None or type(cell) is TruncatedList
            else print_cell(cell, cell_limit)
            for cell in cells
        ]
        return [*zip(*texts, strict=False)][: len(self.headings)]

    def cell_json(self, cell: TableCell, limit: int) -> Json:
        """A cell as JSON properties, keyed by property name."""
        match cell:
            case None:
                return {self.name: None}
            case Count(certainty=Certainty.AT_LEAST):
                return {self.name: cell.value, self.name + _AT_LEAST: True}
            case TruncatedList(items, more):
                return {**self.cell_json(items, limit), **({self.name + _MORE: more} if more else {})}
            case _:
                return {self.name: self.kind.to_json(cell, self.cell_limit(limit))}

    @property
    def schema(self) -> Json:
        """The JSON schema of the properties that this column adds to a row."""
        choices = {"enum": [*self.choices]} if self.choices else {}
        extra: Json = {}
        if self.kind is COUNT:
            marked = f"If present, {self.name} is a lower bound."
            extra = {self.name + _AT_LEAST: {"type": "boolean", "const": True, "description": marked}}
        elif self.truncatable:
            extra = {self.name + _MORE: {"type": "integer", "description": f"Number of omitted {self.name}."}}
        return {self.name: {**self.kind.schema, **choices}, **extra}


Columns = tuple[Column, ...]

DIRECTION = Column("direction", choices=tuple(Direction))


def row_texts(columns: Sequence[Column], row: Row, limit: int) -> list[str]:
    """A row as printed texts."""
    return [text for column, cell in zip(columns, row, strict=True) for text in column.cell_texts(cell, limit)]


class PrintedRows:
    """The rows of a table as lines, printed lazily in batches and cached."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Row], limit: int) -> None:
        self.columns, self.rows = columns, rows
        self._limit = limit
        self._lines: list[str] = []

    def first(self, count: int) -> Sequence[str]:
        """The lines of the first `count` rows."""
        while len(self._lines) < min(count, len(self.rows)):
            self._print_batch()
        return self._lines[:count]

    def batches(self) -> Iterator[Sequence[str]]:
        """The lines of all rows, a few at a time."""
        for end in range(_BATCH, len(self.rows) + _BATCH, _BATCH):
            yield self.first(end)[end - _BATCH :]

    def _print_batch(self) -> None:
        done = len(self._lines)
        by_column = zip(self.columns, zip(*self.rows[done : done + _BATCH], strict=True), strict=True)
        texts = [printed for column, cells in by_column for printed in column.printed(cells, self._limit)]
        self._lines += table_body([*zip(*texts, strict=True)]).split("\n")


def drop_empty_columns(columns: Sequence[Column], rows: Sequence[Row]) -> tuple[Sequence[Column], Sequence[Row]]:
    """The columns and rows without the optional columns that are empty in all rows."""
    shown = [not column.optional or any(row[n] not in _EMPTY for row in rows) for n, column in enumerate(columns)]
    if all(shown):
        return columns, rows
    return list(compress(columns, shown)), [list(compress(row, shown)) for row in rows]


_EMPTY = (None, "", ())


def row_json(columns: Sequence[Column], row: Row, limit: int) -> Json:
    """A row as JSON: values keyed by column name."""
    facts: Json = {}
    for column, cell in zip(columns, row, strict=True):
        facts |= column.cell_json(cell, limit)
    return facts


def answer_json(
    completeness: Completeness, rows: Sequence[Json], notes: Sequence[str] = (), *, before: int = 0
) -> Json:
    """An answer as JSON. `before` is the number of rows shown by earlier answers to the same call."""
    return {
        "completeness": {
            "shown": completeness.shown,
            "before": before,
            "total": count_json(completeness.total),
            "certainty": str(completeness.total.certainty),
            "stop": str(completeness.stop),
            "cursor": completeness.cursor,
        },
        "rows": [*rows],
        "notes": [*map(clean, notes)],
    }


def answer_schema(tables: Sequence[Columns]) -> Json:
    """The JSON schema of `answer_facts` with rows of any of these tables; without tables, rows of any plan."""
    rows = [_row_schema(columns) for columns in tables] or [{"type": "object", "additionalProperties": CELL.schema}]
    items = rows[0] if len(rows) == 1 else {"anyOf": rows}
    return with_definitions(
        object_schema({"completeness": _COMPLETENESS, "rows": list_schema(items), "notes": list_schema(STRING)})
    )


def _row_schema(columns: Columns) -> Json:
    fields = {name: schema for column in columns for name, schema in column.schema.items()}
    return object_schema(fields, optional=fields.keys() - {column.name for column in columns if not column.optional})


_COMPLETENESS = object_schema(
    {
        "shown": {"type": "integer", "description": "Rows of this answer."},
        "before": {"type": "integer", "description": "Rows of earlier answers to the same call."},
        "total": {**nullable("integer"), "description": "Rows of the whole list; null: unknown."},
        "certainty": {"type": "string", "enum": [str(each) for each in Certainty]},
        "stop": {"type": "string", "enum": [str(each) for each in Stop], "description": "Why the answer ends."},
        "cursor": {**nullable("string"), "description": "Continues after the last row."},
    }
)
