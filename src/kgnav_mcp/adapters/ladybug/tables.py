"""The catalogue and schema of a LadybugDB graph: its tables, columns with types and values, and its Cypher (0.22)."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from kgnav_mcp.adapters.cypher.catalogue import Catalogue, CatalogueCache, PropertyOptions, likely_names
from kgnav_mcp.adapters.cypher.dialect import VECTOR_SIZE, Dialect, ValueFormats, split_key, vector
from kgnav_mcp.adapters.cypher.entities import Entities, NodeRow
from kgnav_mcp.adapters.cypher.schema import Ends, Sample, SchemaReader, frequent_labels
from kgnav_mcp.adapters.cypher.session import Session, quoted
from kgnav_mcp.adapters.ladybug import queries
from kgnav_mcp.adapters.ladybug.store import Store
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Direction, QualifierFacts
from kgnav_mcp.port import Capability

_LIST = re.compile(r"(?P<item>.+)\[(?P<size>\d*)\]")
_WHOLE = frozenset(("INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8", "SERIAL"))
_DATATYPES: Mapping[str, str | None] = {
    "STRING": None,
    "BOOL": "boolean",
    "DOUBLE": "float",
    "FLOAT": "float",
    "BLOB": "bytes",
    **dict.fromkeys(_WHOLE, "integer"),
}
"""Datatypes of the types whose Python values are used as they are."""
_CAST = {
    "INT128": "integer",
    "DATE": "date",
    "TIMESTAMP_TZ": "datetime",
    "INTERVAL": "duration",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_SEC"), "localdatetime"),
}
"""Datatypes of the types that are read as text: Python's dates end in the year 9999, its intervals have no months."""
_NESTED = ("STRUCT", "MAP", "UNION")


@dataclass(frozen=True, slots=True)
class StoredText:
    """A value that LadybugDB returns as text, with its datatype."""

    text: str
    datatype: str


FORMATS = ValueFormats(writers=((StoredText, lambda value: value.text, lambda value: value.datatype),))


@dataclass(frozen=True, slots=True)
class Column:
    """A property of a table. `type` is LadybugDB's name for its type or, if it is a list, for that of the items."""

    name: str
    type: str
    is_list: bool = False
    size: int | None = None
    """The fixed length of an array."""

    @classmethod
    def read(cls, name: str, type_: str) -> Column:
        """Parse a type as `table_info` writes it: `STRING[]`, `DECIMAL(10, 2)`."""
        found = _LIST.fullmatch(type_)
        if found is None or _LIST.fullmatch(found["item"]):
            return cls(name, type_)
        return cls(name, found["item"], is_list=True, size=int(found["size"]) if found["size"] else None)

    @property
    def datatype(self) -> str | None:
        """The datatype as answers print it; None for text."""
        if self.is_vector:
            return "vector"
        name = self.type.partition("(")[0]
        return _DATATYPES[name] if name in _DATATYPES else _CAST.get(name, name.lower())

    @property
    def is_vector(self) -> bool:
        """Whether it contains embeddings, of which only the length is read."""
        return self.is_list and (self.size or 0) >= VECTOR_SIZE and self.type in {"DOUBLE", "FLOAT"}

    @property
    def is_text(self) -> bool:
        """Whether its values are texts, or lists of texts."""
        return self.type == "STRING"

    @property
    def is_whole(self) -> bool:
        """Whether its values are integers of at most 64 bits."""
        return self.type in _WHOLE

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers that compare as Python's do."""
        return self.is_whole or self.type in {"DOUBLE", "FLOAT"}

    @property
    def _is_nested(self) -> bool:
        return self.type.startswith(_NESTED) or self.type.endswith("]")

    def expression(self, variable: str) -> str:
        """The expression for its value at a node or edge. `value` decodes what it returns."""
        text = f"{variable}.{quoted(self.name)}"
        if self.is_vector:
            return f"size({text})"
        if self.type in _DATATYPES or self._is_nested:
            return text
        return f"CAST({text} AS STRING{'[]' if self.is_list else ''})"

    def is_named(self, variable: str, names: str) -> str:
        """The condition that a column of texts has one of some names in lower case."""
        text = self.expression(variable)
        if self.is_list:
            return f"list_has_any(list_transform({text}, text -> lower(text)), {names})"
        return f"lower({text}) IN {names}"

    def value(self, returned: Any) -> Any:  # noqa: ANN401 - any value of the driver
        """The value as `FORMATS` writes it."""
        if returned is None:
            return None
        if self.is_vector:
            literal = vector(returned)
            return StoredText(literal.text, literal.datatype or "")
        if self._is_nested:
            nested = json.dumps(returned, ensure_ascii=False, default=str)
            return StoredText(nested, "list" if self.type.endswith("]") else self.type.partition("(")[0].lower())
        if isinstance(returned, list):
            return [self._single(item) for item in cast("list[Any]", returned) if item is not None]
        return self._single(returned)

    def _single(self, value: Any) -> Any:  # noqa: ANN401 - as above
        if self.type in _DATATYPES:
            return value
        text = str(value)
        if self.type.startswith("TIMESTAMP"):
            text = re.sub(r"\+00(:00)?$", "Z", text.replace(" ", "T", 1))
        return StoredText(text, self.datatype or "")


