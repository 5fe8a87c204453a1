"""Tables that are not text: workbooks (Excel, OpenDocument), Parquet and Feather. Each sheet is a table.

Their cells have types, which are kept: numbers, booleans, dates and times. Readers are extras, imported on use.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, cast

from kgnav_mcp.adapters.embedded.loading.chosen_columns import suggested_commands
from kgnav_mcp.adapters.embedded.loading.columns import header_from_names
from kgnav_mcp.adapters.embedded.loading.headers import Dialect, Header, Role, written_number
from kgnav_mcp.adapters.embedded.loading.layout import KNOWN_COLUMNS, Layout
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions
from kgnav_mcp.adapters.embedded.loading.sources import Format, Source
from kgnav_mcp.clipping import comma_list, echoed
from kgnav_mcp.errors import LoadError

_LISTED = 200
_SAMPLE = 1_000
"""Rows by which the roles and types of columns are found where a format has no types of columns."""
_TITLE_ROWS = 5
"""Rows that a title and blanks above the names of the columns may take, which is refused."""


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


def typed_tables(path: Path, options: LoadOptions) -> list[Source]:
    """Returns the tables in a file; none if it is of another kind, or its reader is not known.

    Raises:
        LoadError: it cannot be read, its reader is not installed, or its columns are not understood.
    """
    open_tables = _READERS.get(path.suffix.lower())
    if open_tables is None or not path.is_file():
        return []
    try:
        tables = open_tables(path, options)
    except ImportError as error:
        extra = "excel" if open_tables is _workbook else "columns"
        raise LoadError(
            f"{path.name} needs the package {error.name}, which is not installed",
            next_step=f"Install the extra: pip install 'kgnav-mcp[{extra}]'. Or save the table as CSV.",
        ) from error
    size = path.stat().st_size // (len(tables) or 1)
    return [_source(path, name, table, size, options) for name, table in tables]


def _source(path: Path, name: str, table: TypedTable, size: int, options: LoadOptions) -> Source:
    names = list(table.names)
    header = options.columns.header(name, names)
    if header is None:
        sample = [fields for _, fields in islice(table.rows(), _SAMPLE)]
        header = header_from_names(names, sample, Dialect())
        if header is None:
            shown = suggested_commands(path.name, names, sample)
            raise LoadError(
                f"the first row of {name} names no columns that are understood: {comma_list(names, _LISTED)}",
                next_step=f"{shown}\n{KNOWN_COLUMNS}" if shown else KNOWN_COLUMNS,
            )
    return Source(path, name, Format.TABLE, compressed=False, size=size, layout=Layout(_typed(header, table)), table=table)


def _typed(header: Header, table: TypedTable) -> Header:
    from dataclasses import replace  # noqa: PLC0415

    datatypes = [datatype for _, datatype in table.columns]
    columns = (
        replace(column, datatype=datatypes[column.place], array=column.array or datatypes[column.place] == "list")
        if column.role in (Role.PROPERTY, Role.NAME)
        else column
        for column in header.columns
    )
    return replace(header, columns=tuple(columns))


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
    """Returns a cell's value as text; empty for none. A whole number has no decimal point: spreadsheets have no integers."""
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


def _workbook(path: Path, options: LoadOptions) -> list[tuple[str, TypedTable]]:
    import python_calamine  # noqa: PLC0415 - an extra

    try:
        book = python_calamine.CalamineWorkbook.from_path(str(path))
    except (python_calamine.CalamineError, OSError) as error:
        raise LoadError(
            f"{path.name} is not a workbook that can be read: {error}", next_step="Save it again, or as CSV."
        ) from error
    absent = [name for name in options.sheets if name not in book.sheet_names]
    if absent:
        raise LoadError(
            f"{path.name} has no sheet {echoed(absent[0])}",
            next_step=f"Its sheets: {comma_list(book.sheet_names, _LISTED)}.",
        )
    tables: list[tuple[str, TypedTable]] = []
    for name in options.sheets or book.sheet_names:
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


def _parquet(path: Path, _: LoadOptions) -> list[tuple[str, TypedTable]]:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        schema = cast("Any", pq.read_schema(path))
    except (pa.ArrowException, OSError) as error:
        raise _not_readable(path, "Parquet", error) from error

    def read() -> Iterator[Sequence[object]]:
        with pq.ParquetFile(path) as file:
            for batch in cast("Any", file).iter_batches(batch_size=_BATCH):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    return [(path.name, _arrow_table(schema, read))]


def _feather(path: Path, _: LoadOptions) -> list[tuple[str, TypedTable]]:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.ipc  # noqa: PLC0415

    def read() -> Iterator[Sequence[object]]:
        with pa.memory_map(str(path)) as file:
            reader = cast("Any", pa.ipc.open_file(file))
            for number in range(reader.num_record_batches):
                for part in reader.get_batch(number).to_struct_array().to_pylist():
                    yield list(part.values())

    try:
        with pa.memory_map(str(path)) as file:
            schema = cast("Any", pa.ipc.open_file(file)).schema
    except (pa.ArrowException, OSError) as error:
        raise _not_readable(path, "Feather", error) from error
    return [(path.name, _arrow_table(schema, read))]


_BATCH = 20_000


def _arrow_table(schema: Any, read: Callable[[], Iterator[Sequence[object]]]) -> TypedTable:
    types = {place: _arrow_datatype(kind) for place, kind in enumerate(schema.types)}
    return TypedTable(tuple(schema.names), read, {place: kind for place, kind in types.items() if kind is not None})


def _arrow_datatype(kind: Any) -> str | None:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    types = cast("Any", pa.types)
    tests: tuple[tuple[Callable[[Any], bool], str], ...] = (
        (types.is_boolean, "boolean"),
        (types.is_integer, "integer"),
        (types.is_floating, "float"),
        (types.is_decimal, "float"),
        (types.is_date, "date"),
        (lambda each: types.is_timestamp(each) and each.tz is None, "localdatetime"),
        (types.is_timestamp, "datetime"),
        (types.is_time, "localtime"),
        (types.is_list, "list"),
        (types.is_nested, "json"),
    )
    if types.is_dictionary(kind):
        return _arrow_datatype(kind.value_type)
    return next((datatype for test, datatype in tests if test(kind)), None)


def _not_readable(path: Path, kind: str, error: Exception) -> LoadError:
    return LoadError(f"{path.name} is not a {kind} file that can be read: {error}", next_step="Write the file again.")


_READERS: Mapping[str, Callable[[Path, LoadOptions], list[tuple[str, TypedTable]]]] = {
    ".xlsx": _workbook,
    ".xlsm": _workbook,
    ".xlsb": _workbook,
    ".xls": _workbook,
    ".ods": _workbook,
    ".parquet": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
}
