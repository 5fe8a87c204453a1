"""Property graphs as node and edge files with neo4j-admin's headers, comma, tab, semicolon or bar between fields."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator

from kgnav_mcp.adapters.embedded.loading.headers import ARRAY_DELIMITER, Column, Header, Role, parse_header
from kgnav_mcp.adapters.embedded.loading.names import NAME, NameRules
from kgnav_mcp.adapters.embedded.loading.rejects import Rejects
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader, translated
from kgnav_mcp.adapters.embedded.loading.staging import BATCH, Staging
from kgnav_mcp.errors import LoadError

Value = tuple[str, str | None, str | None]
"""Text, datatype and language."""

FIELD_BYTES = 64 * 1024 * 1024
"""The csv module refuses longer fields; its own limit of 128 kB is below some texts."""


class PropertyStager:
    """Stages nodes and relationships of a property graph, whatever file they come from."""

    def __init__(self, staging: Staging, rules: NameRules) -> None:
        self.staging = staging
        self._rules = rules
        self._first_term = staging.terms.last + 1

    def node(self, key: str, labels: Iterable[str], properties: list[tuple[str, Value]]) -> None:
        """Stage a node.

        Raises:
            ValueError: a node with this key was staged before.
        """
        terms = self.staging.terms
        if terms.ids.get(key, 0) >= self._first_term:
            raise ValueError(f"the id {key!r} was given to a node before")
        node = terms.id(key)
        self.staging.labelled += [(node, self.staging.label(label)) for label in labels if label]
        best: int | None = None
        names: list[tuple[int, Value]] = []
        for name, value in properties:
            self.staging.properties.append((node, self.staging.relation(name), *value))
            kind = self._rules.properties.get(name.lower())
            if kind is None:
                continue
            if kind[0] == NAME:
                names.append((kind[1], value))
                best = kind[1] if best is None else min(best, kind[1])
            else:
                self._name(node, kind, value)
        for place, value in names:
            if place == best:
                self._name(node, (NAME, place), value)

    def _name(self, node: int, kind: tuple[int, int], value: Value) -> None:
        text, _, language = value
        self.staging.namings.append((node, kind[0], self._rules.rank(kind[1], language), language, text))

    def relationship(
        self, start: str, relation: str, end: str, properties: list[tuple[str, Value]], place: tuple[int, int]
    ) -> None:
        """Stage a relationship. `place` is the number of its source and its line there."""
        qualifiers: dict[str, list[Value]] = {}
        for name, value in properties:
            self.staging.relation(name)
            qualifiers.setdefault(name, []).append(value)
        terms = self.staging.terms
        self.staging.relationships.append(
            (
                terms.id(start),
                self.staging.relation(relation),
                terms.id(end),
                json.dumps(qualifiers, ensure_ascii=False, separators=(",", ":")) if qualifiers else None,
                *place,
            )
        )


def header_of(source: Source) -> Header:
    """The header of a node or edge file.

    Raises:
        LoadError: the file cannot be read, or its header makes no sense.
    """
    with translated(source), source.open() as reader:
        return _Table(source, reader).header


def read_nodes(source: Source, stager: PropertyStager, rejects: Rejects) -> None:
    """Stage every node of a file.

    Raises:
        LoadError: the file cannot be read.
        BadLine: a line is wrong, and bad lines are not skipped.
    """
    staging = stager.staging
    with translated(source), source.open() as reader:
        table = _Table(source, reader)
        key_column = table.header.of(Role.ID)[0]
        label_columns = table.header.of(Role.LABEL)
        for number, row in table.rows(rejects):
            try:
                key = _key(key_column, row)
                properties = _properties(table.header, row)
                if key_column.name:
                    properties.insert(0, (key_column.name, (row[key_column.place], None, None)))
                labels = [label for column in label_columns for label in row[column.place].split(ARRAY_DELIMITER)]
                stager.node(key, labels, properties)
            except ValueError as error:
                rejects.add(source.name, number, str(error))
            if len(staging.properties) >= BATCH or len(staging.labelled) >= BATCH:
                staging.checkpoint(source.name, reader.position)
        staging.checkpoint(source.name, reader.position)


def read_relationships(source: Source, index: int, stager: PropertyStager, rejects: Rejects) -> None:
    """Stage every relationship of a file. Ends that no node file has are found when all is read.

    Raises:
        LoadError: the file cannot be read.
        BadLine: a line is wrong, and bad lines are not skipped.
    """
    staging = stager.staging
    with translated(source), source.open() as reader:
        table = _Table(source, reader)
        start, end, kind = (table.header.of(role)[0] for role in (Role.START, Role.END, Role.TYPE))
        for number, row in table.rows(rejects):
            try:
                properties = _properties(table.header, row)
                stager.relationship(_key(start, row), _type(kind, row), _key(end, row), properties, (index, number))
            except ValueError as error:
                rejects.add(source.name, number, str(error))
            if len(staging.relationships) >= BATCH:
                staging.checkpoint(source.name, reader.position)
        staging.checkpoint(source.name, reader.position)


def _key(column: Column, row: list[str]) -> str:
    """The node's key: its id, with the ID space in front where the file names one, for ids are unique only there."""
    if not row[column.place]:
        raise ValueError(f"the column :{column.role} is empty")
    return f"{column.space}:{row[column.place]}" if column.space else row[column.place]


def _type(column: Column, row: list[str]) -> str:
    if not row[column.place]:
        raise ValueError("the relationship has no type")
    return row[column.place]


def _properties(header: Header, row: list[str]) -> list[tuple[str, Value]]:
    return [
        (column.name, (text, column.datatype, column.language))
        for column in header.of(Role.PROPERTY)
        for text in column.values(row[column.place])
    ]


class _Table:
    """A delimited file: its header, then its rows with the number of the line each begins on."""

    def __init__(self, source: Source, reader: SourceReader) -> None:
        self._source = source
        self._stream = reader.stream
        self._not_utf8 = 0
        first = self._stream.readline()
        try:
            line = first.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise LoadError(f"the header of {source.name} is not UTF-8", next_step="Convert the file.") from error
        self._delimiter = max("\t,;|", key=line.count)
        fields = next(csv.reader([line], delimiter=self._delimiter))
        self.header = parse_header(source.name, fields)
        self._width = len(fields)

    def rows(self, rejects: Rejects) -> Iterator[tuple[int, list[str]]]:
        """Rows with as many fields as the header; others are bad lines. Empty lines are left out."""
        csv.field_size_limit(FIELD_BYTES)
        reader = csv.reader(self._lines(), delimiter=self._delimiter, strict=True)
        begin = 2
        while True:
            try:
                row = next(reader, None)
            except csv.Error as error:
                rejects.add(self._source.name, begin, f"no valid CSV: {error}")
                row = []
            if row is None:
                return
            if self._not_utf8:
                rejects.add(self._source.name, self._not_utf8, "the line is not UTF-8")
                self._not_utf8 = 0
            elif len(row) == self._width:
                yield begin, row
            elif row:
                rejects.add(self._source.name, begin, f"{self._width} fields are expected, {len(row)} found")
            begin = reader.line_num + 2

    def _lines(self) -> Iterator[str]:
        for number, line in enumerate(self._stream, 2):
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError:
                self._not_utf8 = number
                yield line.decode("utf-8", "replace")
