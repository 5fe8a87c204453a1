"""The columns of a table by role, as neo4j-admin import writes them into a header, and the values under them.

    id:ID(Person)  :LABEL  name  name@nl  born:int  alive:boolean  aliases:string[]  note:IGNORE
    :START_ID(Person)  :END_ID(Film)  :TYPE  roles:string[]  since:date

`name@nl`, a value in a language, is this project's extension.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from kgnav_mcp.errors import LoadError

ADMIN_DELIMITERS = "\t,;|"
ARRAY_DELIMITER = ";"

FIELD_BYTES = 64 * 1024 * 1024
"""The csv module refuses longer fields; its own limit of 128 kB is below some texts."""


Value = tuple[str, str | None, str | None]
"""Text, datatype and language of a literal."""


class Role(StrEnum):
    """What a column holds."""

    ID = "ID"
    LABEL = "LABEL"
    START = "START_ID"
    END = "END_ID"
    TYPE = "TYPE"
    IGNORE = "IGNORE"
    PROPERTY = "property"
    START_NAME = "name of the head"
    END_NAME = "name of the tail"
    TYPE_NAME = "name of the relation"


ADMIN_ROLES = frozenset((Role.ID, Role.LABEL, Role.START, Role.END, Role.TYPE, Role.IGNORE))
"""What a header of neo4j-admin can say of a column, besides the type of a property."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `space` is the ID space of an id, `datatype` None for text."""

    place: int
    name: str
    role: Role
    space: str = ""
    datatype: str | None = None
    language: str | None = None
    array: bool = False

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.name or f":{self.role}"

    def key(self, row: list[str]) -> str:
        """The node's key: its id, with the ID space in front where the file names one, for ids are unique only there.

        Raises:
            ValueError: the id is missing; the message says so.
        """
        if not row[self.place]:
            raise ValueError(f"the column {self.title} is empty")
        return f"{self.space}:{row[self.place]}" if self.space else row[self.place]

    def values(self, field: str) -> list[str]:
        """The values in a field, none where it is empty.

        Raises:
            ValueError: one of them is not of the column's type; the message says so.
        """
        if not field:
            return []
        normal = NORMALIZERS.get(self.datatype or "")
        parts = field.split(ARRAY_DELIMITER) if self.array else [field]
        if normal is None:
            return [part for part in parts if part]
        return [normal(self.name, part.strip()) for part in parts if part.strip()]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the fields of a row are separated. Without quoting, a quotation mark is an ordinary character."""

    delimiter: str = ","
    quoted: bool = True
    spaced: bool = False
    """Whether a blank follows each delimiter."""

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The fields of lines. What is no valid CSV raises csv.Error."""
        csv.field_size_limit(FIELD_BYTES)
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
            skipinitialspace=self.spaced,
            strict=True,
        )


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a file by role."""

    columns: tuple[Column, ...]
    dialect: Dialect = Dialect()
    optional_type: bool = False
    """Whether the relation of an edge may be left empty: it then has the name that is given to all without one."""
    written: bool = True
    """Whether the first line is the header; else the columns are known by their order."""
    admin: bool = False
    """Whether it is written for neo4j-admin import."""

    @property
    def width(self) -> int:
        """Fields in a row."""
        return len(self.columns)

    def of(self, role: Role) -> list[Column]:
        return [column for column in self.columns if column.role is role]

    def values(self, row: list[str]) -> list[tuple[str, Value]]:
        """The names and values of the properties in a row, none where a field is empty.

        Raises:
            ValueError: a value is not of its column's type; the message says so.
        """
        return [
            (column.name, (text, column.datatype, column.language))
            for column in self.of(Role.PROPERTY)
            for text in column.values(row[column.place])
        ]

    @property
    def relationships(self) -> bool:
        """Whether the rows are edges; else they are nodes."""
        return bool(self.of(Role.START))


def _integer(name: str, text: str) -> str:
    if not re.fullmatch(r"[+-]?[0-9]+(\.0+)?", text):
        raise ValueError(f"{name} is {text!r}, which is no integer")
    digits = text.partition(".")[0].lstrip("+-").lstrip("0") or "0"
    return f"-{digits}" if text[0] == "-" else digits


def _number(name: str, text: str) -> str:
    try:
        float(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}, which is no number") from None
    return text


def _boolean(name: str, text: str) -> str:
    if text.lower() not in {"true", "false"}:
        raise ValueError(f"{name} is {text!r}, which is neither true nor false")
    return text.lower()


NORMALIZERS: dict[str, Callable[[str, str], str]] = {"integer": _integer, "float": _number, "boolean": _boolean}

DATATYPES = {
    "string": None,
    "char": None,
    "byte": "integer",
    "short": "integer",
    "int": "integer",
    "long": "integer",
    "float": "float",
    "double": "float",
    "boolean": "boolean",
    "date": "date",
    "time": "time",
    "localtime": "localtime",
    "datetime": "datetime",
    "localdatetime": "localdatetime",
    "duration": "duration",
    "point": "point",
}
"""neo4j-admin's types to the datatypes of the graph file."""

