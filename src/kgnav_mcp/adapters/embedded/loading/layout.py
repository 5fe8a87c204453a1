"""Recognises what kind of table a file is by its first lines: named columns, plain triples, or an edge list."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import cast

from kgnav_mcp.adapters.embedded.loading.columns import (
    ChosenColumns,
    absent_column,
    header_from_names,
    looks_like_header,
    suggested_commands,
)
from kgnav_mcp.adapters.embedded.loading.headers import (
    JSON_ITEMS,
    Column,
    Dialect,
    Header,
    Role,
    written_number,
)
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions
from kgnav_mcp.clipping import comma_list
from kgnav_mcp.errors import LoadError
from kgnav_mcp.values.scalars import NUMBER, is_number

TAB = "\t"
DELIMITERS = (TAB, ",", ";", "|")

KNOWN_COLUMNS = """A first line may name the columns, in any order, with tabs, commas or semicolons between them:
  source, target, type | from, to, label | subject, predicate, object | head, relation, tail | start, end | node1, node2
Any further column is a qualifier. Without one for the relation, --relation gives the relation of all edges."""
WITHOUT_NAMES = """Without such a line, three columns are head, relation and tail (--format triples), and two are the
ends of an edge, maybe with its weight or {attributes} behind them (--format edges)."""

_SPACED_EDGE = re.compile(rf"\S+ +\S+ +(\{{.*\}}|{NUMBER}) *")
"""networkx's format: two nodes, then the edge's attributes or its weight."""
_NUMBERED_EDGE = re.compile(r"\d+[ \t]+\d+[ \t]*")
"""SNAP's format: the numbers of two nodes."""
COMMENT = "#"
_TABLE_LINES = 4
"""Minimum number of lines to distinguish three columns from triples."""
_ENOUGH_LINES = 10
"""Lines that suffice to tell a column with few relations from one with many nodes."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a table. Without a header it has tab-separated triples, or edges with `delimiter` (None: blanks).

    `ambiguity_note` tells the user how an ambiguous table was read.
    """

    header: Header | None = None
    edges: bool = False
    delimiter: str | None = TAB
    ambiguity_note: str = ""
    first_line: str = ""
    """The first line of an edge list, which may be an unrecognised header. It is shown in messages."""


TRIPLES = Layout()


def chosen_layout(name: str, lines: list[str], columns: ChosenColumns, separator: str) -> Layout | None:
    """Returns the layout of a table by the columns that the user chose; None if it has none of them.

    Raises:
        LoadError: as `ChosenColumns.header`, or the rest of the table has no known layout.
    """
    if not columns.keys:
        return None
    for delimiter in [separator] if separator else sorted(DELIMITERS, key=lines[0].count, reverse=True):
        dialect = _dialect(lines, delimiter)
        rows = _rows(lines[:1], dialect)
        if rows and (header := columns.header(name, rows[0], dialect)) is not None:
            return Layout(header)
    fields = _rows(lines[:1], _dialect(lines, separator or max(DELIMITERS, key=lines[0].count)))
    if len(lines) > 1 and fields and len(fields[0]) > 1 and named_columns(lines) is None:
        option, name_of_column = next(iter(columns.keys.items()))
        raise absent_column(name, option, name_of_column, [field.strip() for field in fields[0]])
    return None


def layout_of(name: str, lines: list[str], *, tabs: bool) -> Layout:
    """Returns the layout of a file that starts with these lines, none of them blank.

    `tabs`: whether it may have triples without a header.

    Raises:
        LoadError: the layout is unclear. The message says how to state it.
    """
    header = named_columns(lines)
    if header is not None:
        return Layout(header)
    edge_list = _edge_list(lines)
    if edge_list is not None:
        return edge_list
    rows = [line.split(TAB) for line in lines]
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if not tabs or width != 3:
        raise _not_understood(name, lines, width if tabs else 1)
    if looks_like_header(rows[0], rows[1:]):
        raise LoadError(
            f"the first line of {name} looks like unknown names of columns: {_displayed(lines[0])}",
            next_step=f"{_suggestion(name, lines) or KNOWN_COLUMNS}\nIf that line is a triple: --format triples.",
        )
    return _triples_or_weights(name, [row for row in rows if len(row) == 3])


