"""Writes patterns of plans for Freebase."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.catalogue import CatalogueCache
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.sparql_base.names import Naming
from kgnav_mcp.adapters.sparql_base.plans.writing import TripleWriter, cannot_express
from kgnav_mcp.adapters.sparql_base.terms import Fragment


class PatternWriter(TripleWriter):
    """Writes patterns over the relations that are shown. Edges of any relation are refused."""

    def __init__(self, store: Store, naming: Naming, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, naming, queries.MEDIATOR_VIA)
        self._catalogues = catalogues

    async def _shown_relations(self) -> Collection[URIRef]:
        return (await self._catalogues.get()).relations

    def _restricted(self, relation: Fragment, iris: Sequence[URIRef]) -> Fragment:
        if not iris:
            raise cannot_express("edges of any relation")
        return super()._restricted(relation, iris)
