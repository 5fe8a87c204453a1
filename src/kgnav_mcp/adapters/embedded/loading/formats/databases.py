"""Reads SQLite and DuckDB databases by their foreign keys: tables are labels, rows are nodes, references are edges.

The key of a node is `table:primary key`. A column of a foreign key is an edge, which is named after the column without
`_id`; other columns are properties. A table without a primary key of its own, whose rows only join two others, gives
edges between these, with its other columns as qualifiers. Views are omitted. The file is opened read-only.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from kgnav_mcp.adapters.embedded.fileformat import APPLICATION_ID
from kgnav_mcp.adapters.embedded.loading.columns import normalized
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import binary
from kgnav_mcp.adapters.embedded.loading.headers import PropertyValue, written_number
from kgnav_mcp.adapters.embedded.loading.layout import cell_text, datatype_of, without_binary
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source
from kgnav_mcp.adapters.embedded.loading.staging_writer import PropertyStager
from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import LoadError

_ID_SUFFIX = re.compile(r"(?<=.)(?:_id|Id|ID|_key)$")
_FIRST_NAMES, _LAST_NAMES = ("firstname", "givenname", "forename"), ("lastname", "familyname", "surname")
_FOREIGN_KEYS = """
SELECT constraint_column_names, referenced_table, referenced_column_names FROM duckdb_constraints()
WHERE constraint_type = 'FOREIGN KEY' AND table_name = ? AND schema_name = 'main'
"""
_PRIMARY_KEY = """
SELECT constraint_column_names FROM duckdb_constraints()
WHERE constraint_type = 'PRIMARY KEY' AND table_name = ? AND schema_name = 'main'
"""


@dataclass(frozen=True, slots=True)
class _Reference:
    """A foreign key: columns here, and the table and columns that they refer to."""

    columns: tuple[str, ...]
    table: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    """The columns of the primary key; none if there is none."""
    references: tuple[_Reference, ...]

    @property
    def is_join(self) -> bool:
        """Whether its rows are edges: it refers to two tables, and nothing but these references identifies a row."""
        if len(self.references) != 2:
            return False
        referring = {column for reference in self.references for column in reference.columns}
        return set(self.key) <= referring

    @property
    def name_columns(self) -> tuple[str, ...]:
        """The columns that name a row: `Name`, else first and last name, else the only other one that ends so.

        Properties that are always names (`name`, `title`, `label`) are not among them, unless nothing else is.
        """
        by_form = {normalized(column): column for column in self.columns}
        if "name" in by_form:
            return (by_form["name"],)
        first = next((by_form[form] for form in _FIRST_NAMES if form in by_form), None)
        last = next((by_form[form] for form in _LAST_NAMES if form in by_form), None)
        if first and last:
            return (first, last)
        own_forms = [form for form in by_form if form in {f"{stem}name" for stem in _stems(normalized(self.name))}]
        return (by_form[own_forms[0]],) if own_forms else ()

    def place(self, columns: Sequence[str]) -> list[int]:
        return [self.columns.index(column) for column in columns]


def _stems(name: str) -> tuple[str, ...]:
    """A table's name in forms that its columns may have: `categories` and `category`, `customers` and `company`."""
    return (name, name.removesuffix("s"), name.removesuffix("ies") + "y", name.removesuffix("es"), "company", "full")


class _Database(Protocol):
    """An open database."""

    def tables(self) -> list[_Table]: ...

    def rows(self, table: _Table) -> Iterator[Sequence[object]]:
        """Yields the values of each row; of a SQLite table without a primary key, its rowid as a last value."""
        ...


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


class _Sqlite:
    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        self._connection.text_factory = _text

    def close(self) -> None:
        self._connection.close()

    def tables(self) -> list[_Table]:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        if application == APPLICATION_ID:
            raise LoadError("it is a graph file already", next_step="Serve it: kgnav-mcp --graph FILE.")
        names = self._connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        return [self._table(name) for (name,) in names.fetchall() if not name.startswith("sqlite_")]

    def _table(self, name: str) -> _Table:
        columns = self._connection.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
        keys: dict[int, list[tuple[str, str, str | None]]] = {}
        for number, _, table, column, target, *_ in self._connection.execute(
            f"PRAGMA foreign_key_list({_quoted(name)})"
        ):
            keys.setdefault(number, []).append((table, column, target))
        references = tuple(self._reference(keys[number]) for number in sorted(keys, reverse=True))
        primary = tuple(column for _, column in sorted((row[5], row[1]) for row in columns if row[5]))
        return _Table(name, tuple(row[1] for row in columns), primary, references)

    def _reference(self, parts: list[tuple[str, str, str | None]]) -> _Reference:
        table = parts[0][0]
        targets = tuple(target for *_, target in parts if target is not None)
        if len(targets) != len(parts):  # a reference without columns means the primary key
            columns = self._connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
            targets = tuple(column for _, column in sorted((row[5], row[1]) for row in columns if row[5]))
        return _Reference(tuple(column for _, column, _ in parts), table, targets)

    def rows(self, table: _Table) -> Iterator[Sequence[object]]:
        extra = "" if table.key else ", rowid"
        columns = ", ".join(map(_quoted, table.columns))
        yield from self._connection.execute(f"SELECT {columns}{extra} FROM {_quoted(table.name)}")  # noqa: S608 - quoted


