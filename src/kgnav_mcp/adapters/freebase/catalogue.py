"""The relations and types of a graph, counted once while it is open, and what a user may call them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cachetools import TTLCache
from rapidfuzz import fuzz, process
from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import FRESH, Store
from kgnav_mcp.adapters.sparql.reading import Read, address, number
from kgnav_mcp.errors import KgnavError, StoreTimeout, UnknownName
from kgnav_mcp.model import Certainty, Count, Relation, Stop

_NEAREST = 5


@dataclass(frozen=True, slots=True)
class Use:
    """How often a relation leads to entities and to values."""

    edges: Count
    values: Count

    @property
    def has_values(self) -> bool:
        return self.values.value > 0 or self.values.certainty is Certainty.UNKNOWN

    @property
    def has_edges(self) -> bool:
        return self.edges.value > 0 or self.edges.certainty is Certainty.UNKNOWN


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What there is. `sampled` says what is not exact, None where all is."""

    relations: Mapping[URIRef, Use]
    types: Mapping[URIRef, Count]
    names: Mapping[URIRef, Relation]
    """Ids and names of the relations and types."""
    sampled: str | None
    whole: bool = True
    """Whether every relation and type of the graph is here: else nothing can be said not to be in the graph."""

    def properties(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The relations of an id or a name, those with values before those without.

        Raises:
            UnknownName: there is none.
            StoreTimeout: there is none among those that were read in time.
        """
        if meant is not None and meant in self.relations:
            return [meant]
        found = self._called(name, self.relations)
        with_values = [iri for iri in found if self.relations[iri].has_values]
        if not found:
            raise self._unknown("property", name, self._nearest(name, self.relations))
        return with_values or found

    def types_called(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The types of an id or a name.

        Raises:
            UnknownName: there is none.
            StoreTimeout: there is none among those that were read in time.
        """
        found = [meant] if meant is not None and meant in self.types else self._called(name, self.types)
        if not found:
            raise self._unknown("label", name, [self.names[iri].label for iri in self._near(name, self.types)])
        return found

    def anything_called(self, name: str, meant: URIRef | None) -> tuple[list[URIRef], list[URIRef]]:
        """The types and the relations of an id or a name.

        Raises:
            UnknownName: there is neither.
            StoreTimeout: there is neither among those that were read in time.
        """
        types = [meant] if meant is not None and meant in self.types else self._called(name, self.types)
        relations = [meant] if meant is not None and meant in self.relations else self._called(name, self.relations)
        if not types and not relations:
            nearest = self._nearest(name, [*self.types, *self.relations])
            raise self._unknown("label, relation or property", name, nearest)
        return types, relations

    def _unknown(self, kind: str, name: str, nearest: Sequence[str]) -> KgnavError:
        if self.whole:
            return UnknownName(kind, name, nearest)
        step = f"Nearest of those that were read: {', '.join(nearest)}." if nearest else "Ask again in a while."
        return StoreTimeout(
            None, f"the store could not be asked in time whether it has a {kind} {name!r}", next_step=step
        )

    def _called(self, name: str, among: Mapping[URIRef, object]) -> list[URIRef]:
        wanted = name.strip().casefold()
        return sorted(iri for iri in among if wanted in _spellings(self.names[iri]))

    def _nearest(self, name: str, among: Mapping[URIRef, object] | Sequence[URIRef]) -> list[str]:
        return [self.names[iri].id for iri in self._near(name, among)]

    def _near(self, name: str, among: Mapping[URIRef, object] | Sequence[URIRef]) -> list[URIRef]:
        choices = {iri: self.names[iri].label.casefold() for iri in sorted(among)}
        found = process.extract(name.casefold(), choices, scorer=fuzz.WRatio, limit=_NEAREST)
        return [iri for _, _, iri in found]


def _spellings(relation: Relation) -> set[str]:
    """What a relation or a type may be called: its id, its name, the last part of its id."""
    return {relation.id.casefold(), relation.label.casefold(), relation.id.rpartition(".")[2].casefold()}


class Catalogues:
    """Reads the catalogue when it is first needed."""

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._read: Catalogue | None = None
        self._part: TTLCache[None, Catalogue] = TTLCache(1, FRESH)
        self._reading = asyncio.Lock()

    async def get(self) -> Catalogue:
        """The catalogue, which costs one pass over the graph's relations and types the first time.

        One that was not read whole is read again after a minute.
        """
        async with self._reading:
            read = self._read or self._part.get(None)
            if read is None:
                read = await self._made()
                if read.whole:
                    self._read = read
                else:
                    self._part[None] = read
        return read

    async def _made(self) -> Catalogue:
        notes: list[str] = []
        relations, all_relations = await self._relations(notes)
        types, all_types = await self._types(notes)
        names = await self._names.relations([*relations, *types])
        return Catalogue(relations, types, names, "; ".join(notes) or None, all_relations and all_types)

    async def _relations(self, notes: list[str]) -> tuple[dict[URIRef, Use], bool]:
        """Every relation with its uses, or, where counting takes too long, without; and whether these are all."""
        counted = await self._within_time(queries.RELATION_COUNTS)
        if counted is None or counted.stop is Stop.TIME_OUT:
            notes.append("relations are not counted: the graph is too large for that")
            read = await self._reader.select(queries.RELATIONS)
            in_time = read.stop is not Stop.TIME_OUT
            if not in_time:
                notes.append("relations are missing that could not be read in time")
            unknown = Use(Count.unknown(), Count.unknown())
            return {iri: unknown for row in read.rows if self._store.freebase.shows(iri := address(row, "p"))}, in_time
        uses: dict[URIRef, Counter[bool]] = {}
        for row in counted.rows:
            iri = address(row, "p")
            if self._store.freebase.shows(iri):
                uses.setdefault(iri, Counter())[bool(number(row, "l"))] += number(row, "n")
        make = self._sure(counted, notes)
        return {iri: Use(make(counts[False]), make(counts[True])) for iri, counts in uses.items()}, True

    async def _types(self, notes: list[str]) -> tuple[dict[URIRef, Count], bool]:
        """Every type with the number of its entities, as far as these are counted in time; and whether that is all."""
        counted = await self._within_time(queries.TYPE_COUNTS)
        if counted is None:
            notes.append("labels are not counted: the graph is too large for that")
            return {}, False
        make = self._sure(counted, notes)
        found = {address(row, "t"): make(number(row, "n")) for row in counted.rows}
        return found, counted.stop is not Stop.TIME_OUT

    async def _within_time(self, query: str) -> Read | None:
        try:
            return await self._reader.select(query)
        except StoreTimeout:
            return None  # Said by the schema's own word on how exact it is.

    @staticmethod
    def _sure(read: Read, notes: list[str]) -> Callable[[int], Count]:
        if read.stop is Stop.COMPLETE:
            return Count
        notes.append(f"counts are lower bounds: the endpoint stopped at its {read.stop}")
        return Count.at_least