COLUMN = re.compile(
    r"(?P<name>[^:@]*|.*?)(@(?P<language>[A-Za-z]+(-[A-Za-z0-9]+)*))?"
    r"(:(?P<kind>[A-Za-z_]+)(\((?P<space>[^)]*)\))?(\{[^}]*\})?(?P<array>\[\])?(\{[^}]*\})?)?"
)
"""`name@language:TYPE(space){options}[]`; neo4j-admin's options in braces say nothing a graph file needs."""


def parse_header(source: str, line: str) -> Header:
    """The header of a node or edge file for neo4j-admin.

    Raises:
        LoadError: a type is unknown, or the columns make neither a node nor a relationship file.
    """
    dialect = Dialect(max(ADMIN_DELIMITERS, key=line.count))
    try:
        fields = next(dialect.rows([line]))
    except csv.Error as error:
        raise LoadError(f"the header of {source} is no valid CSV: {error}", next_step="Mend the first line.") from error
    columns = tuple(_column(source, place, field.strip()) for place, field in enumerate(fields))
    header = Header(columns, dialect, admin=True)
    ids, starts, ends, types = (len(header.of(role)) for role in (Role.ID, Role.START, Role.END, Role.TYPE))
    if (ids, starts, ends, types) not in {(1, 0, 0, 0), (0, 1, 1, 1)}:
        raise LoadError(
            f"the header of {source} is neither that of a node file nor that of an edge file",
            next_step="A node file has one :ID column, an edge file one each of :START_ID, :END_ID and :TYPE.",
        )
    return header


def _column(source: str, place: int, field: str) -> Column:
    match = COLUMN.fullmatch(field)
    kind = match["kind"] if match else None
    if match is None or (kind is None and not match["name"]):
        raise LoadError(f"column {place + 1} of {source} has the header {field!r}", next_step="Give it a name.")
    name = match["name"]
    if kind is None:
        return Column(place, name, Role.PROPERTY, language=match["language"])
    if kind in ADMIN_ROLES:
        return Column(place, name, Role(kind), space=match["space"] or "")
    datatype = kind.lower()
    if datatype not in DATATYPES or not name:
        raise LoadError(
            f"column {place + 1} of {source} has the header {field!r}",
            next_step=f"Known types: {', '.join(DATATYPES)}, each also with [] behind it; :IGNORE leaves a column out.",
        )
    return Column(
        place,
        name,
        Role.PROPERTY,
        datatype=DATATYPES[datatype],
        language=match["language"],
        array=match["array"] is not None,
    )


def literal_values(value: object) -> Iterator[Value]:
    """The values in a value of JSON or of Python's literals: those of a list, each for itself."""
    if isinstance(value, list | tuple):
        for item in cast("Iterable[object]", value):
            yield from literal_values(item)
    elif isinstance(value, bool):
        yield ("true" if value else "false", "boolean", None)
    elif isinstance(value, int):
        yield (str(value), "integer", None)
    elif isinstance(value, float):
        yield (repr(value), "float", None)
    elif isinstance(value, str):
        if value:
            yield (value, None, None)
    elif value is not None:  # a point or a duration, exported as an object
        yield (json.dumps(value, ensure_ascii=False, sort_keys=True, default=str), "json", None)
