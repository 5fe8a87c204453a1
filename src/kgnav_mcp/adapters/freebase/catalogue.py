"""The catalogue of a Freebase graph, counted once while it is open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import FRESH, Store
from kgnav_mcp.adapters.sparql_base import catalogue
from kgnav_mcp.adapters.sparql_base.catalogue import Use, combined_stop, count_constructor, uses_by_relation
from kgnav_mcp.adapters.sparql_base.queries import RELATION_COUNTS
from kgnav_mcp.adapters.sparql_base.query_reader import Read, iri_in, number_in
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue(catalogue.Catalogue):
    """The relations and types of a graph, as far as they were read."""

    def spellings(self, iri: URIRef) -> Iterable[str]:
        """The id, the name, and the last part of the id."""
        relation = self.names[iri]
        return relation.id, relation.label, relation.id.rpartition(".")[2]


class CatalogueCache(catalogue.CatalogueCache[Catalogue]):
    """Reads the catalogue. The triples were already counted when the graph was opened."""

    cache_seconds = FRESH

    def __init__(self, store: Store, names: Names, triples: Count) -> None:
        super().__init__(store.reader)
        self._store = store
        self._names = names
        self._triples = triples

    async def _load(self) -> Catalogue:
        notes: list[str] = []
        relations, no_relations = await self._relations(notes)
        types, no_types = await self._types(notes)
        names = await self._names.relations([*relations, *types])
        return Catalogue(
            relations=relations,
            types=types,
            names=names,
            triples=self._triples,
            sampled="; ".join(notes) or None,
            stop=combined_stop(no_relations, no_types),
        )

    async def _relations(self, notes: list[str]) -> tuple[dict[URIRef, Use], Stop]:
        """Read the relations, with counts unless counting takes too long; with the reason why some may be missing."""
        counted = await self._select_or_none(RELATION_COUNTS)
        if counted is None or counted.stop is Stop.TIME_OUT:
            notes.append("relations are not counted: the graph is too large")
            read = await self._reader.select(queries.RELATIONS)
            if read.stop is not Stop.COMPLETE:
                notes.append(f"relations are missing: the endpoint's {read.stop} cut them")
            shown = [iri for row in read.rows if self._store.freebase.shows(iri := iri_in(row, "p"))]
            return dict.fromkeys(shown, Use(Count.unknown(), Count.unknown())), read.stop
        make_count = count_constructor("relations", counted.stop, notes)
        uses = {
            iri: Use(make_count(times[False]), make_count(times[True]))
            for iri, times in uses_by_relation(counted.rows).items()
            if self._store.freebase.shows(iri)
        }
        return uses, counted.stop

    async def _types(self, notes: list[str]) -> tuple[dict[URIRef, Count], Stop]:
        """Read the types with their number of entities; none if that takes too long; with why some may be missing."""
        counted = await self._select_or_none(queries.TYPE_COUNTS)
        if counted is None:
            notes.append("labels are not counted: the graph is too large")
            return {}, Stop.TIME_OUT
        make_count = count_constructor("labels", counted.stop, notes)
        return {iri_in(row, "t"): make_count(number_in(row, "n")) for row in counted.rows}, counted.stop

    async def _select_or_none(self, query: str) -> Read | None:
        try:
            return await self._reader.select(query)
        except StoreTimeout:
            return None  # The callers say so in their notes.
