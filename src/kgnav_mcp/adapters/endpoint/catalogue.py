"""The relations and types of a graph, counted once while it is open, and what a user may call them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process
from rdflib import RDF, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.reification import NOTATION, reifier_facts
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.naming import local_name, readable
from kgnav_mcp.adapters.sparql.reading import Read, address, number, truth
from kgnav_mcp.errors import StoreTimeout, UnknownName
from kgnav_mcp.model import Count, Relation, Stop

_NEAREST = 5
_SAMPLE = 100_000
"""Triples that are looked at where counting all of them takes too long."""
_SHARE = 0.5
"""Of a call's time, for each exact count; what is left is for a sample."""


@dataclass(frozen=True, slots=True)
class Use:
    """How often a relation leads to entities and to values."""

    edges: Count
    values: Count

    @property
    def has_values(self) -> bool:
        return self.values.value > 0

    @property
    def has_edges(self) -> bool:
        return self.edges.value > 0


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What there is. `sampled` says what is not exact, None where all is."""

    relations: Mapping[URIRef, Use]
    types: Mapping[URIRef, Count]
    qualifiers: Mapping[URIRef, Count]
    """Relations that statements about triples have."""
    names: Mapping[URIRef, Relation]
    """Ids and names of all of them."""
    sampled: str | None

    @property
    def triples(self) -> Count:
        """All triples of the graph but those that statements about triples are made of."""
        size = Count(0) if self.sampled is None else Count.at_least(0)
        for use in self.relations.values():
            size += use.edges + use.values
        return size

    def properties(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The relations of an id or a name; where some of them have values, these alone.

        Raises:
            UnknownName: there is none.
        """
        found = self._called(name, meant, self.relations, "property")
        return [iri for iri in found if self.relations[iri].has_values] or found

    def edges(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The relations of an id or a name. Raises UnknownName where there is none."""
        return self._called(name, meant, self.relations, "relation")

    def edge_properties(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The qualifiers of an id or a name. Raises UnknownName where there is none."""
        return self._called(name, meant, self.qualifiers, "property of relationships")

    def types_called(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The types of an id or a name. Raises UnknownName where there is none."""
        return self._called(name, meant, self.types, "label")

    def anything_called(self, name: str, meant: URIRef | None) -> tuple[list[URIRef], list[URIRef]]:
        """The types and the relations of an id or a name. Raises UnknownName where there is neither."""
        types, relations = self._exact(name, meant, self.types), self._exact(name, meant, self.relations)
        if not types and not relations:
            nearest = self._near(name, [*self.types, *self.relations])
            raise UnknownName("label, relation or property", name, [self.names[iri].id for iri in nearest])
        return types, relations

    def _called(self, name: str, meant: URIRef | None, among: Mapping[URIRef, object], kind: str) -> list[URIRef]:
        found = self._exact(name, meant, among)
        if not found:
            near = self._near(name, list(among))
            raise UnknownName(
                kind, name, [self.names[iri].label if kind == "label" else self.names[iri].id for iri in near]
            )
        return found

    def _exact(self, name: str, meant: URIRef | None, among: Mapping[URIRef, object]) -> list[URIRef]:
        if meant is not None and meant in among:
            return [meant]
        wanted = name.strip().casefold()
        return sorted(iri for iri in among if wanted in _spellings(iri, self.names[iri]))

    def _near(self, name: str, among: Sequence[URIRef]) -> list[URIRef]:
        choices = {iri: self.names[iri].label.casefold() for iri in sorted(among)}
        found = process.extract(name.casefold(), choices, scorer=fuzz.WRatio, limit=_NEAREST)
        return [iri for _, _, iri in found]


def _spellings(iri: URIRef, relation: Relation) -> set[str]:
    """What a relation or a type may be called: its id, its name, the last part of its id, and that as words."""
    local = local_name(iri)
    return {spelling.casefold() for spelling in (relation.id, relation.label, local, readable(local))}


class Catalogues:
    """Reads the catalogue when it is first needed."""

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._names = names
        self._read: Catalogue | None = None
        self._reading = asyncio.Lock()

    async def get(self) -> Catalogue:
        """The catalogue, which costs one pass over the graph the first time, or a sample of it."""
        async with self._reading:
            if self._read is None:
                self._read = await self._made()
        return self._read

    async def relations(self) -> Sequence[URIRef]:
        """The relations that are known, most used first."""
        uses = (await self.get()).relations
        return sorted(uses, key=lambda iri: (-uses[iri].edges.value - uses[iri].values.value, iri))

    async def _made(self) -> Catalogue:
        notes: list[str] = []
        uses, qualifiers = await self._uses(notes)
        types = await self._types(notes)
        relations = await self._names.relations([*uses, *qualifiers])
        names = {**relations, **await self._names.classes(types)}
        return Catalogue(uses, types, qualifiers, names, "; ".join(notes) or None)

    async def _uses(self, notes: list[str]) -> tuple[dict[URIRef, Use], dict[URIRef, Count]]:
        """Every relation with its uses, without those of statements about triples, and what these have."""
        reader = self._store.reader
        read, whole = await self._counted(queries.RELATION_COUNTS, queries.SAMPLED_RELATIONS)
        if not whole:
            notes.append(f"relations are those of some {_SAMPLE:,} triples: counting all takes too long")
        uses: dict[URIRef, Counter[bool]] = {}
        for row in read.rows:
            if "p" in row:
                uses.setdefault(address(row, "p"), Counter())[truth(row, "l")] += number(row, "n")
        said, parallel = Counter[tuple[URIRef, bool]](), Counter[URIRef]()
        if self._store.reification:
            try:
                said, parallel = await reifier_facts(reader, self._store.reification)
            except StoreTimeout:
                whole = False
                notes.append("what is said of triples is not counted: it takes too long")
        for (iri, value), times in said.items():
            if whole and iri in uses and not (value and _quoted_only(self._store)):
                uses[iri][value] -= times
        make = Count if whole else Count.at_least
        found = {
            iri: Use(make(counts[False] + (parallel[iri] if counts[False] > 0 else 0)), make(counts[True]))
            for iri, counts in uses.items()
            if iri not in NOTATION and (counts[False] > 0 or counts[True] > 0)
        }
        qualifiers = Counter[URIRef]()
        for (iri, _), times in said.items():
            if iri not in NOTATION and iri != RDF.type:
                qualifiers[iri] += times
        return found, {iri: Count(times) for iri, times in qualifiers.items()}

    async def _types(self, notes: list[str]) -> dict[URIRef, Count]:
        read, whole = await self._counted(queries.TYPE_COUNTS, queries.SAMPLED_TYPES)
        if not whole:
            notes.append(f"labels are those of some {_SAMPLE:,} nodes: counting all takes too long")
        make = Count if whole else Count.at_least
        return {
            address(row, "t"): make(number(row, "n")) for row in read.rows if "t" in row and row["t"] != RDF.Statement
        }

    async def _counted(self, exact: str, sampled: str) -> tuple[Read, bool]:
        """An exact count, or, where that takes too long, one of a sample; and which of them it is."""
        reader = self._store.reader
        try:
            read = await reader.select(exact, share=_SHARE)
        except StoreTimeout:
            return await reader.select(sampled, sample=_SAMPLE), False
        return read, read.stop is Stop.COMPLETE


def _quoted_only(store: Store) -> bool:
    """Whether statements are quoted triples alone, whose triples are not counted among those of nodes."""
    return not store.reification.parallel
