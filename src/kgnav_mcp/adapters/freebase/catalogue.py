"""The relations and types of a graph, counted once while it is open, and what a user may call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cachetools import TTLCache
from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import FRESH, Store
from kgnav_mcp.adapters.sparql import catalogue
from kgnav_mcp.adapters.sparql.catalogue import Use, missing
from kgnav_mcp.adapters.sparql.reading import Read, iri_in, number
from kgnav_mcp.concurrency import Shared
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue(catalogue.Catalogue):
    """What there is, or what of it was read."""

    def spellings(self, iri: URIRef) -> Iterable[str]:
        """Its id, its name, the last part of its id."""
        relation = self.names[iri]
        return relation.id, relation.label, relation.id.rpartition(".")[2]


class CatalogueCache:
    """Reads the catalogue when it is first needed."""

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._read: Catalogue | None = None
        self._part: TTLCache[None, Catalogue] = TTLCache(1, FRESH)
        self._reading = Shared(self._made)

    async def get(self) -> Catalogue:
        """The catalogue, which costs one pass over the graph's relations and types the first time.

        One that time cut is read again after a minute; a row cap cuts the same every time.
        """
        read = self._read or self._part.get(None)
        if read is None:
            read = await self._reading.result()
            if read.stop is Stop.TIME_OUT:
                self._part[None] = read
            else:
                self._read = read
        return read

    async def _made(self) -> Catalogue:
        notes: list[str] = []
        relations, no_relations = await self._relations(notes)
        types, no_types = await self._types(notes)
        names = await self._names.relations([*relations, *types])
        return Catalogue(
            relations=relations,
            types=types,
            names=names,
            sampled="; ".join(notes) or None,
            stop=missing(no_relations, no_types),
        )

    async def _relations(self, notes: list[str]) -> tuple[dict[URIRef, Use], Stop]:
        """Every relation with its uses, or, where counting takes too long, without; and why these are not all."""
        counted = await self._within_time(queries.RELATION_COUNTS)
        if counted is None or counted.stop is Stop.TIME_OUT:
            notes.append("relations are not counted: the graph is too large for that")
            read = await self._reader.select(queries.RELATIONS)
            if read.stop is not Stop.COMPLETE:
                notes.append(f"relations are missing: the endpoint's {read.stop} cut them")
            shown = [iri for row in read.rows if self._store.freebase.shows(iri := iri_in(row, "p"))]
            return dict.fromkeys(shown, Use(Count.unknown(), Count.unknown())), read.stop
        uses: dict[URIRef, Counter[bool]] = {}
        for row in counted.rows:
            iri = iri_in(row, "p")
            if self._store.freebase.shows(iri):
                uses.setdefault(iri, Counter())[bool(number(row, "l"))] += number(row, "n")
        make = self._sure("relations", counted, notes)
        return {iri: Use(make(counts[False]), make(counts[True])) for iri, counts in uses.items()}, counted.stop

    async def _types(self, notes: list[str]) -> tuple[dict[URIRef, Count], Stop]:
        """Every type with the number of its entities, as far as these are counted; and why that is not all."""
        counted = await self._within_time(queries.TYPE_COUNTS)
        if counted is None:
            notes.append("labels are not counted: the graph is too large for that")
            return {}, Stop.TIME_OUT
        make = self._sure("labels", counted, notes)
        return {iri_in(row, "t"): make(number(row, "n")) for row in counted.rows}, counted.stop

    async def _within_time(self, query: str) -> Read | None:
        try:
            return await self._reader.select(query)
        except StoreTimeout:
            return None  # Said by the schema's own word on how exact it is.

    @staticmethod
    def _sure(what: str, read: Read, notes: list[str]) -> Callable[[int], Count]:
        if read.stop is Stop.COMPLETE:
            return Count
        notes.append(f"{what} may be missing, and their counts are lower bounds: the endpoint's {read.stop} cut them")
        return Count.at_least
