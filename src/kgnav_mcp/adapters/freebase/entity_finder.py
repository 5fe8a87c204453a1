"""Finds entities of Freebase by name, alias and description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rdflib import URIRef

from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.generic_sparql import names as generic
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.model import Entity


class EntityFinder(generic.EntityFinder):
    """Finds entities by name. Those with the same name are ordered by number of types, then by number of triples."""

    def __init__(self, store: Store, names: Names) -> None:
        lookup = replace(
            generic.lookup_in(store), share=1.0, surely_indexed=False, is_entity=_has_iri, ids_of=_ids_like
        )
        super().__init__(store, names, lookup)
        self._is_topic = store.endpoint.ids.is_topic

    def is_id(self, text: str) -> bool:
        """Whether a text has the form of an entity's id. A dotted word such as `St.Louis` may be a name."""
        iri = self.naming.iri(text)
        return iri is not None and ("://" in text or self._is_topic(iri))

    async def _prominence(self, entities: Mapping[URIRef, Entity]) -> Mapping[URIRef, tuple[int, ...]]:
        if len(entities) < 2:
            return {}
        sizes = await self.sizes(list(entities))
        return {iri: (-len(entity.types), *sizes[iri].order) for iri, entity in entities.items()}


def _has_iri(_: Term) -> bool:
    """True: Virtuoso gives its blank nodes IRIs."""
    return True


def _ids_like(_: str) -> Sequence[URIRef]:
    """No ids: those of Freebase do not contain names."""
    return ()
