"""What a Freebase graph is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.catalogue import Catalogue, CatalogueCache
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.sparql import schema
from kgnav_mcp.adapters.sparql.reading import Read
from kgnav_mcp.model import Count, Relation

_TEMPLATES = schema.Templates(queries.AT_TYPE, queries.END_TYPES, queries.DATATYPES)


class SchemaReader(schema.SchemaReader):
    """Answers `schema`. A type stands by its name, as at an entity."""

    def __init__(self, store: Store, names: Names, catalogues: CatalogueCache, triples: Count) -> None:
        super().__init__(store.reader, _TEMPLATES)
        self._ids = store.ids
        self._names = names
        self._catalogues = catalogues
        self._triples = triples

    async def _catalogue(self) -> tuple[Catalogue, Count]:
        return await self._catalogues.get(), self._triples

    def _meant(self, name: str) -> URIRef | None:
        return self._ids.term(name)

    async def _classes(self, types: Iterable[URIRef]) -> Mapping[URIRef, Relation]:
        return await self._names.relations(types)

    def _datatype(self, datatype: str | None) -> str | None:
        return self._ids.datatype(datatype)

    async def _union(self, branches: Sequence[str]) -> Read:
        return await self._reader.union(branches)