def triples_without_header(name: str, lines: list[str]) -> Layout:
    """Returns the layout of a file that the user declares as triples. Its first line is a triple, not a header.

    Raises:
        LoadError: it looks like a table with other columns.
    """
    check_no_table(name, [line.split(TAB) for line in lines])
    for delimiter in DELIMITERS[1:] if TAB not in lines[0] else ():
        dialect = _dialect(lines, delimiter)
        if len(_rows(lines[:1], dialect)[0]) == 3:
            check_no_table(name, _rows(lines, dialect))
            roles = (Role.START, Role.TYPE, Role.END)
            names = ("head", "relation", "tail")
            columns = tuple(Column(place, names[place], role) for place, role in enumerate(roles))
            return Layout(Header(columns, dialect, written=False))
    return TRIPLES


def edges_without_header(name: str, lines: list[str]) -> Layout:
    """Returns the layout of a file that the user declares as an edge list.

    Raises:
        LoadError: its first line looks like the names of columns that are not understood.
    """
    edge_list = _edge_list(lines)
    if edge_list is not None:
        return edge_list
    edge_lines = [line for line in lines if not line.startswith(COMMENT)] or lines
    first = edge_lines[0]
    delimiters = () if _SPACED_EDGE.fullmatch(first) else DELIMITERS
    delimiter = next((delimiter for delimiter in delimiters if delimiter in first), None)
    thirds = [parts[2].strip() for line in edge_lines if len(parts := line.split(delimiter, 2)) > 2]
    if len(thirds) == len(edge_lines) > 1 and _is_name_above_numbers(thirds):
        raise LoadError(
            f"the first line of {name} looks like unknown names of columns: {_displayed(first)}",
            next_step=KNOWN_COLUMNS,
        )
    return Layout(edges=True, delimiter=delimiter, first_line=first)


def named_columns(lines: list[str]) -> Header | None:
    """Returns the header in the first line; None if it has no known column names."""
    for delimiter in sorted(DELIMITERS, key=lines[0].count, reverse=True):
        dialect = _dialect(lines, delimiter)
        rows = _rows(lines, dialect)
        if rows and len(rows[0]) > 1 and (header := header_from_names(rows[0], rows[1:], dialect)) is not None:
            return header
    dialect = Dialect(" ", spaced=True)  # any text has blanks, so every line must have as many columns as the first
    rows = _rows(lines, dialect)
    if len(rows) == len(lines) > 1 and {len(row) for row in rows} == {len(rows[0])} and len(rows[0]) > 1:
        return header_from_names(rows[0], rows[1:], dialect)
    return None


def _dialect(lines: list[str], delimiter: str) -> Dialect:
    """Returns the CSV dialect. Whether quotation marks quote is decided by the whole file: `recognition`."""
    return Dialect(delimiter, spaced=f"{delimiter} " in lines[0])


def _rows(lines: list[str], dialect: Dialect) -> list[list[str]]:
    """Returns the rows up to the first that is invalid CSV. The last line may be cut within a field."""
    rows: list[list[str]] = []
    try:
        for row in dialect.rows(f"{line}\n" for line in lines):
            rows.append(row)  # noqa: PERF402 - those before an error are wanted
    except csv.Error:
        return rows
    return rows


def _edge_list(lines: list[str]) -> Layout | None:
    """Returns the layout of lines that can only be edges, else None. SNAP writes comments before them."""
    edge_lines = [line for line in lines if not line.startswith(COMMENT)]
    if not edge_lines:
        return None
    if all(_SPACED_EDGE.fullmatch(line) or _NUMBERED_EDGE.fullmatch(line) for line in edge_lines):
        return Layout(edges=True, delimiter=None)
    for delimiter in DELIMITERS:
        parts = [line.split(delimiter, 2) for line in edge_lines]
        if all(len(row) == 3 and row[2].startswith("{") and row[2].endswith("}") for row in parts):
            return Layout(edges=True, delimiter=delimiter)
    return None


def _is_name_above_numbers(column: Sequence[str]) -> bool:
    """Whether a column begins with a text, and all below it are numbers."""
    first, *others = column
    return not is_number(first) and first[:1] != "{" and all(map(is_number, others))


