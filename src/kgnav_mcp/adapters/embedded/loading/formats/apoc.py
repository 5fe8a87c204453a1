"""Reads the exports of Neo4j's APOC: JSON with one node or relationship per line, and CSV with both in one table."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from kgnav_mcp.adapters.embedded.loading.edges import with_inferred_types
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys, text
from kgnav_mcp.adapters.embedded.loading.headers import (
    ADMIN_DELIMITERS,
    Column,
    Dialect,
    Header,
    PropertyValue,
    Role,
    literal_values,
)
from kgnav_mcp.adapters.embedded.loading.json_stream import JsonStream
from kgnav_mcp.adapters.embedded.loading.layout import Layout
from kgnav_mcp.adapters.embedded.loading.network import Edge, Entry, Node, as_mapping, network_format
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import (
    FileFormat,
    Source,
    SourceReader,
    lines,
    rows,
    stage_entries,
    translated,
)
from kgnav_mcp.adapters.embedded.loading.staging_writer import PropertyStager

LONGEST_JSON = 16 * 1024 * 1024
"""Maximum length of a line in characters. Its parsed lists and objects take up to 25 times as much memory."""

NO_OBJECT = "not a JSON object with a type of node or relationship"
_ENTERED = frozenset(((), ("nodes",), ("rels",)))


def _lines(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, Entry]]:
    for number, line in lines(source, reader, problems):
        try:
            yield number, _entry(_parsed(line))
        except ValueError as error:
            problems.reject(source.name, number, str(error))


def _document(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, Entry]]:
    for line, _, value in JsonStream(source, reader).values(_ENTERED.__contains__):
        try:
            yield line, _entry(value)
        except ValueError as error:
            problems.reject(source.name, line, str(error))


def _parsed(line: str) -> object:
    if len(line) > LONGEST_JSON:
        raise ValueError(f"the line is longer than {LONGEST_JSON // 2**20} MB")
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{NO_OBJECT}: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError(f"{NO_OBJECT}: it is nested too deeply") from error
    if "\\ud" in line.lower():
        _check_surrogates(value)
    return value


def _check_surrogates(value: object) -> None:
    """Raises ValueError for a lone surrogate, which JSON allows as an escape but UTF-8 cannot encode."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("the line escapes half a character (a lone surrogate)") from error


def _entry(value: object) -> Entry:
    """Returns the node or the relationship that a JSON value is.

    Raises:
        ValueError: it is neither, or not as APOC writes them.
    """
    record = as_mapping(value)
    attributes = as_mapping(record.get("properties"))
    if not attributes and record.get("properties") not in (None, {}):
        raise ValueError("properties are not a JSON object")
    match record.get("type"):
        case "node":
            labels = record.get("labels")
            names = cast("list[object]", labels) if isinstance(labels, list) else []
            return Node(record.get("id"), attributes, tuple(map(str, names)))
        case "relationship":
            relation = record.get("label")
            if not isinstance(relation, str) or not relation:
                raise ValueError("the relationship has no label")
            start, end = (as_mapping(record.get(end)).get("id") for end in ("start", "end"))
            return Edge(start, end, attributes, relation=relation)
        case _:
            raise ValueError(NO_OBJECT)


_ENTRY = re.compile(rb'"type"\s*:\s*"(node|relationship)"')
_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"(node|relationship)"')


def _begins_with_line(start: bytes) -> bool:
    """Whether the first line is an entry. Its properties may have any name, such as `@id`."""
    return bool(_FIRST.match(start) or ("type" in json_keys(start) and _ENTRY.search(start)))


_ARRAY = re.compile(rb'\s*\[\s*\{\s*"(?:type|id)"\s*:')


def _begins_document(start: bytes) -> bool:
    return bool(_ENTRY.search(start)) and bool(_ARRAY.match(start) or "nodes" in json_keys(start))


APOC = network_format(
    "apoc", "an export of APOC in JSON", (".json", ".jsonl"), _begins_with_line, _lines, names_by_id=False
)
APOC_JSON = network_format(
    "apoc-json", "an export of APOC as one JSON document", (), _begins_document, _document, names_by_id=False
)


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
        members: object = json.loads(field)
    except (ValueError, RecursionError):
        return None
    return cast("list[object]", members) if isinstance(members, list) else None


def _read_nodes(source: Source, stager: PropertyStager, problems: LoadProblems) -> None:
    source = _with_header(source)
    header = source.header
    key, labels = header.of(Role.ID)[0], header.of(Role.LABEL)[0]

    def stage(_: int, row: list[str]) -> None:
        if row[key.place]:
            names = row[labels.place].removeprefix(":").split(":")
            stager.node(row[key.place], names, [*_properties(header, row)])

    stage_entries(source, stager.staging, problems, rows, stage)


def _read_edges(source: Source, index: int, stager: PropertyStager, problems: LoadProblems) -> None:
    source = _with_header(source)
    header = source.header
    start, end, kind = (header.of(role)[0] for role in (Role.START, Role.END, Role.TYPE))

    def stage(number: int, row: list[str]) -> None:
        if row[start.place]:
            ends = start.key(row), end.key(row)
            stager.relationship(ends[0], kind.key(row), ends[1], [*_properties(header, row)], (index, number))

    stage_entries(source, stager.staging, problems, rows, stage, reported=True)


APOC_CSV = FileFormat(
    "apoc-csv",
    "an export of APOC in CSV",
    begins=text(rb'"?_id"?[,;\t|]"?_labels"?[,;\t|][^\n]*"?_start"?[,;\t|]"?_end"?[,;\t|]"?_type"?'),
    read_nodes=_read_nodes,
    read_edges=_read_edges,
)
