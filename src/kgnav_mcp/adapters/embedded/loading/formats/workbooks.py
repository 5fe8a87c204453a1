"""Workbooks: Excel and OpenDocument. Each sheet with values is a table, whose first row names the columns."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import binary
from kgnav_mcp.adapters.embedded.loading.formats.tables import typed_format
from kgnav_mcp.adapters.embedded.loading.typed_tables import TypedTable, text_of
from kgnav_mcp.clipping import comma_list, echoed
from kgnav_mcp.errors import LoadError

_LISTED = 200
_TITLE_ROWS = 5
"""Rows that a title and blanks above the names of the columns may take."""


def _open_sheets(path: Path, sheets: Sequence[str]) -> list[tuple[str, TypedTable]]:
    calamine = cast("Any", import_module("python_calamine"))

    try:
        book = calamine.load_workbook(str(path))
    except (calamine.CalamineError, OSError) as error:
        raise LoadError(
            f"{path.name} looks like a workbook that cannot be read: {error}", next_step="Save it again, or as CSV."
        ) from error
    absent = [name for name in sheets if name not in book.sheet_names]
    if absent:
        raise LoadError(
            f"{path.name} has no sheet {echoed(absent[0])}",
            next_step=f"Its sheets: {comma_list(book.sheet_names, _LISTED)}.",
        )
    tables: list[tuple[str, TypedTable]] = []
    for name in sheets or book.sheet_names:
        rows = cast("list[list[object]]", book.get_sheet_by_name(name).to_python(skip_empty_area=False))
        if any(value != "" for row in rows for value in row):
            title = path.name if len(book.sheet_names) == 1 else f"{path.name}, sheet {name}"
            tables.append((title, _sheet(title, rows)))
    if not tables:
        raise LoadError(f"{path.name} has no values", next_step="Check that it is the right file.")
    return tables


def _sheet(title: str, rows: list[list[object]]) -> TypedTable:
    """The table of a sheet whose first row has the names of the columns.

    Raises:
        LoadError: there is a title above the names.
    """
    filled = [sum(value != "" for value in row) for row in rows[:_TITLE_ROWS]]
    if filled[0] < max(filled) and filled[0] <= 1:
        number = next(place for place, count in enumerate(filled, 1) if count == max(filled))
        raise LoadError(
            f"the first row of {title} is not the names of its columns: it has {filled[0]} of {max(filled)} fields",
            next_step=f"Remove the rows above row {number}, or load the sheet that has a table with --sheet NAME.",
        )
    names = tuple(text_of(value).strip() for value in rows[0])
    return TypedTable(names, lambda: iter(rows[1:]))


WORKBOOK = typed_format(
    "excel",
    "a workbook (Excel, OpenDocument)",
    (".xlsx", ".xlsm", ".xlsb", ".ods", ".xls"),
    binary(rb"PK\x03\x04.*(\[Content_Types\]\.xml|xl/|opendocument\.spreadsheet)|\xd0\xcf\x11\xe0"),
    open_tables=_open_sheets,
    extra="excel",
)
