"""The columns of a table by role, and the values in them. Headers are those of neo4j-admin import.

    id:ID(Person)  :LABEL  name  name@nl  born:int  alive:boolean  aliases:string[]  note:IGNORE
    :START_ID(Person)  :END_ID(Film)  :TYPE  roles:string[]  since:date

`name@nl`, a value in a language, is this project's extension. Amazon Neptune's two headers differ little:

    ~id  ~label  name:String  born:Int(single)
    ~id  ~from  ~to  ~label  since:Date
    :ID  :START_ID  :END_ID  :TYPE  since:DateTime
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from math import inf, isfinite
from typing import cast

from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import LoadError
from kgnav_mcp.values.scalars import is_number

is_not_finite = re.compile(r"[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE).fullmatch
"""Matches NaN and the infinities, in the spellings of all programs."""

ADMIN_DELIMITERS = "\t,;|"
ARRAY_DELIMITER = ";"
JSON_ITEMS = "JSON"
"""A value for `Column.separator`: the field is a JSON array."""

FIELD_BYTES = 64 * 1024 * 1024
"""Maximum size of a field in bytes for the csv module, whose default of 128 kB is too small for some texts."""


Value = tuple[str, str | None, str | None]
"""Text, datatype and language of a literal."""
PropertyValue = tuple[str, str | None, str | None, int | None]
"""Text, datatype and language of a property's value, and its index if it is an item of an array."""


class EmptyText(str):
    """A field written as `""`. It is an empty text, where an empty field without quotes has no value."""

    __slots__ = ()


class Role(StrEnum):
    """What a column contains."""

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
    NAME = "name of the node, and a property of it"
    EDGE = "tail of an edge that is named after the column"


_PROPERTIES = frozenset((Role.PROPERTY, Role.NAME))
ADMIN_ROLES = frozenset((Role.ID, Role.LABEL, Role.START, Role.END, Role.TYPE, Role.IGNORE))
"""The roles that a neo4j-admin header can give to a column, besides a property with its type."""
NEPTUNE_COLUMNS = {"~id": ":ID", "~from": ":START_ID", "~to": ":END_ID"}
"""Columns of Amazon Neptune's Gremlin files by neo4j-admin's. `~label` is a node's label or an edge's relation."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `space`: the ID space of an id; `datatype`: None for text."""

    place: int
    name: str
    role: Role
    space: str = ""
    datatype: str | None = None
    language: str | None = None
    array: bool = False
    separator: str = ARRAY_DELIMITER
    """What separates the items of an array."""

    @property
    def title(self) -> str:
        """The column's name in messages."""
        return self.name or f":{self.role}"

    def key(self, row: list[str]) -> str:
        """Returns a node's key: its id, after its ID space if there is one, because ids are unique only within it.

        Raises:
            ValueError: the id is missing, with a message for the user.
        """
        if not row[self.place]:
            raise ValueError(f"the column {self.title} is empty")
        return f"{self.space}:{row[self.place]}" if self.space else row[self.place]

    def values(self, field: str) -> list[PropertyValue]:
        """Returns the values in a field; none if it is empty, except that `""` is an empty text.

        Raises:
            ValueError: one has the wrong type, with a message for the user.
        """
        datatype, language = self.datatype, self.language
        if not field:
            is_text = isinstance(field, EmptyText) and datatype is None and not self.array
            return [("", None, language, None)] if is_text else []
        normalize = None if datatype is None else NORMALIZERS.get(datatype)
        if normalize is not None and not field.strip():
            return []
        if not self.array:
            return [(field if normalize is None else normalize(self.name, field.strip()), datatype, language, None)]
        parts = self.items(field)
        if normalize is not None:
            parts = [normalize(self.name, part.strip()) for part in parts]
        return [(part, datatype, language, index) for index, part in enumerate(parts)]

    def items(self, field: str) -> list[str]:
        """Returns the texts in a field: the items of an array that are not null, else the whole field."""
        if not self.array or not field:
            return [field]
        if self.separator == JSON_ITEMS:
            items: list[object] = json.loads(field)
            return [item if isinstance(item, str) else json.dumps(item) for item in items if item is not None]
        return field.split(self.separator)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the fields of a row are separated. Without quoting, a quotation mark is an ordinary character."""

    delimiter: str = ","
    quoted: bool = True
    spaced: bool = False
    """Whether each delimiter is followed by a blank."""

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Yields the fields of each row.

        Raises:
            csv.Error: a line is not valid CSV.
        """
        csv.field_size_limit(FIELD_BYTES)
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
            skipinitialspace=self.spaced,
            strict=True,
        )

    def with_empty_texts(self, row: list[str], record: str) -> list[str]:
        """Returns the fields of a row, with those that are written as `""` in its record (its lines) marked."""
        if not self.quoted or "" not in row or '""' not in record:
            return row
        fields = _record_fields(self.delimiter, self.spaced).findall(record)
        return [EmptyText() if field == '""' else text for text, field in zip(row, fields, strict=False)]


