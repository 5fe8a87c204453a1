"""How many rows each relation has at each entity: what relations are stated from, and pages are planned with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field

from cachetools import TTLCache
from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.store import FRESH, SAMPLE, Store
from kgnav_mcp.adapters.sparql.reading import Read, Row, address, number, worst
from kgnav_mcp.adapters.sparql.terms import Terms, batches, values
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import TailKind

Path = tuple[URIRef, ...]
"""One relation, or the two relations of a way through a mediator, from head to tail."""

_KEPT = 500
_AT_ONCE = 1_000_000
"""Rows of one entity behind all of which mediators are looked for, in a second; where there are more, behind those of
the relations of which a sample says that they lead to some."""
_BATCH = 200
"""Entities of one grouped query: their relations together stay below the usual limit of 10,000 rows."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows of each path at each entity; `stop` says whether every row was counted."""

    rows: dict[URIRef, Counter[Path]]
    stop: Stop = Stop.COMPLETE
    mediators: dict[Path, tuple[URIRef, ...]] = field(default_factory=dict[Path, tuple[URIRef, ...]])
    """Two of the mediators of a two-hop relation, or its only one, where they came with the counts."""

    @classmethod
    def of(cls, far_ends: Mapping[tuple[URIRef, Path], Sized]) -> Tally:
        """The numbers of far ends that were all read."""
        rows: dict[URIRef, Counter[Path]] = defaultdict(Counter)
        for (anchor, path), ends in far_ends.items():
            rows[anchor][path] = len(ends)
        return cls(rows)

    def count(self, rows: int) -> Count:
        """A number out of this tally, with how sure it is."""
        return Count(rows) if self.stop is Stop.COMPLETE else Count.at_least(rows)

    def paths(self) -> Counter[Path]:
        """Rows of each path at all entities together."""
        total = Counter[Path]()
        for counts in self.rows.values():
            total.update(counts)
        return total

    def near(self, direction: Direction) -> set[URIRef]:
        """The relations next to the entities that its two-hop relations begin with: a sample may have missed some."""
        side = 0 if direction is Direction.OUTGOING else 1
        return {path[side] for counts in self.rows.values() for path in counts}

    def only(self, near: frozenset[URIRef], direction: Direction) -> Tally:
        """The two-hop relations that begin with some relations next to the entities."""
        side = 0 if direction is Direction.OUTGOING else 1
        rows = {
            anchor: Counter({path: n for path, n in counts.items() if path[side] in near})
            for anchor, counts in self.rows.items()
        }
        return Tally(rows, self.stop, self.mediators)

    def __or__(self, other: Tally) -> Tally:
        merged = {anchor: Counter(counts) for anchor, counts in self.rows.items()}
        for anchor, counts in other.rows.items():
            merged.setdefault(anchor, Counter()).update(counts)
        return Tally(merged, worst((self.stop, other.stop)), self.mediators | other.mediators)


_EVERY = frozenset[URIRef]()
"""As the part of a key: the two-hop relations through every relation."""

_Key = tuple[frozenset[URIRef], Direction, TailKind | None, frozenset[URIRef] | None]