def key_of(variable: str, tables: Sequence[Table]) -> str:
    """The expression for the primary key of a node that is in one of several tables, as text."""
    keys = {table.key.name for table in tables}
    if len(keys) == 1:
        return f"CAST({variable}.{quoted(keys.pop())} AS STRING)"
    cases = " ".join(
        f"WHEN {literal(table.name)} THEN CAST({table.key.expression(variable)} AS STRING)" for table in tables
    )
    return f"CASE label({variable}) {cases} END"


def literal(text: str) -> str:
    """A text in quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def text_expression(columns: Iterable[Column], variable: str) -> str:
    """The expression for all texts in some columns, in lower case."""
    texts = (
        f"list_to_string(' ', {column.expression(variable)})"
        if column.is_list
        else f"CAST({column.expression(variable)} AS STRING)"
        for column in columns
    )
    return "lower(concat(" + ", ' ', ".join(f"coalesce({text}, '')" for text in texts) + "))"


@dataclass(frozen=True)
class Table:
    """A table of nodes, whose name is their label. `key` is the primary key."""

    name: str
    key: Column
    columns: Mapping[str, Column]

    @property
    def key_text(self) -> str:
        """The primary key of `n` as it is looked up: a text or an integer."""
        return self.key.expression("n")

    def keys_of(self, texts: Iterable[str | int]) -> list[str | int]:
        """The values among these that have the type of the primary key."""
        return [text for text in texts if isinstance(text, int) is self.key.is_whole]

    def read(self, keys: Sequence[str], variable: str) -> str:
        """The expressions that `node` decodes: the primary key, then the keys among `keys` that the table has."""
        own = [self.columns[key] for key in keys if key in self.columns]
        return ", ".join(column.expression(variable) for column in (self.key, *own))

    def node(self, keys: Sequence[str], returned: Sequence[Any]) -> NodeRow:
        """A node in the form that `cypher.entities` decodes. Its store id is its printed id."""
        values = iter(returned[1:])
        found: list[Any] = []
        for key in keys:
            if key == self.key.name:
                next(values)
                found.append(returned[0])
            else:
                found.append(self.columns[key].value(next(values)) if key in self.columns else None)
        return [f"{self.name}:{self.key.name}={returned[0]}", [self.name], found]


@dataclass(frozen=True)
class EdgeTable:
    """The edges of a relationship type from the nodes of one table to those of another."""

    type: str
    source: Table
    target: Table
    columns: tuple[Column, ...]
    size: int = 0

    def near(self, direction: Direction) -> Table:
        """The table of the nodes that the edges are walked from."""
        return self.source if direction is Direction.OUTGOING else self.target

    def far(self, direction: Direction) -> Table:
        """The table of the nodes that the edges lead to."""
        return self.near(direction.opposite)

    def pattern(self, direction: Direction) -> str:
        """The pattern of an edge `r` from the near node `n` to the far node `m`."""
        near, far = quoted(self.near(direction).name), quoted(self.far(direction).name)
        left, right = ("-", "->") if direction is Direction.OUTGOING else ("<-", "-")
        return f"(n:{near}){left}[r:{quoted(self.type)}]{right}(m:{far})"


@dataclass(frozen=True)
class TableCatalogue(Catalogue):
    """A catalogue that also has the tables of nodes, by label, and those of edges, in a fixed order."""

    tables: Mapping[str, Table]
    links: tuple[EdgeTable, ...]

    def links_at(self, label: str, direction: Direction, types: Iterable[str] | None) -> list[EdgeTable]:
        """The tables of the edges of some types (None: any) at the nodes of a label."""
        wanted = None if types is None else set(types)
        return [
            link
            for link in self.links
            if link.near(direction).name == label and link.size and (wanted is None or link.type in wanted)
        ]


LADYBUG = Dialect(
    store="LadybugDB 0.22",
    capabilities=frozenset(
        {
            Capability.EXACT_COUNTS,
            Capability.QUALIFIERS,
            Capability.LABELS,
            Capability.FUZZY_NAMES,
            Capability.STABLE_CURSORS,
            Capability.PLANS,
        }
    ),
    node_id="CAST(id({x}) AS STRING)",
    node_id_form=re.compile(r"(?!)"),  # ids are always those of the primary key
    labels="[label({x})]",
    relationship_type="label({x})",
    properties="properties({x})",
    keys="keys({x})",
    values=FORMATS,
    names=None,  # the catalogue is read table by table
    constraints=None,
    indexes=None,
    full_text=None,
    node_count="COUNT { MATCH () }",
    edge_count="COUNT { MATCH ()-[]->() }",
    label_count="COUNT { MATCH (:{label}) }",
    type_count="COUNT { MATCH ()-[:{type}]->() }",
    label_type_count="COUNT { MATCH (:{label})-[:{type}]->() } + COUNT { MATCH ()-[:{type}]->(:{label}) }",
    degree="COUNT { MATCH (n){edge}() }",
    own_degrees=None,
    subquery=None,
    optional_subquery=None,
    collected=None,
    exists="EXISTS { {query} }",
    count="COUNT { {query} }",
    any_shortest=None,  # the length stands in the brackets of an edge: [:T* SHORTEST 1..3]
    all_shortest=None,
    text="CAST({x} AS STRING)",
    folded="lower({x})",
    value_type="typeof({x})",
    is_list="typeof({x}) ENDS WITH ']'",
    is_text="typeof({x}) = 'STRING'",
    is_text_list="typeof({x}) = 'STRING[]'",
    is_number_list="typeof({x}) IN ['DOUBLE[]', 'FLOAT[]']",
    datatypes={},
)
"""The dialect of LadybugDB. Plans are not compiled: a path may repeat an edge here, and so may two edges of one MATCH.
"""


class TableCatalogueCache(CatalogueCache):
    """Holds the catalogue. The file does not change while it is open, so it is read once."""

    def __init__(self, session: Session, store: Store, properties: PropertyOptions) -> None:
        super().__init__(session, properties)
        self._store = store
        self._options = properties

    @property
    def current(self) -> TableCatalogue:
        """The catalogue.

        Raises:
            StoreError: the graph was not opened.
        """
        return cast("TableCatalogue", super().current)

    async def read(self) -> Catalogue:
        """Read the catalogue of the database."""
        if self._catalogue is not None:
            return self._catalogue
        names = await self._store.rows(queries.TABLES)
        tables = {name: await self._table(name) for name, kind in names if kind == "NODE"}
        links = [link for name, kind in names if kind == "REL" for link in await self._links(name, tables)]
        sizes = await gathered(
            *(self._size(f"(n:{quoted(name)})") for name in tables),
            *(self._size(link.pattern(Direction.OUTGOING)) for link in links),
        )
        labels = dict(zip(tables, sizes, strict=False))
        links = [replace(link, size=size) for link, size in zip(links, sizes[len(tables) :], strict=True)]
        types = Counter[str]()
        for link in links:
            types[link.type] += link.size
        keys = {key for table in tables.values() for key in table.columns}
        found = {label: likely_names(label, table.columns, self._options) for label, table in tables.items()}
        return TableCatalogue(
            labels={name: size for name, size in labels.items() if size},
            types={name: size for name, size in types.items() if size},
            keys=tuple(sorted(keys | {column.name for link in links for column in link.columns})),
            nodes=sum(labels.values()),
            edges=types.total(),
            id_keys=tuple((name, table.key.name) for name, table in tables.items()),
            indexed=frozenset((name, table.key.name) for name, table in tables.items()),
            full_text=(),
            names_of={**{label: names for label, names in found.items() if names}, **self._options.names_of},
            properties=self._options,
            tables=tables,
            links=tuple(links),
        )

    async def _table(self, name: str) -> Table:
        rows = await self._store.rows(queries.COLUMNS.format(table=literal(name)))
        columns = {column: Column.read(column, type_) for _, column, type_, *_ in rows}
        key = next(column for _, column, *_, is_key in rows if is_key)
        return Table(name, columns[key], columns)

    async def _links(self, name: str, tables: Mapping[str, Table]) -> list[EdgeTable]:
        rows = await self._store.rows(queries.COLUMNS.format(table=literal(name)))
        columns = tuple(Column.read(column, type_) for _, column, type_, *_ in rows)
        ends = await self._store.rows(queries.LINKS.format(table=literal(name)))
        return [EdgeTable(name, tables[source], tables[target], columns) for source, target, *_ in ends]

    async def _size(self, pattern: str) -> int:
        ((size,),) = await self._store.rows(queries.COUNTS_OF_COLUMNS.format(pattern=pattern, columns=""))
        return size


class TableSchemaReader(SchemaReader):
    """Answers the verb `schema`. All is exact: columns are declared, and their values are counted."""

    def __init__(self, entities: Entities, catalogue: TableCatalogueCache, store: Store) -> None:
        super().__init__(entities)
        self._tables = catalogue
        self._store = store

    async def read(self) -> Sample:
        """Count the values of every column, and the edges between every two tables."""
        catalogue = self._tables.current
        filled = [table for name, table in catalogue.tables.items() if name in catalogue.labels]
        counts = await gathered(*(self._counts(table) for table in filled))
        values = Counter[tuple[tuple[str, ...], str, str, bool]]()
        for table, sizes in zip(filled, counts, strict=True):
            for (key, column), size in zip(table.columns.items(), sizes, strict=True):
                values[(table.name,), split_key(key)[0], column.datatype or "string", column.is_list] += size
        ends = {name: _ends([link for link in catalogue.links if link.type == name]) for name in catalogue.types}
        return Sample((catalogue.nodes, catalogue.edges), time.monotonic(), +values, ends, complete=True, note=None)

    async def types_at(self, catalogue: Catalogue, label: str) -> set[str]:
        """The types of the edges at the nodes of a table."""
        del catalogue
        current = self._tables.current
        return {link.type for side in Direction for link in current.links_at(label, side, None)}

    async def _counts(self, table: Table) -> list[int]:
        """The number of values of each column; of a list, its items count."""
        columns = ", ".join(
            f"sum(size(n.{quoted(column.name)}))"
            if column.is_list and not column.is_vector
            else f"count(CASE WHEN n.{quoted(column.name)} IS NOT NULL THEN 1 END)"  # count() does not take every type
            for column in table.columns.values()
        )
        pattern = f"(n:{quoted(table.name)})"
        query = queries.COUNTS_OF_COLUMNS.format(pattern=pattern, columns=f", {columns}")
        ((_, *sizes),) = await self._store.rows(query)
        return [int(size or 0) for size in sizes]


def _ends(links: Sequence[EdgeTable]) -> Ends:
    """The tables at the ends of a relationship type, and its columns."""
    heads, tails = Counter[str](), Counter[str]()
    joins = Counter[tuple[str, str]]()
    for link in links:
        heads[link.source.name] += link.size
        tails[link.target.name] += link.size
        joins[link.source.name, link.target.name] += link.size
    qualifiers = {
        split_key(column.name)[0]: QualifierFacts(
            split_key(column.name)[0], (column.datatype or "string",), column.is_list, column.is_list
        )
        for link in links
        for column in link.columns
    }
    return Ends(frequent_labels(heads), frequent_labels(tails), tuple(qualifiers.values()), +joins)
