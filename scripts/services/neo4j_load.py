"""Loads node and edge files with neo4j-admin's headers over Bolt: the files of `kgnav load`, into a live store.

Unlike the other scripts this needs packages: the Neo4j driver, and the project to parse headers.
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from neo4j import Driver, GraphDatabase, Session
from neo4j.exceptions import Neo4jError

from kgnav_mcp.adapters.embedded.loading.headers import ARRAY_DELIMITER, Column, Header, Role, parse_header
from kgnav_mcp.errors import LoadError

from . import neo4j_cypher as cypher
from .failure import ServiceError
from .neo4j_values import parse_value

T = TypeVar("T")

_BATCH = 10_000
"""Rows sent in one transaction."""
_ID = "id"
"""The property for ids from a column without a name."""
_NAMES = ("name", "title", "label", "aka", "alias", "aliases", "description")
"""Properties in the full-text index, in any language: those that `kgnav load` takes for names."""


def load(url: str, password: str, files: Sequence[Path], *, full_text: bool) -> None:
    """Load node files, then edge files.

    Raises:
        ServiceError: a file is not a node or edge file, a line is wrong, or an end of an edge is not a node.
    """
    with _session(url, password) as session:
        tables = [_Table(file) for file in files]
        loader = _Loader(session)
        for table in (table for table in tables if not table.header.relationships):
            loader.nodes(table)
        for table in (table for table in tables if table.header.relationships):
            loader.edges(table)
        if full_text:
            loader.index_names()


def clear(url: str, password: str) -> None:
    """Delete everything in batches that fit into memory."""
    with _session(url, password) as session:
        for name in session.run(cypher.CONSTRAINTS).value():
            session.run(cypher.statement(cypher.DROP_CONSTRAINT, name)).consume()
        for name in session.run(cypher.INDEXES).value():
            session.run(cypher.statement(cypher.DROP_INDEX, name)).consume()
        session.run(cypher.DELETE_EDGES, batch=_BATCH).consume()
        session.run(cypher.DELETE_NODES, batch=_BATCH).consume()


@contextmanager
def _session(url: str, password: str) -> Generator[Session]:
    auth = ("neo4j", password) if password else None
    driver: Driver = GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType] - the driver's own keywords
        url, auth=auth, notifications_min_severity="OFF"
    )
    with driver:
        try:
            session: Session = driver.session(  # pyright: ignore[reportUnknownMemberType] - as above
                database="neo4j"
            )
            with session:
                yield session
        except Neo4jError as error:
            raise ServiceError(str(error.message)) from error


class _Loader:
    """Loads the rows of files. `_places` has the nodes' ids in the store by their ids in the files."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._places: dict[tuple[str, str], str] = {}
        self._labels: set[str] = set()
        self._names: set[str] = set()

    def nodes(self, table: _Table) -> None:
        id_column = table.header.of(Role.ID)[0]
        for rows in _batches(table.rows()):
            groups: dict[tuple[str, ...], list[tuple[tuple[str, str], dict[str, Any]]]] = defaultdict(list)
            for row in rows:
                labels = tuple(
                    sorted({label for column in table.header.of(Role.LABEL) for label in _split(row, column)})
                )
                key = row[id_column.place]
                properties = _properties(table.header, row)
                groups[labels].append(((id_column.space, key), {id_column.name or _ID: key, **properties}))
                self._names |= {name for name in properties if name.partition("@")[0].lower() in _NAMES}
            for labels, members in groups.items():
                self._constrain(labels, id_column.name or _ID)
                statement = cypher.statement(cypher.CREATE_NODES, *labels)
                made_nodes = self._session.run(statement, rows=[properties for _, properties in members]).value()
                self._places.update(zip((key for key, _ in members), made_nodes, strict=True))

    def edges(self, table: _Table) -> None:
        start, end, kind = (table.header.of(role)[0] for role in (Role.START, Role.END, Role.TYPE))
        for rows in _batches(table.rows()):
            groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for row in rows:
                edge = {"start": self._place(start, row), "end": self._place(end, row)}
                groups[row[kind.place]].append({**edge, "properties": _properties(table.header, row)})
            for name, members in groups.items():
                self._session.run(cypher.statement(cypher.CREATE_EDGES, name), rows=members).consume()

    def index_names(self) -> None:
        """Create one full-text index of all names on all labels."""
        if self._labels and self._names:
            self._session.run(cypher.full_text_index(sorted(self._labels), sorted(self._names))).consume()
            self._session.run(cypher.AWAIT_INDEXES).consume()

    def _constrain(self, labels: Iterable[str], key: str) -> None:
        for label in set(labels) - self._labels:
            self._session.run(cypher.unique_constraint(label, key)).consume()
            self._labels.add(label)

    def _place(self, column: Column, row: Sequence[str]) -> str:
        key = row[column.place]
        place = self._places.get((column.space, key))
        if place is None:
            raise ServiceError(f"an edge has the end {key!r}, which no node file has")
        return place


class _Table:
    """One file: its header and its rows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as lines:
            first = next(iter(lines), "")
        try:
            self.header = parse_header(path.name, first)
        except LoadError as error:
            raise ServiceError(f"{error.message}. {error.next_step}") from error

    def rows(self) -> Iterator[list[str]]:
        csv.field_size_limit(64 * 1024 * 1024)
        with self._open() as lines:
            record: list[str] = []
            reader = csv.reader(_recorded(lines, record), delimiter=self.header.dialect.delimiter, strict=True)
            next(reader)
            record.clear()
            for row in reader:
                if len(row) != len(self.header.columns):
                    raise ServiceError(f"{self._path}:{reader.line_num}: {len(self.header.columns)} fields expected")
                yield self.header.dialect.with_empty_texts(row, "".join(record))
                record.clear()

    @contextmanager
    def _open(self) -> Generator[Iterable[str]]:
        opened = gzip.open if self._path.suffix == ".gz" else open
        with opened(self._path, "rt", encoding="utf-8-sig", newline="") as lines:
            yield lines


def _properties(header: Header, row: Sequence[str]) -> dict[str, Any]:
    """The values of a row by property. Several columns with one name, and arrays, become a list."""
    found: dict[str, list[Any]] = defaultdict(list)
    several: set[str] = set()
    for column in header.of(Role.PROPERTY):
        name = f"{column.name}@{column.language}" if column.language else column.name
        try:
            values = [parse_value(text, column.datatype) for text, *_ in column.values(row[column.place])]
        except ValueError as error:
            raise ServiceError(f"the property {name}: {error}") from error
        found[name] += values
        if column.array:
            several.add(name)
    return {
        name: values if len(values) > 1 or name in several else values[0] for name, values in found.items() if values
    }


def _recorded(lines: Iterable[str], record: list[str]) -> Iterator[str]:
    """The lines, each added to the record when it is read."""
    for line in lines:
        record.append(line)
        yield line


def _split(row: Sequence[str], column: Column) -> list[str]:
    return [label for label in row[column.place].split(ARRAY_DELIMITER) if label]


def _batches(items: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(islice(items, _BATCH)):
        yield batch
