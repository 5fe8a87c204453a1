"""How patterns of plans are written for any endpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rdflib import URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.catalogue import CatalogueCache
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.sparql.names import Naming
from kgnav_mcp.adapters.sparql.plans.triples import TripleWriter
from kgnav_mcp.adapters.sparql.plans.writing import no_words


class PatternWriter(TripleWriter):
    """Writes patterns over graphs without statements about triples, of which one triple may be several edges."""

    def __init__(self, store: Store, naming: Naming, catalogues: CatalogueCache) -> None:
        mediator = queries.MEDIATOR_VIA[store.endpoint.mediators]
        super().__init__(store.reader, naming, mediator, types=len(store.types))
        self._store = store
        self._catalogues = catalogues

    async def know(self, relations: Iterable[str]) -> None:
        if self._store.reification:
            raise no_words("statements about triples")
        await super().know(relations)

    async def _known(self) -> Collection[URIRef]:
        return (await self._catalogues.get()).relations
