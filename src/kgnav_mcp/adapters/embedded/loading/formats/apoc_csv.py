"""Reads APOC's CSV export: nodes and relationships in one table.

"_id","_labels","name","year","_start","_end","_type","roles"
"1",":Person:Actor","Ann","","","","",""
"","","","","1","2","ACTED_IN","[""Neo""]"
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from kgnav_mcp.adapters.embedded.loading.edges import with_inferred_types
from kgnav_mcp.adapters.embedded.loading.entries import rows, stage_entries
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import text
from kgnav_mcp.adapters.embedded.loading.headers import (
    ADMIN_DELIMITERS,
    Column,
    Dialect,
    Header,
    PropertyValue,
    Role,
    literal_values,
)
from kgnav_mcp.adapters.embedded.loading.layout import Layout
from kgnav_mcp.adapters.embedded.loading.load_problems import LoadProblems
from kgnav_mcp.adapters.embedded.loading.property_graph import PropertyStager
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source, translated

_ROLES = {
    "_id": Role.ID,
    "_labels": Role.LABEL,
    "_start": Role.START,
    "_end": Role.END,
    "_type": Role.TYPE,
}
_LONGEST_HEADER = 1 << 20


def _with_header(source: Source) -> Source:
    """Returns the source with the columns of its first line. An empty field has no value, with quotes too."""
    with translated(source), source.open() as reader:
        line = reader.stream.readline(_LONGEST_HEADER).decode("utf-8-sig", "replace")
    dialect = Dialect(max(ADMIN_DELIMITERS, key=line.count))
    names = next(csv.reader([line], delimiter=dialect.delimiter))
    columns = tuple(Column(place, name, _ROLES.get(name, Role.PROPERTY)) for place, name in enumerate(names))
    return with_inferred_types(replace(source, layout=Layout(Header(columns, dialect, empty_texts=False))))


def _properties(header: Header, row: list[str]) -> Iterator[tuple[str, PropertyValue]]:
    """Yields the properties of a row. APOC writes arrays, points and maps as JSON."""
    for column in header.of(Role.PROPERTY):
        field = row[column.place]
        array = _json_array(field) if field.startswith("[") and column.datatype is None else None
        values = column.values(field) if array is None else literal_values(array)
        yield from ((column.name, value) for value in values)


def _json_array(field: str) -> list[object] | None:
    try:
        found: object = json.loads(field)
    except (ValueError, RecursionError):
        return None
    return cast("list[object]", found) if isinstance(found, list) else None


def _read_nodes(source: Source, stager: PropertyStager, findings: LoadProblems) -> None:
    source = _with_header(source)
    header = source.header
    key, labels = header.of(Role.ID)[0], header.of(Role.LABEL)[0]

    def stage(_: int, row: list[str]) -> None:
        if row[key.place]:
            names = row[labels.place].removeprefix(":").split(":")
            stager.node(row[key.place], names, [*_properties(header, row)])

    stage_entries(source, stager.staging, findings, rows, stage)


def _read_edges(source: Source, index: int, stager: PropertyStager, findings: LoadProblems) -> None:
    source = _with_header(source)
    header = source.header
    start, end, kind = (header.of(role)[0] for role in (Role.START, Role.END, Role.TYPE))

    def stage(number: int, row: list[str]) -> None:
        if row[start.place]:
            ends = start.key(row), end.key(row)
            stager.relationship(ends[0], kind.key(row), ends[1], [*_properties(header, row)], (index, number))

    stage_entries(source, stager.staging, findings, rows, stage, reported=True)


APOC_CSV = FileFormat(
    "apoc-csv",
    "an export of APOC in CSV",
    begins=text(rb'"?_id"?[,;\t|]"?_labels"?[,;\t|][^\n]*"?_start"?[,;\t|]"?_end"?[,;\t|]"?_type"?'),
    read_nodes=_read_nodes,
    read_edges=_read_edges,
)