def check_no_table(name: str, rows: Sequence[Sequence[str]]) -> None:
    """Checks that rows of three fields are not those of a table with other columns, such as `Movie,Director,Year`.

    In such a table hardly any two rows begin with the same field, no first field occurs as a last one, and the middle
    column has many values, where triples have few relations.

    Raises:
        LoadError: the rows look like such a table.
    """
    if not rows or {len(row) for row in rows[:-1] or rows} != {3}:
        return
    heads, middles, tails = (set(column) for column in zip(*(row for row in rows if len(row) == 3), strict=True))
    if len(heads) < 0.9 * len(rows) or not heads.isdisjoint(tails):
        return
    numbers_below = _is_name_above_numbers([row[2] for row in rows if len(row) == 3])
    if len(rows) < _TABLE_LINES or len(middles) < len(rows) * (0.2 if numbers_below else 0.6):
        return
    raise LoadError(
        f"{name} looks like a table with the columns {comma_list(rows[0], 100)}, not like triples: the values in "
        "the middle differ from line to line, as relations do not",
        next_step=f"{suggested_commands(name, rows[0], rows[1:])}\nIf its lines are triples, put the line "
        "head,relation,tail (with its delimiter) above them.",
    )


def _triples_or_weights(name: str, rows: Sequence[Sequence[str]]) -> Layout:
    """Returns the layout of triples. If all tails are numbers, they may be weights.

    Raises:
        LoadError: it is unclear whether the third column has tails or weights, or they look like another table.
    """
    check_no_table(name, rows)
    if not all(is_number(tail) for _, _, tail in rows):
        return TRIPLES
    heads, relations = {row[0] for row in rows}, {row[1] for row in rows}
    if all(map(is_number, heads)) and not any(map(is_number, relations)):
        return TRIPLES
    if len(rows) >= _ENOUGH_LINES and len(relations) * 5 <= len(rows) and relations.isdisjoint(heads):
        return Layout(
            ambiguity_note="read as head, relation, tail; if the third column is a weight, load it with --format edges"
        )
    raise LoadError(
        f"{name} has a number in every third column: {_displayed(TAB.join(rows[0]))}",
        next_step="If it is the weight of an edge between the first two: --format edges, and --relation NAME to name "
        "the edges. If the columns are head, relation, tail: --format triples.",
    )


def _suggestion(name: str, lines: list[str]) -> str:
    """The commands that would load a table by its own columns; empty if it has no such columns."""
    delimiter = max(DELIMITERS, key=lines[0].count)
    rows = _rows(lines, _dialect(lines, delimiter))
    return suggested_commands(name, rows[0], rows[1:]) if delimiter in lines[0] and rows else ""


def _not_understood(name: str, lines: list[str], width: int) -> LoadError:
    first = lines[0]
    understood = f"{KNOWN_COLUMNS}\n{WITHOUT_NAMES}"
    suggestion = _suggestion(name, lines)
    if width == 2:
        return LoadError(
            f"{name} has two columns without names: {_displayed(first)}",
            next_step=f"If they are ids and names: --labels {name}. If they are the two ends of edges: --format edges."
            f"\n{KNOWN_COLUMNS}",
        )
    if width > 3:
        return LoadError(
            f"{name} has {width} columns without known names: {_displayed(first)}",
            next_step=suggestion or f"A triple has three; a fourth column needs a name.\n{understood}",
        )
    return LoadError(
        f"the first line of {name} has no known names of columns: {_displayed(first)}",
        next_step=f"{suggestion}\nIf that line is a triple: --format triples." if suggestion else understood,
    )


def _displayed(line: str) -> str:
    """Returns a line as shown in messages: shortened, with visible tabs."""
    text = line.replace(TAB, " <tab> ")
    return repr(text if len(text) <= 100 else f"{text[:97]}...")


_LISTED_NAMES = 200
_SAMPLED_ROWS = 1_000
"""Rows by which the roles and types of columns are found where a format has no types of columns."""
_ID_ROLES = frozenset({Role.ID, Role.START, Role.TYPE, Role.END})
ARRAY = "[]"
"""The end of the datatype of a column of arrays, whose fields are JSON. The datatype of the items stands before it."""


