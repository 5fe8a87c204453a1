"""Reads tables of edges: with named columns, as edge lists, and in Cytoscape's SIF.

An edge is a triple; the other fields of its row are its qualifiers. Parallel edges with qualifiers are kept apart, as
in a property graph. Equal edges without qualifiers are one, as in RDF.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias, cast

from kgnav_mcp.adapters.embedded.loading.columns import UNDIRECTED, normalized
from kgnav_mcp.adapters.embedded.loading.headers import PropertyValue, Role, is_not_finite
from kgnav_mcp.adapters.embedded.loading.layout import COMMENT, TAB
from kgnav_mcp.adapters.embedded.loading.options import LISTED, LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, lines, rows, stage_entries, translated
from kgnav_mcp.adapters.embedded.loading.staging_writer import PropertyStager, Staging
from kgnav_mcp.clipping import clipped, comma_list, echoed
from kgnav_mcp.errors import LoadError
from kgnav_mcp.values.scalars import is_number

Edge: TypeAlias = "tuple[str, str, str, list[tuple[str, PropertyValue]]]"
"""Head, relation, tail and qualifiers."""

WEIGHT = "weight"
"""The name of the qualifier for a number after two nodes, as in networkx."""

_INTEGER = re.compile(r"-?\d+(\.0)?")
"""pandas appends `.0` to the integers of a column with missing values."""
_CODE = re.compile(r"-?0\d.*|\+.*")
"""Codes such as `007` and `+49`, which must not be read as numbers."""
_MAX_ATTRIBUTES_LENGTH = 1 << 20
_SHOWN_ROLES = (
    ("head", Role.START),
    ("relation", Role.TYPE),
    ("tail", Role.END),
    ("id", Role.ID),
    ("name", Role.NAME),
    ("label", Role.LABEL),
    ("edges", Role.EDGE),
)


def with_inferred_types(source: Source) -> Source:
    """Returns the table with types for its property columns: integer or float if all its values are, otherwise text.

    NaN and infinities count as numbers if the column has other numbers.

    Raises:
        LoadError: the source cannot be read.
    """
    header = source.header
    if source.table is not None:
        return source
    texts = {column.place: column for column in header.columns if column.role in (Role.PROPERTY, Role.NAME)}
    types = dict.fromkeys(texts, "integer")
    with_numbers: set[int] = set()
    with translated(source), source.open() as reader:
        for _, row in rows(
            source, reader, LoadProblems(skip_bad=True)
        ):  # bad lines are reported when the rows are staged
            for place in [place for place in types if row[place]]:
                kinds = {
                    _number_type(item.strip() if texts[place].array else item)
                    for item in texts[place].items(row[place])
                }
                if "" in kinds:
                    del types[place]
                    continue
                if kinds != {"NaN"}:
                    with_numbers.add(place)
                if kinds != {"integer"}:
                    types[place] = "float"
            if not types:
                break
    types = {place: datatype for place, datatype in types.items() if place in with_numbers}
    columns = (
        replace(column, datatype=types[column.place]) if column.place in types else column for column in header.columns
    )
    return replace(source, layout=replace(source.layout, header=replace(header, columns=tuple(columns))))


def _number_type(field: str) -> str:
    """Whether a field is an integer, another number (`float`), `NaN` for one that is not finite, or empty for none."""
    if is_not_finite(field):
        return "NaN"
    if _CODE.fullmatch(field) or not is_number(field):
        return ""
    return "integer" if _INTEGER.fullmatch(field) else "float"


def read_edges(source: Source, index: int, stager: PropertyStager, problems: LoadProblems) -> None:
    """Stages every edge of a table. Edges without a relation get the default one.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """
    staging = stager.staging

    def stage_all(edges: Iterable[Edge], number: int) -> None:
        for edge in edges:
            stager.edge(*edge, (index, number))

    if source.layout.header is not None:
        source = with_inferred_types(source)
        table = _ColumnEdges(source) if source.has_nodes else _TableEdges(source, stager)
        stage_entries(source, staging, problems, rows, lambda number, row: stage_all(table(row), number))
    else:
        edges = _SifEdges(staging) if source.form.name == "sif" else _ListEdges(source.layout.delimiter, stager)
        stage_entries(source, staging, problems, lines, lambda number, line: stage_all(edges(line), number))


def read_triples(source: Source, staging: Staging, problems: LoadProblems) -> None:
    """Stages every line of a table without a header: `head<TAB>relation<TAB>tail`. The texts are the ids.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """
    get_id, add = staging.terms.ids.get, staging.terms.add
    relations, add_triple = staging.relations, staging.triples.append

    def stage(_: int, line: str) -> None:
        columns = line.split(TAB)
        if len(columns) != 3 or not all(columns):
            raise ValueError(_bad_columns_message(columns))
        head, name, tail = columns
        relation = relations.get(name) or staging.relation(name)
        add_triple((get_id(head) or add(head), relation, get_id(tail) or add(tail)))

    stage_entries(source, staging, problems, lines, stage)


def _bad_columns_message(columns: list[str]) -> str:
    if len(columns) == 3:
        return "one of the three columns is empty"
    reason = f"expected three columns (head, relation, tail) separated by tabs, found {len(columns)}"
    if len(columns) < 3:
        return reason
    return f"{reason}; further ones are qualifiers where the first line of the file names its columns"


def names_relations(source: Source) -> bool:
    """Whether every edge of a table names its relation."""
    header = source.layout.header
    if header is None:
        return not source.layout.edges
    if source.has_nodes:
        return True
    return bool(header.of(Role.TYPE)) and not header.optional_type


def describe_table(source: Source, relation: str) -> list[str]:
    """Returns a note on how a table of edges is read, so that the user can check it; empty if it is unambiguous."""
    header = source.layout.header
    parts: list[str] = []
    if header is not None and header.written:
        for word, role in _SHOWN_ROLES:
            if columns := header.of(role):
                parts.append(f"{word} {comma_list([repr(column.name) for column in columns], LISTED // 2)}")
        if columns := header.of(Role.PROPERTY):
            word = "properties" if header.of(Role.ID) else "qualifiers"
            parts.append(f"{word} {comma_list([repr(column.name) for column in columns], LISTED // 2)}")
        if unnamed := [str(column.place + 1) for column in header.of(Role.IGNORE) if not column.name]:
            parts.append(f"columns without a name, which are omitted: {comma_list(unnamed, LISTED // 2)}")
    elif source.layout.edges:
        first = (
            f"; the first line is {clipped(repr(source.layout.first_line), LISTED)}" if source.layout.first_line else ""
        )
        parts.append(f"two nodes and the weight or the attributes of their edge{first}")
    if source.encoding_note:
        parts.append(source.encoding_note)
    if source.layout.ambiguity_note:
        parts.append(source.layout.ambiguity_note)
    if not names_relations(source):
        edges = "each edge" if header is None or not header.of(Role.TYPE) else "an edge without a relation"
        parts.append(f"{edges} gets the relation {echoed(relation)} (--relation NAME sets another)")
    return [f"{source.name}: {'; '.join(parts)}"] if parts else []


class _TableEdges:
    """Makes edges from rows with named columns."""

    def __init__(self, source: Source, stager: PropertyStager) -> None:
        header = source.header
        self._source = source.name
        self._optional_type = header.optional_type
        self._properties = header.property_reader()
        self._directions = [column for column in header.of(Role.PROPERTY) if normalized(column.name) == "type"]
        self._stager = stager
        self._start, self._end = header.of(Role.START)[0], header.of(Role.END)[0]
        self._type = next(iter(header.of(Role.TYPE)), None)
        role_columns = ((Role.START_NAME, self._start), (Role.TYPE_NAME, self._type), (Role.END_NAME, self._end))
        self._names = [
            (name, column) for role, column in role_columns for name in header.of(role) if column is not None
        ]

    def __call__(self, row: list[str]) -> Iterator[Edge]:
        for column in self._directions:
            if row[column.place].casefold() in UNDIRECTED and self._source not in self._stager.undirected:
                raise LoadError(
                    f"{self._source} declares edges as {row[column.place]} in its column {column.name}, but the edges "
                    f"of a graph file are directed",
                    next_step="Load it with --undirected; every overview of the graph then says so.",
                )
        head, tail = self._start.key(row), self._end.key(row)
        relation = row[self._type.place] if self._type is not None else ""
        if not relation and self._type is not None and not self._optional_type:
            raise ValueError(f"the column {self._type.title} is empty")
        yield head, self._stager.relation_of(relation), tail, self._properties(row)
        for named, column in self._names:
            if (text := row[named.place]) and row[column.place]:
                name = self._stager.name_relation if column is self._type else self._stager.name
                name(column.key(row), text)


class _ColumnEdges:
    """Makes edges from rows with a node each: to the values in the columns that are edges, named after the column."""

    def __init__(self, source: Source) -> None:
        self._key = source.header.of(Role.ID)[0]
        self._edges = source.header.of(Role.EDGE)

    def __call__(self, row: list[str]) -> Iterator[Edge]:
        head = self._key.key(row)
        for column in self._edges:
            for tail in column.items(row[column.place]):
                if tail.strip():
                    yield head, column.name, tail.strip() if column.array else tail, []


class _ListEdges:
    """Makes edges from lines with two nodes and optionally a number or attributes in braces."""

    def __init__(self, delimiter: str | None, stager: PropertyStager) -> None:
        self._delimiter = delimiter
        self._stager = stager

    def __call__(self, line: str) -> Iterator[Edge]:
        if line.startswith(COMMENT):
            return
        parts = [part.strip() for part in line.split(self._delimiter, 2)]
        if len(parts) < 2 or not all(parts[:2]):
            raise ValueError("two nodes are expected")
        yield parts[0], self._stager.relation_of(None), parts[1], self._attributes(parts[2]) if len(parts) > 2 else []

    def _attributes(self, text: str) -> list[tuple[str, PropertyValue]]:
        if text.startswith("{"):
            try:
                parsed: object = ast.literal_eval(text) if len(text) <= _MAX_ATTRIBUTES_LENGTH else None
            except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
                raise ValueError(
                    f"the attributes of the edge are not in the form {{'weight': 0.5}}: {error}"
                ) from error
            if isinstance(parsed, dict):
                attributes = cast("dict[object, object]", parsed)
                return self._stager.literals({str(name): value for name, value in attributes.items()})
        if text and not is_number(text):
            raise ValueError("a number or attributes in braces are expected after the two nodes")
        return [(WEIGHT, (text, "integer" if _INTEGER.fullmatch(text) else "float", None, None))] if text else []


class _SifEdges:
    """Makes edges from lines with a head, a relation and one or more tails. A line may also have a single node."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    def __call__(self, line: str) -> Iterator[Edge]:
        parts = [part.strip() for part in line.split(TAB if TAB in line else None)]
        if len(parts) == 2 or not all(parts):
            raise ValueError("a head, a relation and one tail or more are expected")
        if len(parts) == 1:
            self._staging.terms.id(parts[0])
        for tail in parts[2:]:
            yield parts[0], parts[1], tail, []
