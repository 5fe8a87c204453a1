"""How many rows each relation has at each entity: what relations are stated from, and pages are planned with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.store import SAMPLE, Recent, Row, Store, address, number, worst
from kgnav_mcp.adapters.sparql.terms import batches, values
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import TailKind

Path = tuple[URIRef, ...]
"""One relation, or the two relations of a way through a mediator, from head to tail."""

_KEPT = 500
_BATCH = 200
"""Entities of one grouped query: their relations together stay below the usual limit of 10,000 rows."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows of each path at each entity; `stop` says whether every row was counted."""

    rows: dict[URIRef, Counter[Path]]
    stop: Stop = Stop.COMPLETE

    def count(self, rows: int) -> Count:
        """A number out of this tally, with how sure it is."""
        return Count(rows) if self.stop is Stop.COMPLETE else Count.at_least(rows)

    def paths(self) -> Counter[Path]:
        """Rows of each path at all entities together."""
        total = Counter[Path]()
        for counts in self.rows.values():
            total.update(counts)
        return total

    def __or__(self, other: Tally) -> Tally:
        merged = {anchor: Counter(counts) for anchor, counts in self.rows.items()}
        for anchor, counts in other.rows.items():
            merged.setdefault(anchor, Counter()).update(counts)
        return Tally(merged, worst((self.stop, other.stop)))


_EVERY = frozenset[URIRef]()
"""As the part of a key: the two-hop relations through every relation."""

_Key = tuple[frozenset[URIRef], Direction, TailKind | None, frozenset[URIRef] | None]


class Tallies:
    """Counts rows, and keeps the counts for a minute: a hub that collapses is counted once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: Recent[_Key, Tally] = Recent(_KEPT)

    async def near(self, anchors: Sequence[URIRef], direction: Direction, far_ends: TailKind | None) -> Tally:
        """Rows of the one-hop relations that are shown."""
        if direction is Direction.INCOMING:
            if far_ends is TailKind.LITERAL:
                return Tally({})
            far_ends = None  # The head of a triple is an entity, always.
        key = (frozenset(anchors), direction, far_ends, None)
        kept = self._kept.get(key)
        if kept is None:
            kept = await self._near(anchors, direction, far_ends)
            self._kept.put(key, kept)
        return kept

    async def through(
        self,
        anchors: Sequence[URIRef],
        direction: Direction,
        far_ends: TailKind | None,
        near: Iterable[URIRef] | None = None,
    ) -> Tally:
        """Rows of the two-hop relations through mediators, without the ways back to where they started.

        `near` narrows to these relations next to the entities. A relation with more than 1,000 rows leads to
        mediators where one of its first 1,000 far ends is one: a relation of Freebase has one type of far end.
        """
        if direction is Direction.INCOMING:
            if far_ends is TailKind.LITERAL:
                return Tally({})
            far_ends = None
        wanted = None if near is None else frozenset(near)
        key = (frozenset(anchors), direction, far_ends, wanted or _EVERY)
        kept = self._kept.get(key)
        if kept is None:
            kept = await self._through(anchors, direction, far_ends, wanted)
            self._kept.put(key, kept)
        return kept

    async def _near(self, anchors: Sequence[URIRef], direction: Direction, far_ends: TailKind | None) -> Tally:
        kind = queries.FAR_ENDS[far_ends]
        if len(anchors) == 1:
            around = self._store.part(queries.AROUND_ONE[direction], s=anchors[0])
            read = await self._store.select(queries.COUNTS_ONE, around=around, kind=kind)
            return self._tally(read.rows, read.stop, anchors[0])
        tally = Tally({})
        for batch in batches(anchors, _BATCH):
            around = self._store.part(queries.AROUND_SET[direction], s=values(*batch))
            read = await self._store.select(queries.COUNTS_SET, around=around, kind=kind)
            if read.stop is Stop.ROW_CAP:
                half = len(batch) // 2
                tally |= await self._near(batch[:half], direction, far_ends)
                tally |= await self._near(batch[half:], direction, far_ends)
            else:
                tally |= self._tally(read.rows, read.stop)
        return tally

    async def _through(
        self,
        anchors: Sequence[URIRef],
        direction: Direction,
        far_ends: TailKind | None,
        wanted: frozenset[URIRef] | None,
    ) -> Tally:
        tally = await self.near(anchors, direction, None)
        counts = Counter({path[0]: rows for path, rows in tally.paths().items()})
        near = [relation for relation in sorted(counts) if wanted is None or relation in wanted]
        mediated = await self._mediated(anchors, direction, near, counts)
        found = Tally({}, tally.stop)
        kind = queries.FAR_ENDS[far_ends]
        for relations in batches(mediated):
            if len(anchors) == 1:
                through = self._store.part(queries.THROUGH_ONE[direction], s=anchors[0], near=values(*relations))
                read = await self._store.select(queries.THROUGH_COUNTS_ONE, through=through, kind=kind)
                found |= self._tally(read.rows, read.stop, anchors[0], direction)
                continue
            for batch in batches(anchors, _BATCH):
                through = self._store.part(queries.THROUGH_SET[direction], s=values(*batch), near=values(*relations))
                read = await self._store.select(queries.THROUGH_COUNTS_SET, through=through, kind=kind)
                found |= self._tally(read.rows, read.stop, None, direction)
        return found

    async def _mediated(
        self, anchors: Sequence[URIRef], direction: Direction, near: Sequence[URIRef], counts: Counter[URIRef]
    ) -> list[URIRef]:
        """The relations that may lead to mediators: the small ones, and the large ones whose first rows do."""
        large = [relation for relation in near if counts[relation] > SAMPLE]
        branches = [
            self._store.filled(
                queries.LEADS_TO_MEDIATOR,
                number=place,
                by=self._store.part(queries.BY[direction], s=values(*batch), p=relation),
                sample=SAMPLE,
            )
            for place, relation in enumerate(large)
            for batch in batches(anchors, _BATCH)
        ]
        read = await self._store.union(branches) if branches else None
        leading = {large[number(row, "number")] for row in read.rows} if read else set[URIRef]()
        return [relation for relation in near if counts[relation] <= SAMPLE or relation in leading]

    def _tally(
        self, rows: Iterable[Row], stop: Stop, only: URIRef | None = None, direction: Direction | None = None
    ) -> Tally:
        """The rows of a grouped query, without the relations that are not shown."""
        found: dict[URIRef, Counter[Path]] = {}
        for row in rows:
            anchor = only if only is not None else address(row, "s")
            if direction is None:
                path: Path = (address(row, "p"),)
            else:
                ends = address(row, "near"), address(row, "far")
                path = ends if direction is Direction.OUTGOING else ends[::-1]
            if all(self._store.freebase.shows(relation) for relation in path):
                found.setdefault(anchor, Counter())[path] += number(row, "n")
        return Tally(found, stop)
