"""Headers of node and relationship files as neo4j-admin import has them, and the values under them.

    id:ID(Person)  :LABEL  name  name@nl  born:int  alive:boolean  aliases:string[]  note:IGNORE
    :START_ID(Person)  :END_ID(Film)  :TYPE  roles:string[]  since:date

`name@nl`, a value in a language, is this project's extension.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kgnav_mcp.errors import LoadError

ARRAY_DELIMITER = ";"


class Role(StrEnum):
    """What a column holds."""

    ID = "ID"
    LABEL = "LABEL"
    START = "START_ID"
    END = "END_ID"
    TYPE = "TYPE"
    IGNORE = "IGNORE"
    PROPERTY = "property"


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

    def values(self, field: str) -> list[str]:
        """The values in a field, none where it is empty.

        Raises:
            ValueError: one of them is not of the column's type; the message says so.
        """
        if not field:
            return []
        normal = NORMAL.get(self.datatype or "")
        parts = field.split(ARRAY_DELIMITER) if self.array else [field]
        if normal is None:
            return [part for part in parts if part]
        return [normal(self.name, part.strip()) for part in parts if part.strip()]


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a file by role; `relationships` tells an edge file from a node file."""

    columns: tuple[Column, ...]

    def of(self, role: Role) -> list[Column]:
        return [column for column in self.columns if column.role is role]

    @property
    def relationships(self) -> bool:
        return bool(self.of(Role.START))


def _integer(name: str, text: str) -> str:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f"{name} is {text!r}, which is no integer")
    return text.removeprefix("+").lstrip("0") or "0" if text[0] != "-" else f"-{text[1:].lstrip('0') or '0'}"


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


NORMAL: dict[str, Callable[[str, str], str]] = {"integer": _integer, "float": _number, "boolean": _boolean}

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


def parse_header(source: str, fields: list[str]) -> Header:
    """The header of a file.

    Raises:
        LoadError: a type is unknown, or the columns make neither a node nor a relationship file.
    """
    header = Header(tuple(_column(source, place, field.strip()) for place, field in enumerate(fields)))
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
    if kind in Role.__members__.values() and kind != Role.PROPERTY:
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