class _DuckDb:
    def __init__(self, path: Path) -> None:
        duckdb = cast("Any", import_module("duckdb"))
        self._connection = duckdb.connect(str(path), read_only=True)

    def close(self) -> None:
        self._connection.close()

    def tables(self) -> list[_Table]:
        names = self._connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal ORDER BY table_name"
        )
        return [self._table(name) for (name,) in names.fetchall()]

    def _table(self, name: str) -> _Table:
        described = self._connection.execute(f"SELECT * FROM {_quoted(name)} LIMIT 0").description  # noqa: S608 - as above
        primary = self._connection.execute(_PRIMARY_KEY, [name]).fetchone()
        references = tuple(
            _Reference(tuple(columns), table, tuple(targets))
            for columns, table, targets in self._connection.execute(_FOREIGN_KEYS, [name]).fetchall()
        )
        return _Table(name, tuple(column[0] for column in described), tuple(primary[0]) if primary else (), references)

    def rows(self, table: _Table) -> Iterator[Sequence[object]]:
        extra = "" if table.key else ", rowid"
        columns = ", ".join(map(_quoted, table.columns))
        result = self._connection.execute(f"SELECT {columns}{extra} FROM {_quoted(table.name)}")  # noqa: S608 - as above
        while batch := result.fetchmany(10_000):
            yield from batch


@contextmanager
def _opened(source: Source) -> Generator[_Database]:
    """Opens a database, and translates its errors.

    Raises:
        LoadError: it cannot be read, or its reader is not installed.
    """
    try:
        with closing(_DuckDb(source.path) if source.form is DUCKDB else _Sqlite(source.path)) as database:
            yield database
    except ImportError as error:
        raise LoadError(
            f"{source.name} needs the package duckdb, which is not installed",
            next_step="Install the extra: pip install 'kgnav-mcp[duckdb]'.",
        ) from error
    except Exception as error:
        if isinstance(error, sqlite3.Error) or type(error).__module__.startswith(("duckdb", "_duckdb")):
            raise _not_readable(source, error) from error
        raise


def _not_readable(source: Source, error: Exception) -> LoadError:
    return LoadError(
        f"{source.name} looks like {source.form.title} that cannot be read: {clipped(str(error), 200)}",
        next_step="Check that it is complete, and that no program is writing to it.",
    )