@lru_cache
def _record_fields(delimiter: str, spaced: bool) -> re.Pattern[str]:
    """Returns the pattern of a field of a record as it is written. Its group is the field with its quotes."""
    end = re.escape(delimiter)
    return re.compile(rf'{" *" if spaced else ""}("(?:[^"]++|"")*+"|[^{end}\r\n]*+)(?:{end}|[\r\n]*\Z)')


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a file by role."""

    columns: tuple[Column, ...]
    dialect: Dialect = Dialect()
    optional_type: bool = False
    """Whether the relation of an edge may be empty. Such an edge gets the default relation."""
    written: bool = True
    """Whether the first line is the header. If not, columns are known by their order."""
    admin: bool = False
    """Whether it is a header for neo4j-admin import."""
    chosen: bool = False
    """Whether the user chose its columns."""
    label: str = ""
    """The label of each node, besides those in columns."""
    empty_texts: bool = True
    """Whether `""` is an empty text. If not, it has no value, as for Amazon Neptune's loader."""

    @property
    def width(self) -> int:
        """The number of fields in a row."""
        return len(self.columns)

    def of(self, role: Role) -> list[Column]:
        return [column for column in self.columns if column.role is role]

    def property_reader(self) -> Callable[[list[str]], list[tuple[str, PropertyValue]]]:
        """Returns a function from a row to the names and values of its properties, without empty fields.

        The function raises ValueError if a value has the wrong type, with a message for the user.
        """
        columns = [(column.place, column.name, column.values) for column in self.columns if column.role in _PROPERTIES]

        def properties(row: list[str]) -> list[tuple[str, PropertyValue]]:
            return [(name, value) for place, name, values in columns for value in values(row[place])]

        return properties

    @property
    def relationships(self) -> bool:
        """Whether the rows are edges. If not, they are nodes."""
        return bool(self.of(Role.START))


def _normalize_integer(name: str, text: str) -> str:
    if not re.fullmatch(r"[+-]?[0-9]+(\.0+)?", text):
        raise ValueError(f"{name} is {text!r}, which is not an integer")
    digits = text.partition(".")[0].lstrip("+-").lstrip("0") or "0"
    return f"-{digits}" if text[0] == "-" else digits


def _normalize_number(name: str, text: str) -> str:
    if is_not_finite(text):
        return written_number(float(text))
    if not is_number(text):
        raise ValueError(f"{name} is {text!r}, which is not a number")
    return text


def written_number(value: float) -> str:
    """Returns a floating point number as text, as Neo4j writes those that are not finite."""
    return repr(value) if isfinite(value) else {inf: "Infinity", -inf: "-Infinity"}.get(value, "NaN")


def _normalize_boolean(name: str, text: str) -> str:
    if text.lower() not in {"true", "false"}:
        raise ValueError(f"{name} is {text!r}, which is neither true nor false")
    return text.lower()


NORMALIZERS: dict[str, Callable[[str, str], str]] = {
    "integer": _normalize_integer,
    "float": _normalize_number,
    "boolean": _normalize_boolean,
}

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
    "bool": "boolean",
    "date": "date",
    "time": "time",
    "localtime": "localtime",
    "datetime": "datetime",
    "localdatetime": "localdatetime",
    "duration": "duration",
    "point": "point",
}
"""Datatypes of the graph file by neo4j-admin's types."""

