"""How many statements each property has at each entity: what relations are stated from, and pages are planned with.

What leaves an entity is counted by grouping. What points at it is, too, where the endpoint can do that in time; at a
hub of a slower one the catalogue says which properties to ask for, and each is counted up to a bound.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cachetools import TTLCache
from rdflib import URIRef

from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.reading import Read, address, fits, number, worst
from kgnav_mcp.adapters.sparql.terms import batches, values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import Catalogues
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import TailKind

COUNTED_AT_HUBS = 1_001
"""Rows of one relation of a hub that are counted at most."""

_KEPT = 500
_FRESH = 60.0
"""Seconds that counts are kept, so that the pages of one list do not count it again and again."""
_CHUNK = 300
"""Properties of one question to a hub."""
_TOGETHER = 40
"""Properties of a hub that are counted together."""
_LOOKED_AT = 20_000
"""Triples of a hub that are looked at where there is no catalogue."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Statements of each property at each entity; `stop` says whether everything is known."""

    rows: dict[URIRef, dict[str, Count]]
    stop: Stop = Stop.COMPLETE

    def total(self, rows: Iterable[Count]) -> Count:
        """The sum of some counts out of this tally."""
        total = sum(rows, Count(0))
        return total if self.stop is Stop.COMPLETE else Count.at_least(total.value)

    def only(self, kept: Iterable[str]) -> Tally:
        """The part of some properties."""
        names = set(kept)
        return Tally(
            {
                anchor: {name: count for name, count in counts.items() if name in names}
                for anchor, counts in self.rows.items()
            },
            self.stop,
        )

    def names(self) -> dict[str, Count]:
        """The statements of each property at all entities together."""
        found: dict[str, Count] = {}
        for counts in self.rows.values():
            for name, count in counts.items():
                found[name] = found.get(name, Count(0)) + count
        return found


_Key = tuple[frozenset[URIRef], Direction, TailKind | None]


