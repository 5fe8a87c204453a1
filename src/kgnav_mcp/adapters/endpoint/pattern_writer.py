"""Writes patterns of plans for any endpoint."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.catalogue import CatalogueCache
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.sparql.names import Naming
from kgnav_mcp.adapters.sparql.plans.parts import EdgeVariables, cannot_express
from kgnav_mcp.adapters.sparql.plans.triples import Path, TripleWriter
from kgnav_mcp.adapters.sparql.terms import Fragment


class PatternWriter(TripleWriter):
    """Writes patterns over triples. Relations where one triple may make several edges are refused."""

    def __init__(self, store: Store, naming: Naming, catalogues: CatalogueCache) -> None:
        mediator = queries.MEDIATOR_VIA[store.endpoint.mediators]
        super().__init__(store.reader, naming, mediator, types=len(store.types))
        self._reification = store.reification
        self._catalogues = catalogues

    async def _shown_relations(self) -> Collection[URIRef]:
        return (await self._catalogues.get()).relations

    async def _path(self, relation: str) -> Path:
        path = await super()._path(relation)
        if self._reification:
            catalogue = await self._catalogues.get()
            if catalogue.parallel is None or any(iri in catalogue.parallel for iri in path):
                raise cannot_express(f"the relation {relation}, of which one triple may be several edges,")
            if any(iri not in catalogue.relations for iri in path):
                raise cannot_express(f"the relation {relation}")
        return path

    def edge(self, relations: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        if self._reification and not relations:
            raise cannot_express("edges of any relation, of which some triples may be several")
        edge, own = super().edge(relations, ends)
        return Fragment(f"{edge.text} {self._reification.head(ends.source.text).text}".strip()), own

    def reaching(self, relations: Sequence[str], ends: EdgeVariables) -> Fragment:
        if self._reification:
            raise cannot_express("paths beside statements about triples")
        return super().reaching(relations, ends)
