"""How many rows each relation has at each node, from the degree store: what pages, hubs and totals are made of."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.catalogue import Catalogue, Catalogues
from kgnav_mcp.adapters.neo4j.entities import Anchor, Cell, Entities
from kgnav_mcp.adapters.neo4j.looking import ENDS, Look
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.values import VECTOR, literals, split_key
from kgnav_mcp.model import Direction, Entity, Literal
from kgnav_mcp.port import TailKind

_FEW = 500
"""A node with no more edges on one side is expanded to count them by type; another is never expanded to be counted."""

GLANCED = 50
"""Types of relationships that are counted one by one at a node, unless APOC tells which of them it has."""
_MOMENT = 0.05
"""Seconds for which the counts of a node are good: the time between two questions of one tool call."""
_KEPT = 64

_CELL, _OWN, _DEGREE, _FOUND, _SIZES = range(5)
"""The places in a row of `queries.TALLY`."""

Own = Mapping[str, list[Literal]]
"""A node's own properties with their values."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What is at one node in one direction: its properties, and its edges counted by type.

    `ends` are the first few far ends by type, None where they were not read.
    """

    anchor: Anchor
    own: Own
    sizes: Mapping[str, int]
    ends: Mapping[str, Sequence[Cell]] | None = None

    def rows(self, relation: str) -> int:
        """Rows of one relation: values of the property, and edges of the type."""
        return len(self.own.get(relation, ())) + self.sizes.get(relation, 0)

    @property
    def relations(self) -> list[str]:
        """Properties and types that have rows here, ordered by id."""
        return sorted(self.own.keys() | self.sizes.keys())

    @property
    def total(self) -> int:
        return sum(map(len, self.own.values())) + sum(self.sizes.values())


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are asked for: a direction, relations (None: all), and kinds of far ends (None: both)."""

    direction: Direction
    relations: frozenset[str] | None
    far_ends: TailKind | None

    @property
    def values(self) -> bool:
        """Whether values of properties are among them."""
        return self.direction is Direction.OUTGOING and self.far_ends is not TailKind.ENTITY

    def types(self, catalogue: Catalogue) -> tuple[str, ...] | None:
        """The relationship types asked for, None for all."""
        if self.far_ends is TailKind.LITERAL:
            return ()
        if self.relations is None:
            return None
        return tuple(sorted(self.relations & catalogue.types.keys()))

    def own(self, cells: Iterable[Sequence[Any]]) -> Own:
        """Of a node's properties, as `queries.OWN` gives them, those asked for."""
        found: dict[str, list[Literal]] = defaultdict(list)
        for key, value, length in sorted(cells, key=lambda cell: cell[0]) if self.values else ():
            relation = split_key(key)[0]
            if self.relations is None or relation in self.relations:
                found[relation] += literals(key, value, length)
        return {relation: values for relation, values in found.items() if values}


@dataclass(frozen=True, slots=True)
class _Glance:
    """What was read of one node: its properties as `queries.OWN` gives them, and the sizes of its relations.

    `ends` are the first few far ends by type in the directions in which they were read.
    """

    at: float
    anchor: Anchor
    own: Sequence[Sequence[Any]]
    sizes: Mapping[Direction, Mapping[str, int]]
    ends: Mapping[Direction, Mapping[str, Sequence[Cell]]] = field(
        default_factory=dict[Direction, Mapping[str, Sequence[Cell]]]
    )


