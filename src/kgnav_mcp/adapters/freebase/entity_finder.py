"""Finds entities of Freebase by name, alias and description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.likeness import ALIAS, DESCRIPTION, NAME
from kgnav_mcp.adapters.sparql_base import entity_finder
from kgnav_mcp.adapters.sparql_base.name_search import Lookup, SparqlNames
from kgnav_mcp.adapters.sparql_base.queries import AT_MOST, SCAN, of_each
from kgnav_mcp.adapters.sparql_base.query_reader import Read
from kgnav_mcp.adapters.sparql_base.terms import values
from kgnav_mcp.model import Entity


class EntityFinder(entity_finder.EntityFinder):
    """Finds entities by name. Those with the same name are ordered by number of types, then by number of triples."""

    def __init__(self, store: Store, names: Names) -> None:
        meanings = store.freebase.relations
        kinds = {meanings["description"]: DESCRIPTION, meanings["alias"]: ALIAS, meanings["name"]: NAME}
        lookup = Lookup(
            bearers=queries.BEARERS,
            scan=of_each(SCAN, ("name", "alias"), AT_MOST),
            kinds=kinds,
            languages=(None, *store.languages),
            full_text=store.reader.dialect.full_text,
        )
        search = SparqlNames(store.reader, lookup)
        super().__init__(store.reader, names, search)
        self._is_topic = store.ids.is_topic
        self.full_text = search.index

    async def of_types(self, iris: Sequence[URIRef], types: Sequence[URIRef]) -> Read:
        return await self._reader.in_batches(queries.OF_TYPES, "ids", iris, types=values(*types))

    def is_id(self, text: str) -> bool:
        """Whether a text has the form of an entity's id. A dotted word such as `St.Louis` may be a name."""
        iri = self.naming.iri(text)
        return iri is not None and ("://" in text or self._is_topic(iri))

    async def _prominence(self, entities: Mapping[URIRef, Entity]) -> Mapping[URIRef, tuple[int, ...]]:
        if len(entities) < 2:
            return {}
        sizes = await self.sizes(list(entities))
        return {iri: (-len(entity.types), *sizes[iri].order) for iri, entity in entities.items()}
