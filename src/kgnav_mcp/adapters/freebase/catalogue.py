"""The relations and types of a graph, counted once while it is open, and what a user may call them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process
from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import Read, Store, address, number
from kgnav_mcp.errors import StoreTimeout, UnknownName
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

    def properties(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The relations of an id or a name, those with values before those without.

        Raises:
            UnknownName: there is none.
        """
        if meant is not None and meant in self.relations:
            return [meant]
        found = self._called(name, self.relations)
        with_values = [iri for iri in found if self.relations[iri].has_values]
        if not found:
            raise UnknownName("property", name, self._nearest(name, self.relations))
        return with_values or found

    def types_called(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The types of an id or a name.

        Raises:
            UnknownName: there is none.
        """
        found = [meant] if meant is not None and meant in self.types else self._called(name, self.types)
        if not found:
            raise UnknownName("label", name, [self.names[iri].label for iri in self._near(name, self.types)])
        return found

    def anything_called(self, name: str, meant: URIRef | None) -> tuple[list[URIRef], list[URIRef]]:
        """The types and the relations of an id or a name.

        Raises:
            UnknownName: there is neither.
        """
        types = [meant] if meant is not None and meant in self.types else self._called(name, self.types)
        relations = [meant] if meant is not None and meant in self.relations else self._called(name, self.relations)
        if not types and not relations:
            nearest = self._nearest(name, [*self.types, *self.relations])
            raise UnknownName("label, relation or property", name, nearest)
        return types, relations

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
        self._names = names
        self._read: Catalogue | None = None
        self._reading = asyncio.Lock()

    async def get(self) -> Catalogue:
        """The catalogue, which costs one pass over the graph's relations and types the first time."""
        async with self._reading:
            if self._read is None:
                self._read = await self._made()
        return self._read

    async def _made(self) -> Catalogue:
        notes: list[str] = []
        relations = await self._relations(notes)
        types = await self._types(notes)
        names = await self._names.relations([*relations, *types])
        return Catalogue(relations, types, names, "; ".join(notes) or None)

    async def _relations(self, notes: list[str]) -> dict[URIRef, Use]:
        """Every relation with its uses, or, where counting takes too long, without."""
        counted = await self._within_time(queries.RELATION_COUNTS)
        if counted is None:
            notes.append("relations are not counted: the graph is too large for that")
            rows = (await self._store.select(queries.RELATIONS)).rows
            unknown = Use(Count.unknown(), Count.unknown())
            return {iri: unknown for row in rows if self._store.freebase.shows(iri := address(row, "p"))}
        uses: dict[URIRef, Counter[bool]] = {}
        for row in counted.rows:
            iri = address(row, "p")
            if self._store.freebase.shows(iri):
                uses.setdefault(iri, Counter())[bool(number(row, "l"))] += number(row, "n")
        make = self._sure(counted, notes)
        return {iri: Use(make(counts[False]), make(counts[True])) for iri, counts in uses.items()}

    async def _types(self, notes: list[str]) -> dict[URIRef, Count]:
        """Every type with the number of its entities; none where counting takes too long."""
        counted = await self._within_time(queries.TYPE_COUNTS)
        if counted is None:
            notes.append("labels are not counted: the graph is too large for that")
            return {}
        make = self._sure(counted, notes)
        return {address(row, "t"): make(number(row, "n")) for row in counted.rows}

    async def _within_time(self, query: str) -> Read | None:
        try:
            return await self._store.select(query)
        except StoreTimeout:
            return None  # Said by the schema's own word on how exact it is.

    @staticmethod
    def _sure(read: Read, notes: list[str]) -> Callable[[int], Count]:
        if read.stop is Stop.COMPLETE:
            return Count
        notes.append(f"counts are lower bounds: the endpoint stopped at its {read.stop}")
        return Count.at_least