class Tallies:
    """Counts rows at nodes.

    A tool call asks several things of one node, one after the other: what it is, whether it is a hub, what relations it
    has. What the first of these questions told is kept for a moment, and what follows is answered from it.
    """

    def __init__(self, store: Store, catalogues: Catalogues, entities: Entities, *, apoc: bool) -> None:
        self._store = store
        self._catalogues = catalogues
        self._entities = entities
        self._apoc = apoc
        self._glances: OrderedDict[str, _Glance] = OrderedDict()

    async def glance(self, reference: str) -> Entity | None:
        """The entity of a reference, None where there is none; its counts are kept for a moment."""
        if (seen := self._seen(reference)) is not None:
            return seen.anchor.entity
        types = list(self._catalogues.now.types)
        if len(types) > GLANCED and not self._apoc:
            return (await self._entities.entities([reference])).get(reference)
        parts = {
            str(side): cypher.apoc_degrees(side) if self._apoc else cypher.degrees(side, types) for side in Direction
        }
        found = await self._entities.find([reference], queries.GLANCE, parts, vector=VECTOR)
        if reference not in found:
            return None
        anchor = found[reference]
        _, own, *sides, degree = anchor.row
        sizes = {
            side: {types[kind] if isinstance(kind, int) else kind: size for kind, size in pairs if size}
            for side, pairs in zip(Direction, sides, strict=True)
        }
        if sum(size for of_side in sizes.values() for size in of_side.values()) == degree:
            self._keep(reference, _Glance(time.monotonic(), anchor, own, sizes))
        return anchor.entity

    def hub(self, reference: str, direction: Direction, look: Look) -> None:
        """Keep for a moment what a look told of a hub: who learns that it is one asks for its relations next."""
        sizes = {kind: size for kind, (size, _) in look.counted.items() if size}
        if sum(sizes.values()) == look.degree:
            ends = {direction: {kind: ends for kind, (_, ends) in look.counted.items()}}
            self._keep(reference, _Glance(time.monotonic(), look.anchor, look.own, {direction: sizes}, ends))

    def _keep(self, reference: str, glance: _Glance) -> None:
        """Keep counts that make up the degree. In others a type is new since the catalogue was read."""
        for name in {reference, glance.anchor.entity.id}:
            self._glances[name] = glance
            self._glances.move_to_end(name)
        while len(self._glances) > _KEPT:
            self._glances.popitem(last=False)

    def _seen(self, reference: str) -> _Glance | None:
        """What was read of a node a moment ago."""
        seen = self._glances.get(reference)
        return seen if seen is not None and time.monotonic() - seen.at <= _MOMENT else None

    def glanced(self, references: Sequence[str], wanted: Wanted, *, examples: int = 0) -> Tally | None:
        """The tally of the one node that is asked for, where it was read a moment ago."""
        seen = self._seen(references[0]) if len(references) == 1 else None
        if seen is None or wanted.direction not in seen.sizes:
            return None
        sizes = {
            kind: size
            for kind, size in seen.sizes[wanted.direction].items()
            if wanted.far_ends is not TailKind.LITERAL and (wanted.relations is None or kind in wanted.relations)
        }
        ends = seen.ends.get(wanted.direction) if examples <= ENDS else None
        return Tally(seen.anchor, wanted.own(seen.own), sizes, ends)

    async def at(self, references: Sequence[str], wanted: Wanted, *, examples: int = 0) -> list[Tally]:
        """The tallies of some nodes, in the order of the references, each once."""
        seen = self.glanced(references, wanted, examples=examples)
        if seen is not None:
            return [seen]
        tallies = await self._read(references, wanted, examples)
        if any(tally is None for tally in tallies):  # A type is new since the catalogue was read.
            await self._catalogues.renewed()
            tallies = await self._read(references, wanted, examples)
        return [tally for tally in tallies if tally is not None]

    async def _read(self, references: Sequence[str], wanted: Wanted, examples: int) -> list[Tally | None]:
        catalogue = self._catalogues.now
        types = wanted.types(catalogue)
        if types == ():
            found = await self._entities.anchors(references, queries.PROPERTIES, vector=VECTOR)
            return [Tally(anchor, wanted.own(anchor.row[_OWN]), {}) for anchor in found]
        counted = types if types is not None else list(catalogue.types)
        by_apoc = self._apoc and types is None
        parts = {
            "degree": cypher.degree(wanted.direction, types),
            "edge": cypher.edge(wanted.direction, types),
            "degrees": cypher.apoc_degrees(wanted.direction) if by_apoc else cypher.degrees(wanted.direction, counted),
            "own": queries.OWN if wanted.values else "[]",
        }
        found = await self._entities.anchors(
            references, queries.TALLY, parts, few=_FEW, examples=examples, vector=VECTOR
        )
        return [_tally(anchor, wanted, counted) for anchor in found]


def _tally(anchor: Anchor, wanted: Wanted, counted: Sequence[str]) -> Tally | None:
    """The tally of a node; None where the counts of the known types do not make up its degree."""
    row = anchor.row
    own, degree = wanted.own(row[_OWN]), int(row[_DEGREE])
    if degree <= _FEW:
        sizes = {kind: size for kind, size, _ in row[_FOUND]}
        return Tally(anchor, own, sizes, {kind: ends for kind, _, ends in row[_FOUND]})
    sizes = {counted[kind] if isinstance(kind, int) else kind: size for kind, size in row[_SIZES] if size}
    return Tally(anchor, own, sizes) if sum(sizes.values()) == degree else None
