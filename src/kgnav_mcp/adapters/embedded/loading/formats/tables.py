"""Reads tables with a row for each triple, edge or node: text files, columnar files (Parquet, Feather) and workbooks.

The module `layout` decides by the first lines or the column names what a row is, and what each column contains.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from kgnav_mcp.adapters.embedded.loading.edges import (
    describe_table,
    read_edges,
    read_triples,
    with_inferred_types,
)
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import Begins, binary
from kgnav_mcp.adapters.embedded.loading.headers import Column, Role
from kgnav_mcp.adapters.embedded.loading.layout import ARRAY, TypedTable, cell_text
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source, rows, stage_entries
from kgnav_mcp.adapters.embedded.loading.staging_writer import PropertyStager
from kgnav_mcp.clipping import comma_list, echoed
from kgnav_mcp.errors import LoadError


def _read_nodes(source: Source, stager: PropertyStager, problems: LoadProblems) -> None:
    if source.has_nodes:
        _stage_nodes(source if source.header.admin else with_inferred_types(source), stager, problems)
        if not source.has_edges and not source.header.admin:
            problems.notes += describe_table(source, stager.default_relation)


def _read_edges(source: Source, index: int, stager: PropertyStager, problems: LoadProblems) -> None:
    if source.has_edges:
        _stage_edges(source, index, stager, problems)
    if source.table is not None and source.table.omitted:
        problems.notes.append(f"{source.name}: omitted {source.table.omitted:,} binary values")


def _stage_edges(source: Source, index: int, stager: PropertyStager, problems: LoadProblems) -> None:
    if source.layout.header is None and not source.layout.edges and source.form is TRIPLES:
        read_triples(source, stager.staging, problems)
    else:
        read_edges(source, index, stager, problems)
    problems.notes += describe_table(source, stager.default_relation)


def _read_relationships(source: Source, index: int, stager: PropertyStager, problems: LoadProblems) -> None:
    if not source.has_nodes:
        _stage_relationships(source, index, stager, problems)


def _stage_nodes(source: Source, stager: PropertyStager, problems: LoadProblems) -> None:
    """Stages every node of a file.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """
    header = source.header
    key_column = header.of(Role.ID)[0]
    label_columns = header.of(Role.LABEL)
    name_columns = header.of(Role.NAME)
    read_properties = header.property_reader()

    def stage(_: int, row: list[str]) -> None:
        key = key_column.key(row)
        properties = read_properties(row)
        if key_column.name and header.admin:
            properties.insert(0, (key_column.name, (row[key_column.place], None, None, None)))
        labels = [label for column in label_columns for label in column.items(row[column.place])]
        stager.node(key, [header.label, *labels], properties)
        for column in name_columns:
            if row[column.place].strip():
                stager.name(key, row[column.place])
                stager.has_names = True

    stage_entries(source, stager.staging, problems, rows, stage)


def _stage_relationships(source: Source, index: int, stager: PropertyStager, problems: LoadProblems) -> None:
    """Stages every relationship of a file. Ends without a node are found after all sources are read.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """
    header = source.header
    start, end, kind = (header.of(role)[0] for role in (Role.START, Role.END, Role.TYPE))
    read_properties = header.property_reader()

    def stage(number: int, row: list[str]) -> None:
        properties = read_properties(row)
        stager.relationship(start.key(row), _type(kind, row), end.key(row), properties, (index, number))

    stage_entries(source, stager.staging, problems, rows, stage)


def _type(column: Column, row: list[str]) -> str:
    if not row[column.place]:
        raise ValueError("the relationship has no type")
    return row[column.place]


def _typed_format(
    name: str,
    title: str,
    suffixes: tuple[str, ...],
    begins: Begins,
    *,
    open_tables: Callable[[Path, Sequence[str]], list[tuple[str, TypedTable]]],
    extra: str,
) -> FileFormat:
    """A format of files with typed tables."""
    return FileFormat(
        name,
        title,
        "table",
        suffixes,
        begins,
        read_nodes=_read_nodes,
        read_edges=_read_edges,
        open_tables=open_tables,
        extra=extra,
    )


TRIPLES = FileFormat(
    "triples", "a table", "table", (".csv", ".tsv", ".txt"), read_nodes=_read_nodes, read_edges=_read_edges
)
EDGES = FileFormat(
    "edges", "an edge list", "table", (".edges", ".edgelist"), read_nodes=_read_nodes, read_edges=_read_edges
)
SIF = FileFormat("sif", "Cytoscape's SIF", "table", (".sif",), read_edges=_read_edges)
PROPERTY_GRAPH = FileFormat(
    "property-graph",
    "tables with the headers of neo4j-admin or Amazon Neptune",
    read_nodes=_read_nodes,
    read_edges=_read_relationships,
)
TABLES = (TRIPLES, EDGES, SIF, PROPERTY_GRAPH)
"""The formats whose files have a layout."""


# Columnar files: Parquet and Feather (Arrow IPC). Columns have types, and rows are read in batches.

_BATCH = 20_000
"""Rows in memory at a time."""


def _module(name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """A module of the extra."""
    return import_module(name)


def _parquet(path: Path, _: Sequence[str]) -> list[tuple[str, TypedTable]]:
    pa, pq = _module("pyarrow"), _module("pyarrow.parquet")

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise _not_readable(path, "Parquet", error) from error

    def read() -> Iterator[Sequence[object]]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    return [(path.name, _arrow_table(schema, read))]


def _feather(path: Path, _: Sequence[str]) -> list[tuple[str, TypedTable]]:
    pa, ipc = _module("pyarrow"), _module("pyarrow.ipc")

    def read() -> Iterator[Sequence[object]]:
        with pa.memory_map(str(path)) as file:
            reader = ipc.open_file(file)
            for number in range(reader.num_record_batches):
                for part in reader.get_batch(number).to_struct_array().to_pylist():
                    yield list(part.values())

    try:
        with pa.memory_map(str(path)) as file:
            schema = ipc.open_file(file).schema
    except (pa.ArrowException, OSError) as error:
        raise _not_readable(path, "Feather", error) from error
    return [(path.name, _arrow_table(schema, read))]


def _arrow_table(schema: Any, read_rows: Callable[[], Iterator[Sequence[object]]]) -> TypedTable:  # noqa: ANN401 - as above
    types = {place: _arrow_datatype(kind) for place, kind in enumerate(schema.types)}
    return TypedTable(
        tuple(schema.names),
        read_rows,
        {place: kind for place, kind in types.items() if kind is not None},
        binary_columns=[place for place, kind in enumerate(schema.types) if _has_binary(kind)],
    )


def _has_binary(kind: Any) -> bool:  # noqa: ANN401 - as above
    """Whether values of a type are binary, or contain binary ones."""
    types = _module("pyarrow.types")
    if types.is_dictionary(kind):
        return _has_binary(kind.value_type)
    tests = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return any(test(kind) for test in tests) or any(
        _has_binary(kind.field(place).type) for place in range(kind.num_fields)
    )


def _arrow_datatype(kind: Any) -> str | None:  # noqa: ANN401 - as above
    types = _module("pyarrow.types")
    tests: tuple[tuple[Callable[[Any], bool], str], ...] = (
        (types.is_boolean, "boolean"),
        (types.is_integer, "integer"),
        (types.is_floating, "float"),
        (types.is_decimal, "float"),
        (types.is_date, "date"),
        (lambda each: types.is_timestamp(each) and each.tz is None, "localdatetime"),
        (types.is_timestamp, "datetime"),
        (types.is_time, "localtime"),
        (types.is_nested, "json"),
    )
    if types.is_dictionary(kind):
        return _arrow_datatype(kind.value_type)
    if types.is_list(kind) or types.is_large_list(kind):
        return f"{_arrow_datatype(kind.value_type) or ''}{ARRAY}"
    return next((datatype for test, datatype in tests if test(kind)), None)


def _not_readable(path: Path, kind: str, error: Exception) -> LoadError:
    return LoadError(
        f"{path.name} looks like a {kind} file that cannot be read: {str(error).strip()}",
        next_step="Write the file again.",
    )


PARQUET = _typed_format(
    "parquet", "Parquet", (".parquet",), binary(rb"PAR1[\x00-\x08\x0e-\x1f]"), open_tables=_parquet, extra="columns"
)
FEATHER = _typed_format(
    "feather",
    "Feather (Arrow)",
    (".feather", ".arrow"),
    binary(rb"ARROW1\x00\x00"),
    open_tables=_feather,
    extra="columns",
)


# Workbooks: Excel and OpenDocument. Each sheet with values is a table, whose first row names the columns.

_LISTED = 200
_TITLE_ROWS = 5
"""Rows that a title and blanks below it may take above the names of the columns."""


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
        cells = cast("list[list[object]]", book.get_sheet_by_name(name).to_python(skip_empty_area=False))
        rows = [[_without_midnight(value) for value in row] for row in cells]
        if any(value != "" for row in rows for value in row):
            title = path.name if len(book.sheet_names) == 1 else f"{path.name}, sheet {name}"
            tables.append((title, _sheet(title, rows)))
    if not tables:
        raise LoadError(f"{path.name} has no values", next_step="Check that it is the right file.")
    return tables


def _without_midnight(value: object) -> object:
    """The date of a time at midnight: workbooks have one type for both."""
    return value.date() if isinstance(value, dt.datetime) and value.time() == dt.time() else value


def _sheet(title: str, rows: list[list[object]]) -> TypedTable:
    """The table of a sheet whose first row with values has the names of the columns.

    Raises:
        LoadError: there is a title above the names.
    """
    blank = next(place for place, row in enumerate(rows) if any(value != "" for value in row))
    rows = rows[blank:]
    filled = [sum(value != "" for value in row) for row in rows[:_TITLE_ROWS]]
    if filled[0] < max(filled) and filled[0] <= 1:
        number = blank + next(place for place, count in enumerate(filled, 1) if count == max(filled))
        raise LoadError(
            f"the first row of {title} is not the names of its columns: it has {filled[0]} of {max(filled)} fields",
            next_step=f"Remove the rows above row {number}, or load the sheet that has a table with --sheet NAME.",
        )
    names = tuple(cell_text(value).strip() for value in rows[0])
    return TypedTable(names, lambda: iter(rows[1:]), first_row=blank + 2)


WORKBOOK = _typed_format(
    "excel",
    "a workbook (Excel, OpenDocument)",
    (".xlsx", ".xlsm", ".xlsb", ".ods", ".xls"),
    binary(rb"PK\x03\x04.*(\[Content_Types\]\.xml|xl/|opendocument\.spreadsheet)|\xd0\xcf\x11\xe0"),
    open_tables=_open_sheets,
    extra="excel",
)
