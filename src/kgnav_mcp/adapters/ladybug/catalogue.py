"""Reads the catalogue of a LadybugDB graph: tables, columns and sizes. And its schema, which the catalogue states."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from kgnav_mcp.adapters.cypher.catalogue import Catalogue, CatalogueCache, likely_names
from kgnav_mcp.adapters.cypher.entities import Entities
from kgnav_mcp.adapters.cypher.options import PropertyOptions
from kgnav_mcp.adapters.cypher.schema import Ends, Sample, SchemaReader, frequent_labels
from kgnav_mcp.adapters.cypher.session import Session, quoted
from kgnav_mcp.adapters.cypher.values import split_key
from kgnav_mcp.adapters.ladybug import queries
from kgnav_mcp.adapters.ladybug.store import Store
from kgnav_mcp.adapters.ladybug.tables import Column, EdgeTable, Table, TableCatalogue, literal
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Direction, QualifierFacts


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
    """Answers the verb `schema`, exactly: columns are declared, and their values are counted."""

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
