"""Columns of answers: each row as texts and as JSON, and the JSON schema of an answer with these columns.

A table and its tool's output schema are made from the same columns, so that they cannot disagree.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from kgnav_mcp.model import Certainty, Completeness, Count, Direction, Stop
from kgnav_mcp.render.column_types import CELL, COUNT, TEXT, ColumnType, count_json
from kgnav_mcp.render.json_values import STRING, Json, Value, list_schema, nullable, object_schema, with_definitions
from kgnav_mcp.render.text import clean, table_body

_AT_LEAST = "AtLeast"
"""Suffix of the JSON property that marks a count as a lower bound."""
_MORE = "More"
"""Suffix of the JSON property with the number of items left out of a list."""
UNLIMITED = sys.maxsize
"""As the limit of all cells: no cell is clipped, whatever the limit of its column."""
_BATCH = 50
"""Rows that are printed at once, column by column."""


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
    """Whether to omit the column if it is empty in every row shown."""
    limit: int | None = None
    """Most characters of a cell; None for the limit of all cells."""
    choices: tuple[str, ...] = ()
    """The only texts allowed in it; empty for any."""
    truncatable: bool = False
    """Whether its lists may be truncated to their first items."""

    def cell_limit(self, limit: int) -> int:
        """Most characters of its cells, where all cells have `limit`."""
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
            marked = f"There: {self.name} is a lower bound."
            extra = {self.name + _AT_LEAST: {"type": "boolean", "const": True, "description": marked}}
        elif self.truncatable:
            extra = {self.name + _MORE: {"type": "integer", "description": f"So many of {self.name} are left out."}}
        return {self.name: {**self.kind.schema, **choices}, **extra}


Columns = tuple[Column, ...]

DIRECTION = Column("direction", choices=tuple(Direction))


def row_texts(columns: Sequence[Column], row: Row, limit: int) -> list[str]:
    """A row as printed texts."""
    return [text for column, cell in zip(columns, row, strict=True) for text in column.cell_texts(cell, limit)]


class PrintedRows:
    """The rows of a table as lines. They are printed a few at a time, each when it is needed first, and kept."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Row], limit: int) -> None:
        self.columns, self.rows = columns, rows
        self._limit = limit
        self._lines: list[str] = []

    def first(self, count: int) -> Sequence[str]:
        """The lines of the first rows."""
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
        "cursor": {**nullable("string"), "description": "Goes on behind the last row."},
    }
)