class Tallies:
    """Counts statements, and keeps the counts for a minute."""

    def __init__(self, store: Store, catalogues: Catalogues) -> None:
        self._store = store
        self._reader = store.reader
        self._catalogues = catalogues
        self._kept: TTLCache[_Key, Tally] = TTLCache(_KEPT, _FRESH)

    async def near(self, anchors: Sequence[URIRef], direction: Direction, far_ends: TailKind | None) -> Tally:
        """Statements of each property, those with other far ends than wanted left out."""
        key = (frozenset(anchors), direction, far_ends)
        kept = self._kept.get(key)
        if kept is None:
            kept = await self._counted(anchors, direction, far_ends)
            if kept.stop is Stop.COMPLETE:
                self._kept[key] = kept
        return kept

    async def exceeds(self, anchors: Sequence[URIRef], direction: Direction, limit: int) -> bool:
        """Whether more statements than that point at the entities, told without counting them all.

        Where it cannot be told so, the answer is no, and `near` tells.
        """
        kept = self._kept.get((frozenset(anchors), direction, None))
        if kept is not None or direction is Direction.OUTGOING or self._store.wikidata.counted is not None:
            return False
        found = 0
        for batch in batches(anchors, _CHUNK):
            try:
                counted = await self._reader.count(queries.PROBE[direction], s=values(*batch), most=limit + 1)
            except StoreTimeout:
                return False  # `near` has other ways to find out, and says so where they end early.
            found += counted.value
        return found > limit

    async def _counted(self, anchors: Sequence[URIRef], direction: Direction, far_ends: TailKind | None) -> Tally:
        if direction is Direction.INCOMING:
            return Tally({}) if far_ends is TailKind.LITERAL else await self._pointing(anchors)
        if far_ends is None:
            return self._tally(await self._reader.over(queries.COUNTS[direction], "s", anchors))
        if far_ends is TailKind.ENTITY:
            return self._tally(await self._reader.over(queries.ENTITY_COUNTS, "s", anchors))
        every, entities = await gathered(
            self.near(anchors, direction, None), self.near(anchors, direction, TailKind.ENTITY)
        )
        if entities.stop is not Stop.COMPLETE:
            raise errors.stopped()  # What is left where too little is taken away is no lower bound.
        rest: dict[URIRef, dict[str, Count]] = {}
        for anchor, counts in every.rows.items():
            taken = entities.rows.get(anchor, {})
            left = {name: max(count.value - taken.get(name, Count(0)).value, 0) for name, count in counts.items()}
            rest[anchor] = {name: replace(counts[name], value=value) for name, value in left.items() if value}
        return Tally(rest, every.stop)

    async def _pointing(self, anchors: Sequence[URIRef]) -> Tally:
        bound = self._store.wikidata.counted
        small = list(anchors)
        if bound is not None:
            sizes = await gathered(*(self._is_small(anchor, bound) for anchor in anchors))
            small = [anchor for anchor, fits in zip(anchors, sizes, strict=True) if fits]
        tally = Tally({})
        if small:
            try:
                tally = self._tally(await self._reader.over(queries.COUNTS[Direction.INCOMING], "s", small))
            except StoreTimeout:
                small = []
        hubs = [await self._hub(anchor) for anchor in anchors if anchor not in small]
        for hub in hubs:
            tally.rows.update(hub.rows)
        return Tally(tally.rows, worst((tally.stop, *(hub.stop for hub in hubs))))

    async def _is_small(self, anchor: URIRef, bound: int) -> bool:
        try:
            counted = await self._reader.count(queries.POINTING, s=values(anchor), most=bound + 1)
        except StoreTimeout:
            return False  # What takes so long is large.
        return fits(counted, bound)

    async def _hub(self, anchor: URIRef) -> Tally:
        """The relations of a hub without its rows: which properties lead to it, and how often up to a bound."""
        known = [known.id for known in self._catalogues.current.properties if known.to_entities]
        if not known:
            rows = (await self._reader.select(queries.SOME_RELATIONS, s=values(anchor), most=_LOOKED_AT)).rows
            found = sorted(local for row in rows if (local := self._store.ids.last(str(row["p"]))) is not None)
            return Tally({anchor: dict.fromkeys(found, Count.at_least(1))}, Stop.TIME_OUT)
        parts = await gathered(*(self._leading(anchor, chunk) for chunk in batches(known, _CHUNK)))
        names = [name for found, _ in parts for name in found]
        missing = any(not whole for _, whole in parts)
        if missing and not names:
            raise hub_timed_out()
        counts: dict[str, Count] = {}
        for part in await gathered(*(self._up_to(anchor, chunk) for chunk in batches(names, _TOGETHER))):
            counts |= part
        return Tally({anchor: counts}, Stop.TIME_OUT if missing else Stop.COMPLETE)

    async def _leading(self, anchor: URIRef, names: Sequence[str]) -> tuple[list[str], bool]:
        """Those of the properties that lead to an entity, and whether all were looked at in time."""
        directs = values(*map(self._store.ids.direct, names))
        try:
            read = await self._reader.select(queries.LEADING, directs=directs, s=anchor)
        except StoreTimeout:
            return [], False  # The tally says that it is partial.
        found = [local for row in read.rows if (local := self._store.ids.last(str(row["direct"]))) is not None]
        return found, read.stop is Stop.COMPLETE

    async def _up_to(self, anchor: URIRef, names: Sequence[str]) -> dict[str, Count]:
        """The rows of properties at a hub, each counted up to a bound; one or more where that takes too long."""
        branches = [
            self._reader.filled(
                queries.AT_MOST,
                pointing=self._store.rows(self._store.form.pointing, name, s=anchor),
                most=COUNTED_AT_HUBS,
                number=place,
            )
            for place, name in enumerate(names)
        ]
        counts = dict.fromkeys(names, Count.at_least(1))
        try:
            read = await self._reader.union(branches)
        except StoreTimeout:
            return counts  # Each count says that it is a lower bound.
        for row in read.rows:
            name, found = names[number(row, "number")], number(row, "n")
            if found < COUNTED_AT_HUBS and read.stop is Stop.COMPLETE:
                counts[name] = Count(found)
            else:
                counts[name] = Count.at_least(max(found, 1))
        return counts

    def _tally(self, read: Read) -> Tally:
        found: dict[URIRef, dict[str, Count]] = defaultdict(dict)
        for row in read.rows:
            local = self._store.ids.last(str(row["p"]))
            if local is not None:
                found[address(row, "s")][local] = read.counted(number(row, "n"))
        return Tally(dict(found), read.stop)


def hub_timed_out() -> StoreTimeout:
    """The error for a hub of which nothing at all could be learnt in time."""
    return StoreTimeout(
        None,
        "the store ran out of time over all that points at this entity",
        next_step="Name relations, or look at what leaves the entity (outgoing).",
    )