COLUMN = re.compile(
    r"(?P<name>[^:@]*|.*?)(@(?P<language>[A-Za-z]+(-[A-Za-z0-9]+)*))?"
    r"(:(?P<kind>[A-Za-z_]+)(\((?P<space>[^)]*)\))?(\{[^}]*\})?(?P<array>\[\])?(\{[^}]*\})?)?"
)
"""A column of a neo4j-admin header: `name@language:TYPE(space){options}[]`. The options in braces are ignored."""


def parse_header(source: str, line: str) -> Header:
    """Parses the header of a node or edge file for neo4j-admin or Amazon Neptune. Ids of edges are omitted.

    Raises:
        LoadError: a type is unknown, or the columns are neither those of a node file nor of a relationship file.
    """
    dialect = Dialect(max(ADMIN_DELIMITERS, key=line.count))
    try:
        fields = next(dialect.rows([line]))
    except csv.Error as error:
        raise LoadError(
            f"the header of {source} is invalid CSV: {error}", next_step="Correct the first line."
        ) from error
    names = [field.strip() for field in fields]
    in_admin_form = NEPTUNE_COLUMNS | {"~label": ":TYPE" if "~from" in names else ":LABEL"}
    columns = tuple(_parse_column(source, place, in_admin_form.get(name, name)) for place, name in enumerate(names))
    if any(column.role is Role.START for column in columns):
        columns = tuple(replace(parsed, role=Role.IGNORE) if parsed.role is Role.ID else parsed for parsed in columns)
    header = Header(columns, dialect, admin=True, empty_texts=NEPTUNE_COLUMNS.keys().isdisjoint(names))
    ids, starts, ends, types = (len(header.of(role)) for role in (Role.ID, Role.START, Role.END, Role.TYPE))
    if (ids, starts, ends, types) not in {(1, 0, 0, 0), (0, 1, 1, 1)}:
        raise LoadError(
            f"the header of {source} is neither that of a node file nor that of an edge file",
            next_step="A node file has one :ID column, an edge file one each of :START_ID, :END_ID and :TYPE (or, as "
            "Amazon Neptune calls them, ~id; ~from, ~to and ~label).",
        )
    return header


def _parse_column(source: str, place: int, field: str) -> Column:
    match = COLUMN.fullmatch(field)
    kind = match["kind"] if match else None
    if match is None or (kind is None and not match["name"]):
        raise LoadError(
            f"column {place + 1} of {source} has the header {clipped(repr(field), 100)}", next_step="Give it a name."
        )
    name = match["name"]
    if kind is None:
        return Column(place, name, Role.PROPERTY, language=match["language"])
    if kind in ADMIN_ROLES:
        return Column(place, name, Role(kind), space=match["space"] or "", array=kind == Role.LABEL)
    datatype = kind.lower()
    if datatype not in DATATYPES or not name:
        raise LoadError(
            f"column {place + 1} of {source} has the header {clipped(repr(field), 100)}",
            next_step=f"Known types: {', '.join(DATATYPES)}, each also with [] appended; :IGNORE omits a column.",
        )
    return Column(
        place,
        name,
        Role.PROPERTY,
        datatype=DATATYPES[datatype],
        language=match["language"],
        array=match["array"] is not None,
    )


def literal_values(value: object) -> Iterator[PropertyValue]:
    """Yields a JSON or Python value as literals: one for each item of a list; none for None and an empty list."""
    if isinstance(value, list | tuple):
        for index, item in enumerate(cast("Iterable[object]", value)):
            yield (*_text_and_datatype(item), None, index)
    elif value is not None:
        yield (*_text_and_datatype(value), None, None)


def _text_and_datatype(value: object) -> tuple[str, str | None]:
    if isinstance(value, str):
        return value, None
    if isinstance(value, bool):
        return "true" if value else "false", "boolean"
    if isinstance(value, int):
        return str(value), "integer"
    if isinstance(value, float):
        return written_number(value), "float"
    # A point or a duration, exported as an object; or what only JSON has within a list: another list, or null.
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str), "json"
