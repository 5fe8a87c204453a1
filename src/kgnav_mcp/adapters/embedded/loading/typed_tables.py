"""Tables that are not text, such as the sheets of a workbook. Their cells have types, which are kept."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from kgnav_mcp.adapters.embedded.loading.columns import header_from_names, suggested_commands
from kgnav_mcp.adapters.embedded.loading.headers import (
    JSON_ITEMS,
    Column,
    Dialect,
    Header,
    Role,
    written_number,
)
from kgnav_mcp.adapters.embedded.loading.layout import KNOWN_COLUMNS, Layout
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions
from kgnav_mcp.clipping import comma_list
from kgnav_mcp.errors import LoadError

_LISTED = 200
_SAMPLE = 1_000
"""Rows by which the roles and types of columns are found where a format has no types of columns."""
ARRAY = "[]"
"""The end of the datatype of a column of arrays, whose fields are JSON; before it stands that of the items."""


@dataclass(frozen=True)
class TypedTable:
    """A table of Python values. `read` yields its rows below the header each time it is called."""

    names: tuple[str, ...]
    read: Callable[[], Iterator[Sequence[object]]]
    datatypes: Mapping[int, str] | None = None
    """Datatypes by column, if the format has them; else they are those of the values."""

    @cached_property
    def columns(self) -> Sequence[tuple[str, str | None]]:
        """Name and datatype of each column; None for texts, and for columns of several types."""
        if self.datatypes is not None:
            return [(name, self.datatypes.get(place)) for place, name in enumerate(self.names)]
        types: list[set[str | None]] = [set() for _ in self.names]
        for row in self.read():
            for kinds, value in zip(types, row, strict=False):
                if value is not None and value != "":
                    kinds.add(datatype_of(value))
        return [(name, _common(kinds)) for name, kinds in zip(self.names, types, strict=True)]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yields number (from 2, as spreadsheets count) and fields of each row, as text."""
        width = len(self.names)
        for number, row in enumerate(self.read(), 2):
            fields = [text_of(value) for value in row]
            if any(fields):
                yield number, fields[:width] + [""] * (width - len(fields))


def layout_of(table: TypedTable, name: str, file: str, options: LoadOptions) -> Layout:
    """Returns the layout of a table with this name in a file.

    Raises:
        LoadError: its columns are not understood.
    """
    names = [column for column, _ in table.columns]
    header = options.tables.columns.header(name, names)
    if header is None:
        sample = [fields for _, fields in islice(table.rows(), _SAMPLE)]
        header = header_from_names(names, sample, Dialect())
        if header is None:
            shown = suggested_commands(file, names, sample)
            raise LoadError(
                f"the first row of {name} has no known names of columns: {comma_list(names, _LISTED)}",
                next_step=f"{shown}\n{KNOWN_COLUMNS}" if shown else KNOWN_COLUMNS,
            )
    return Layout(_typed(header, table))


def _typed(header: Header, table: TypedTable) -> Header:
    datatypes = [datatype for _, datatype in table.columns]
    return replace(header, columns=tuple(_with_type(column, datatypes[column.place]) for column in header.columns))


def _with_type(column: Column, datatype: str | None) -> Column:
    if datatype is not None and datatype.endswith(ARRAY):
        column = replace(column, array=True, separator=JSON_ITEMS)
        datatype = datatype.removesuffix(ARRAY) or None
    return replace(column, datatype=datatype) if column.role in (Role.PROPERTY, Role.NAME) else column


def datatype_of(value: object) -> str | None:
    """Returns the datatype of a cell's value in a graph file; None for a text."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "float"
    if isinstance(value, dt.datetime):
        return "date" if value.time() == dt.time() else "localdatetime" if value.tzinfo is None else "datetime"
    if isinstance(value, dt.date):
        return "date"
    return "localtime" if isinstance(value, dt.time) else "json" if isinstance(value, list | dict) else None


def text_of(value: object) -> str:
    """Returns a cell's value as text; empty for none. Whole numbers have no point: workbooks have no integers."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else written_number(value)
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else str(value)


def _common(kinds: set[str | None]) -> str | None:
    """The datatype of a column whose values have these: numbers may be mixed, and dates with times."""
    if kinds <= {"integer", "float"} and kinds:
        return "float" if "float" in kinds else "integer"
    if kinds == {"date", "localdatetime"}:
        return None
    return next(iter(kinds)) if len(kinds) == 1 else None