@dataclass
class TypedTable:
    """A table of Python values. `read` yields its rows without the header each time it is called."""

    names: tuple[str, ...]
    read: Callable[[], Iterator[Sequence[object]]]
    datatypes: Mapping[int, str] | None = None
    """Datatypes by column, if the format declares them; None: the types of the values are used."""
    first_row: int = 2
    """The number of the first row of values, as spreadsheets count."""
    binary_columns: Collection[int] = ()
    """The columns whose values, or parts of them, are binary. These are omitted."""
    omitted: int = field(default=0, init=False)
    """The number of binary values in the rows that `rows` has yielded."""

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
        """Yields number and fields of each row, as text."""
        width = len(self.names)
        self.omitted = 0
        for number, row in enumerate(self.read(), self.first_row):
            fields = [cell_text(value) for value in (self._without_binary(row) if self.binary_columns else row)]
            if any(fields):
                yield number, fields[:width] + [""] * (width - len(fields))

    def _without_binary(self, row: Sequence[object]) -> Sequence[object]:
        values = list(row)
        for place in self.binary_columns:
            values[place], count = without_binary(values[place])
            self.omitted += count
        return values


def typed_layout(table: TypedTable, name: str, file: str, options: LoadOptions) -> Layout:
    """Returns the layout of a table with this name in a file.

    Raises:
        LoadError: its columns are not understood, or those of ids or relations are binary.
    """
    names = [column for column, _ in table.columns]
    header = options.tables.columns.header(name, names)
    if header is None:
        sample = [fields for _, fields in islice(table.rows(), _SAMPLED_ROWS)]
        header = header_from_names(names, sample, Dialect())
        if header is None:
            shown = suggested_commands(file, names, sample)
            raise LoadError(
                f"the first row of {name} has no known names of columns: {comma_list(names, _LISTED_NAMES)}",
                next_step=f"{shown}\n{KNOWN_COLUMNS}" if shown else KNOWN_COLUMNS,
            )
    for column in header.columns:
        if column.place in table.binary_columns and column.role in _ID_ROLES:
            raise LoadError(
                f"the column {column.name} of {name} has binary values, which cannot be ids",
                next_step="Write the file with this column as text.",
            )
    return Layout(_typed(header, table))


def _typed(header: Header, table: TypedTable) -> Header:
    datatypes = [datatype for _, datatype in table.columns]
    return replace(header, columns=tuple(_with_type(column, datatypes[column.place]) for column in header.columns))


def _with_type(column: Column, datatype: str | None) -> Column:
    if datatype is not None and datatype.endswith(ARRAY):
        column = replace(column, array=True, separator=JSON_ITEMS)
        datatype = datatype.removesuffix(ARRAY) or None
    return replace(column, datatype=datatype) if column.role in (Role.PROPERTY, Role.NAME) else column


def without_binary(value: object) -> tuple[object, int]:
    """Returns a value with None in place of each binary value, and the number of these."""
    if isinstance(value, bytes | bytearray):
        return None, 1
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        items, count = without_binary(list(fields.values()))
        return dict(zip(fields, cast("list[object]", items), strict=True)), count
    if isinstance(value, list | tuple):
        parts = [without_binary(item) for item in cast("Sequence[object]", value)]
        return [item for item, _ in parts], sum(count for _, count in parts)
    return value, 0


def datatype_of(value: object) -> str | None:
    """Returns the datatype of a cell's value in a graph file; None for a text."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float | Decimal):
        return "integer" if isinstance(value, float) and value.is_integer() else "float"
    if isinstance(value, dt.datetime):
        return "localdatetime" if value.tzinfo is None else "datetime"
    if isinstance(value, dt.date):
        return "date"
    return "localtime" if isinstance(value, dt.time) else "json" if isinstance(value, list | dict) else None


def cell_text(value: object) -> str:
    """Returns a cell's value as text; empty for None.

    Whole numbers have no decimal point, because workbooks have no integers. Binary values are hexadecimal: `0x01af`.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else written_number(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return f"0x{value.hex()}"
    return json.dumps(value, ensure_ascii=False, default=cell_text) if isinstance(value, list | dict) else str(value)


def _common(kinds: set[str | None]) -> str | None:
    """The datatype of a column whose values have these: numbers may be mixed, and dates with times."""
    if kinds <= {"integer", "float"} and kinds:
        return "float" if "float" in kinds else "integer"
    if kinds == {"date", "localdatetime"}:
        return None
    return next(iter(kinds)) if len(kinds) == 1 else None