class _Reader:
    """Stages the nodes, then the edges, of a database."""

    def __init__(self, source: Source, database: _Database, stager: PropertyStager) -> None:
        self.source = source
        self._database = database
        self._stager = stager
        try:
            self._tables = {table.name: table for table in database.tables()}
        except LoadError as error:
            raise LoadError(f"{source.name}: {error.message}", next_step=error.next_step) from error
        self._by_folded = {name.casefold(): name for name in self._tables}
        self.binary_values = 0

    def nodes(self) -> Iterator[tuple[_Table, int]]:
        """Stages the rows of every table that is not a join. Yields each with the number of its rows."""
        for table in self._tables.values():
            if table.is_join:
                continue
            count = 0
            places = table.place(table.key)
            referring = {column for reference in table.references for column in reference.columns} - set(table.key)
            names = [table.columns.index(name) for name in table.name_columns]
            for row in self._database.rows(table):
                key = self._key(table, row, places)
                self._stager.node(key, [table.name], self._values(table, row, referring))
                if name := " ".join(cell_text(row[place]) for place in names).strip():
                    self._stager.name(key, name)
                    self._stager.has_names = True
                count += 1
                self._checkpoint()
            yield table, count

    def edges(self, index: int) -> None:
        """Stages the references of every row, and the rows of joins. `index`: the source's place among all."""
        for table in self._tables.values():
            places = table.place(table.key)
            for number, row in enumerate(self._database.rows(table), 1):
                if table.is_join:
                    self._join(table, row, (index, number))
                else:
                    head = self._key(table, row, places)
                    for reference in table.references:
                        if (tail := self._end(table, reference, row)) is not None:
                            self._stager.relationship(head, _relation(reference), tail, [], (index, number))
                self._checkpoint()

    def _join(self, table: _Table, row: Sequence[object], place: tuple[int, int]) -> None:
        first, second = (self._end(table, reference, row) for reference in table.references)
        if first is None or second is None:
            return
        referring = {column for reference in table.references for column in reference.columns}
        self._stager.relationship(first, table.name, second, self._values(table, row, referring), place)

    def _key(self, table: _Table, row: Sequence[object], places: Sequence[int]) -> str:
        """The key of a row: its table and its primary key (binary: hexadecimal), or its row number if it has none."""
        values = [row[place] for place in places] or [row[-1]]
        return f"{table.name}:{'/'.join(map(cell_text, values))}"

    def _end(self, table: _Table, reference: _Reference, row: Sequence[object]) -> str | None:
        """The key of the row that a reference of a row means; None if it has none."""
        values = [row[place] for place in table.place(reference.columns)]
        if any(value is None for value in values):
            return None
        target = self._tables[self._by_folded[reference.table.casefold()]]
        by_column = dict(zip(map(str.casefold, reference.targets), values, strict=True))
        if set(by_column) != {column.casefold() for column in target.key}:
            raise LoadError(
                f"{self.source.name}: {table.name} refers to {target.name} by {', '.join(reference.targets)}, which is "
                "not its primary key",
                next_step="Load the tables as CSV, with --head and --tail for the reference.",
            )
        return f"{target.name}:{'/'.join(cell_text(by_column[column.casefold()]) for column in target.key)}"

    def _values(self, table: _Table, row: Sequence[object], left_out: set[str]) -> list[tuple[str, PropertyValue]]:
        values: list[tuple[str, PropertyValue]] = []
        for column, cell in zip(table.columns, row, strict=False):
            if column in left_out:
                continue
            value, omitted = (cell_text(cell), 0) if _is_binary_key(table, column, cell) else without_binary(cell)
            self.binary_values += omitted
            if value is not None:
                is_float = isinstance(value, float)  # of a database, where whole numbers have a type of their own
                text, datatype = (
                    (written_number(value), "float") if is_float else (cell_text(value), datatype_of(value))
                )
                values.append((column, (text, datatype, None, None)))
        return values

    def _checkpoint(self) -> None:
        if self._stager.staging.full:
            self._stager.staging.checkpoint(self.source.name, 0)


def _is_binary_key(table: _Table, column: str, cell: object) -> bool:
    """Whether a cell is a binary part of a primary key, whose text is a part of the node's id."""
    return isinstance(cell, bytes) and column in table.key


def _relation(reference: _Reference) -> str:
    """The name of an edge: the column without `_id`, or the referred table for several columns."""
    column, *others = reference.columns
    return reference.table if others else _ID_SUFFIX.sub("", column)


def _read_nodes(source: Source, stager: PropertyStager, problems: LoadProblems) -> None:
    with _opened(source) as database:
        reader = _Reader(source, database, stager)
        counts = [_described(table, count) for table, count in reader.nodes()]
        if not counts:
            raise LoadError(f"{source.name} has no tables", next_step="Check that it is the right file.")
        problems.notes.append(f"{source.name}: nodes by table: {clipped(', '.join(counts), 400)}")
        _note_binary_values(reader, problems)


def _note_binary_values(reader: _Reader, problems: LoadProblems) -> None:
    if reader.binary_values:
        problems.notes.append(f"{reader.source.name}: omitted {reader.binary_values:,} binary values")


def _described(table: _Table, count: int) -> str:
    named = f" named by {' '.join(table.name_columns)}" if table.name_columns else ""
    return f"{table.name} {count:,}{named}"


def _read_edges(source: Source, index: int, stager: PropertyStager, problems: LoadProblems) -> None:
    with _opened(source) as database:
        reader = _Reader(source, database, stager)
        reader.edges(index)
        _note_binary_values(reader, problems)
    stager.staging.finish(source.name, source.size)


SQLITE = FileFormat(
    "sqlite",
    "a SQLite database",
    suffixes=(".sqlite", ".sqlite3", ".db", ".db3"),
    begins=binary(rb"SQLite format 3\x00"),
    read_nodes=_read_nodes,
    read_edges=_read_edges,
)
DUCKDB = FileFormat(
    "duckdb",
    "a DuckDB database",
    suffixes=(".duckdb", ".ddb"),
    begins=binary(rb".{8}DUCK"),
    read_nodes=_read_nodes,
    read_edges=_read_edges,
    extra="duckdb",
)