class Tallies:
    """Counts rows, and keeps the counts for a minute: a hub that collapses is counted once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = store.reader
        self._kept: TTLCache[_Key, Tally] = TTLCache(_KEPT, FRESH)

    async def near(self, anchors: Sequence[URIRef], direction: Direction, far_ends: TailKind | None) -> Tally:
        """Rows of the one-hop relations that are shown."""
        if direction is Direction.INCOMING:
            if far_ends is TailKind.LITERAL:
                return Tally({})
            far_ends = None  # The head of a triple is an entity, always.
        key = (frozenset(anchors), direction, far_ends, None)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._keep(key, await self._near(anchors, direction, far_ends))
        return kept

    async def through(
        self,
        anchors: Sequence[URIRef],
        direction: Direction,
        far_ends: TailKind | None,
        near: Iterable[URIRef] | None = None,
    ) -> Tally:
        """Rows of the two-hop relations through mediators, without the ways back to where they started.

        `near` narrows to these relations next to the entities. Of several entities, and of one with more than a
        million rows, a relation with more than 1,000 rows leads to mediators where one of its first 1,000 far ends is
        one: a relation of Freebase has one type of far end.
        """
        if direction is Direction.INCOMING:
            if far_ends is TailKind.LITERAL:
                return Tally({})
            far_ends = None
        wanted = None if near is None else frozenset(near)
        every = (frozenset(anchors), direction, far_ends, _EVERY)
        if wanted is not None and (kept := self._kept.get(every)) is not None and wanted <= kept.near(direction):
            return kept.only(wanted, direction)
        key = every if wanted is None else (*every[:3], wanted)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._keep(key, await self._through(anchors, direction, far_ends, wanted))
        return kept

    def _keep(self, key: _Key, tally: Tally) -> Tally:
        """Keep a tally, unless the next call may count more."""
        if tally.stop is not Stop.TIME_OUT:
            self._kept[key] = tally
        return tally

    async def _near(self, anchors: Sequence[URIRef], direction: Direction, far_ends: TailKind | None) -> Tally:
        kind = queries.FAR_ENDS[far_ends]
        if len(anchors) == 1:
            around = self._reader.part(queries.AROUND_ONE[direction], s=anchors[0])
            read = await self._reader.select(queries.COUNTS_ONE, around=around, kind=kind)
            return self._tally(read.rows, read.stop, anchors[0])
        tally = Tally({})
        for batch in batches(anchors, _BATCH):
            around = self._reader.part(queries.AROUND_SET[direction], s=values(*batch))
            read = await self._reader.select(queries.COUNTS_SET, around=around, kind=kind)
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
        if wanted is not None:
            return await self._through_near(anchors, direction, far_ends, sorted(wanted))
        tally = await self.near(anchors, direction, None)
        found = Tally({}, tally.stop)
        if not tally.rows:
            return found
        counts = tally.paths()
        large = counts.total() > _AT_ONCE if len(anchors) == 1 else max(counts.values()) > SAMPLE
        if large:
            leading, stop = await self._leading_to_mediators(anchors, direction, tally)
            return found | Tally({}, stop) | await self._through_near(anchors, direction, far_ends, leading)
        if len(anchors) == 1:
            return found | await self._through_one(anchors[0], direction, far_ends)
        kind = queries.FAR_ENDS[far_ends]
        for batch in batches(anchors, _BATCH):
            through = self._reader.part(queries.THROUGH_SET[direction], s=values(*batch))
            read = await self._reader.select(queries.THROUGH_COUNTS_SET, through=through, kind=kind)
            found |= self._tally(read.rows, read.stop, None, direction)
        return found

    async def _through_one(
        self,
        anchor: URIRef,
        direction: Direction,
        far_ends: TailKind | None,
        near: Sequence[URIRef] | None = None,
    ) -> Tally:
        """The two-hop relations of one entity, or those that begin with some relations, with two mediators of each.

        These two tell whether the nodes without a name that it goes through are mediators: a relation of Freebase has
        one type of far end. Where only one of them is, each row is looked at.
        """
        only = [Terms("")]
        if near is not None:
            only = [self._reader.part(queries.ONLY_NEAR, relations=values(*batch)) for batch in batches(near)]
        through = self._reader.part(queries.THROUGH_ONE[direction], s=anchor)
        kind = queries.FAR_ENDS[far_ends]
        read = Read(())
        for some in only:
            more = await self._reader.select(
                queries.THROUGH_COUNTS_ONE, through=through, only=some, s=anchor, kind=kind
            )
            read = Read.together((read, more))
        mediators = {self._path(row, direction): tuple(dict.fromkeys((row["first"], row["last"]))) for row in read.rows}
        topics = {path: {self._store.ids.topic(str(node)) for node in nodes} for path, nodes in mediators.items()}
        side = 0 if direction is Direction.OUTGOING else 1
        unsure = sorted({path[side] for path, kinds in topics.items() if len(kinds) > 1})
        sure = {path for path, kinds in topics.items() if kinds == {True} and path[side] not in unsure}
        tally = self._tally(
            (row for row in read.rows if self._path(row, direction) in sure), read.stop, anchor, direction
        )
        tally.mediators.update({path: tuple(URIRef(str(node)) for node in mediators[path]) for path in sure})
        return tally | await self._each_near([anchor], direction, far_ends, unsure)

    async def _through_near(
        self, anchors: Sequence[URIRef], direction: Direction, far_ends: TailKind | None, near: Sequence[URIRef]
    ) -> Tally:
        """The two-hop relations that begin with some relations next to the entities."""
        if len(anchors) == 1:
            return await self._through_one(anchors[0], direction, far_ends, near)
        return await self._each_near(anchors, direction, far_ends, near)

    async def _each_near(
        self, anchors: Sequence[URIRef], direction: Direction, far_ends: TailKind | None, near: Sequence[URIRef]
    ) -> Tally:
        """The same, where each node that they go through is looked at."""
        branches = [
            self._reader.filled(
                queries.THROUGH_NEAR_COUNTS,
                number=place,
                through=self._reader.part(queries.THROUGH_NEAR[direction], s=values(*batch), near=relation),
                kind=queries.FAR_ENDS[far_ends],
            )
            for place, relation in enumerate(near)
            for batch in batches(anchors, _BATCH)
        ]
        read = await self._reader.union(branches) if branches else Read(())
        rows = [{**row, "near": near[number(row, "number")]} for row in read.rows]
        return self._tally(rows, read.stop, None, direction)

    async def _leading_to_mediators(
        self, anchors: Sequence[URIRef], direction: Direction, tally: Tally
    ) -> tuple[list[URIRef], Stop]:
        """The relations among whose first rows is a mediator, and whether all were looked at."""
        near = sorted(path[0] for path in tally.paths())
        branches = [
            self._reader.filled(
                queries.LEADS_TO_MEDIATOR,
                number=place,
                by=self._reader.part(queries.BY[direction], s=values(*batch), p=relation),
                sample=SAMPLE,
            )
            for place, relation in enumerate(near)
            for batch in batches(anchors, _BATCH)
        ]
        read = await self._reader.union(branches)
        return [near[place] for place in sorted({number(row, "number") for row in read.rows})], read.stop

    def _tally(
        self, rows: Iterable[Row], stop: Stop, only: URIRef | None = None, direction: Direction | None = None
    ) -> Tally:
        """The rows of a grouped query, without the relations that are not shown."""
        found: dict[URIRef, Counter[Path]] = {}
        for row in rows:
            anchor = only if only is not None else address(row, "s")
            path = self._path(row, direction) if direction is not None else (address(row, "p"),)
            if all(self._store.freebase.shows(relation) for relation in path):
                found.setdefault(anchor, Counter())[path] += number(row, "n")
        return Tally(found, stop)

    @staticmethod
    def _path(row: Row, direction: Direction) -> Path:
        """The two-hop relation of a row, from head to tail."""
        ends = address(row, "near"), address(row, "far")
        return ends if direction is Direction.OUTGOING else ends[::-1]
