"""How many rows each relation has at each entity: what relations are stated from, and pages are planned with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cachetools import TTLCache
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.blanks import Resolved
from kgnav_mcp.adapters.endpoint.reification import NOTATION
from kgnav_mcp.adapters.endpoint.store import Anchor, Store
from kgnav_mcp.adapters.sparql.reading import Row, address, number, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Terms, batches, listed, values
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import TailKind

Path = tuple[URIRef, ...]
"""One relation, or the two relations of a way through a mediator, from head to tail."""

_KEPT = 500
_FRESH = 60.0
"""Seconds that counts are kept, so that the pages of one list do not count it again and again."""
_BATCH = 100
"""Entities of one grouped query: their relations together stay below the usual limit of 10,000 rows."""
_PARALLEL = 10_000
"""Triples among which parallel statements are counted; above that counts are lower bounds where there may be some."""
_FIRST = 20_000
"""Edges that are counted where all of them take too long."""
_SHARE = 0.4
"""Of a call's time, for an exact count; what is left is for what can be had instead."""
_CHUNK = 100
"""Relations that are looked up together at an entity whose edges cannot be counted."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows of each path at each entity. `stop` says whether all were counted, `bounds` which counts are lower ones."""

    rows: Mapping[Anchor, Counter[Path]] = field(default_factory=dict[Anchor, Counter[Path]])
    stop: Stop = Stop.COMPLETE
    bounds: frozenset[tuple[Anchor, Path]] = frozenset()

    def count(self, paths: Iterable[tuple[Anchor, Path]]) -> Count:
        """The rows of some paths together, with how sure that number is."""
        wanted = list(paths)
        size = sum(self.rows[anchor][path] for anchor, path in wanted)
        exact = self.stop is Stop.COMPLETE and not self.bounds.intersection(wanted)
        return Count(size) if exact else Count.at_least(size)

    def parts(self) -> list[tuple[Anchor, Path]]:
        """Every entity with every path it has."""
        return [(anchor, path) for anchor, counts in self.rows.items() for path in counts]

    def narrowed(self, paths: set[Path]) -> Tally:
        """The tally of some paths alone."""
        rows = {
            anchor: Counter({path: rows for path, rows in counts.items() if path in paths})
            for anchor, counts in self.rows.items()
        }
        return Tally(rows, self.stop, frozenset(key for key in self.bounds if key[1] in paths))

    def __or__(self, other: Tally) -> Tally:
        merged = {anchor: Counter(counts) for anchor, counts in self.rows.items()}
        for anchor, counts in other.rows.items():
            merged.setdefault(anchor, Counter()).update(counts)
        return Tally(merged, worst((self.stop, other.stop)), self.bounds | other.bounds)


class KnownRelations(Protocol):
    """What is used of the catalogue here."""

    async def relations(self) -> Sequence[URIRef]:
        """The relations of the graph that are known, most used first."""
        ...


_Key = tuple[frozenset[URIRef], Direction, TailKind | None, frozenset[URIRef] | None]


class Tallies:
    """Counts rows, and keeps the counts for a minute: a hub that collapses is counted once."""

    def __init__(self, store: Store, known: KnownRelations) -> None:
        self._store = store
        self._known = known
        self._kept: TTLCache[_Key, Tally] = TTLCache(_KEPT, _FRESH)

    async def near(self, anchors: Sequence[Anchor], direction: Direction, far_ends: TailKind | None) -> Tally:
        """Rows of the one-hop relations."""
        if direction is Direction.INCOMING and far_ends is TailKind.LITERAL:
            return Tally()
        iris = [anchor for anchor in anchors if isinstance(anchor, URIRef)]
        key = _key(iris, direction, far_ends, None)
        kept = self._kept.get(key)
        if kept is None:
            kept = await self._counted(iris, direction, far_ends)
            self._kept[key] = kept
        blanks = [anchor for anchor in anchors if isinstance(anchor, Resolved)]
        counts: dict[Anchor, Counter[Path]] = {one: own_counts(one, direction, far_ends) for one in blanks}
        return kept | Tally({one: found for one, found in counts.items() if found})

    async def of_rows(self, rows: Sequence[Row], anchors: Sequence[Anchor], direction: Direction) -> Tally:
        """The tally of entities whose triples have all been read."""
        found: dict[Anchor, Counter[Path]] = {}
        for row in rows:
            found.setdefault(address(row, "s"), Counter())[address(row, "p"),] += 1
        iris = [anchor for anchor in anchors if isinstance(anchor, URIRef)]
        return await self._with_parallels(Tally(found), iris, direction)

    async def through(
        self,
        anchors: Sequence[Anchor],
        direction: Direction,
        far_ends: TailKind | None,
        near: Iterable[URIRef] | None = None,
    ) -> Tally:
        """Rows of the two-hop relations through mediators, without the ways back to where they started.

        `near` narrows to these relations next to the entities. None leads on from a blank node.
        """
        if direction is Direction.INCOMING and far_ends is TailKind.LITERAL:
            return Tally()
        wanted = None if near is None else frozenset(near)
        iris = [anchor for anchor in anchors if isinstance(anchor, URIRef)]
        key = _key(iris, direction, far_ends, wanted or frozenset())
        kept = self._kept.get(key)
        if kept is None:
            try:
                kept = await self._through(iris, direction, far_ends, wanted)
            except StoreTimeout:
                kept = Tally(stop=Stop.TIME_OUT)
            self._kept[key] = kept
        return kept

    async def _counted(self, iris: Sequence[URIRef], direction: Direction, far_ends: TailKind | None) -> Tally:
        kind = self._store.reification.kind(direction, far_ends)
        tally = Tally()
        for batch in batches(iris, 1 if len(iris) == 1 else _BATCH):
            try:
                counted = await self._grouped(batch, direction, kind)
            except StoreTimeout:
                counted = Tally(stop=Stop.TIME_OUT)
                for iri in batch:
                    counted |= await self._some(iri, direction, kind)
            tally |= counted
        literals = far_ends is TailKind.LITERAL
        return tally if literals else await self._with_parallels(tally, iris, direction)

    async def _grouped(self, iris: Sequence[URIRef], direction: Direction, kind: Terms) -> Tally:
        reader = self._store.reader
        if len(iris) == 1:
            around = reader.part(queries.AROUND_ONE[direction], s=iris[0])
            read = await reader.select(queries.COUNTS_ONE, share=_SHARE, around=around, kind=kind)
        else:
            around = reader.part(queries.AROUND_SET[direction], s=values(*iris))
            read = await reader.select(queries.COUNTS_SET, share=_SHARE, around=around, kind=kind)
        if read.stop is Stop.ROW_CAP and len(iris) > 1:
            half = len(iris) // 2
            return await self._grouped(iris[:half], direction, kind) | await self._grouped(iris[half:], direction, kind)
        return _tally(read.rows, read.stop, iris[0] if len(iris) == 1 else None)

    async def _some(self, iri: URIRef, direction: Direction, kind: Terms) -> Tally:
        """What can be known of a hub that is not counted in time: its first edges, and each relation looked up."""
        reader = self._store.reader
        around = reader.part(queries.AROUND_ONE[direction], s=iri)
        first = await reader.select(queries.FIRST_EDGES, share=1 - _SHARE, around=around, kind=kind, most=_FIRST)
        counts = {
            path: rows for counts in _tally(first.rows, first.stop, iri).rows.values() for path, rows in counts.items()
        }
        try:
            for batch in batches(await self._known.relations(), _CHUNK):
                read = await reader.select(queries.HAVING[direction], share=_SHARE, s=iri, relations=values(*batch))
                for row in read.rows:
                    path = (address(row, "p"),)
                    if path[0] not in NOTATION:
                        counts.setdefault(path, 1)
        except StoreTimeout:
            pass  # The tally says in any case that it is not whole.
        return Tally({iri: Counter(counts)} if counts else {}, Stop.TIME_OUT)

    async def _with_parallels(self, tally: Tally, iris: Sequence[URIRef], direction: Direction) -> Tally:
        """The tally with the rows that several statements about one triple make."""
        if not self._store.reification.parallel or not tally.rows:
            return tally
        size = sum(rows for counts in tally.rows.values() for rows in counts.values())
        if size > _PARALLEL:
            return Tally(tally.rows, tally.stop, frozenset(tally.parts()))
        try:
            more = await self._store.reification.parallels(iris, direction)
        except StoreTimeout:
            return Tally(tally.rows, tally.stop, frozenset(tally.parts()))
        rows = {anchor: Counter(counts) for anchor, counts in tally.rows.items()}
        for (iri, relation), extra in more.items():
            if iri in rows and (relation,) in rows[iri]:
                rows[iri][relation,] += extra
        return Tally(rows, tally.stop, tally.bounds)

    async def _through(
        self, iris: Sequence[URIRef], direction: Direction, far_ends: TailKind | None, near: frozenset[URIRef] | None
    ) -> Tally:
        reader = self._store.reader
        kind = self._store.reification.kind(direction, far_ends, "?far")
        narrowed = reader.part(queries.ONE_NEAR, listed=listed(*sorted(near))).text if near else ""
        tally = Tally()
        for batch in batches(iris, 1 if len(iris) == 1 else _BATCH):
            one = len(iris) == 1
            template = (queries.NEAR if one else queries.NEAR_SET)[direction]
            start = reader.filled(template, s=batch[0] if one else values(*batch))
            path = Terms(f"{start} {narrowed} {reader.filled('$mediator')} {queries.FAR[direction]}")
            if one:
                read = await reader.select(queries.THROUGH_ONE, share=_SHARE, path=path, kind=kind, s=batch[0])
            else:
                read = await reader.select(queries.THROUGH_SET, share=_SHARE, path=path, kind=kind)
            tally |= _tally(read.rows, read.stop, batch[0] if one else None, direction)
        return tally


def _key(
    iris: Sequence[URIRef], direction: Direction, far_ends: TailKind | None, near: frozenset[URIRef] | None
) -> _Key:
    return frozenset(iris), direction, far_ends if direction is Direction.OUTGOING else None, near


def own_counts(anchor: Resolved, direction: Direction, far_ends: TailKind | None) -> Counter[Path]:
    """The rows of each relation at a blank node, from its own triples."""
    return Counter((relation,) for relation, far in own_edges(anchor, direction) if is_kind(far, far_ends, direction))


def own_edges(anchor: Resolved, direction: Direction) -> list[tuple[URIRef, Term]]:
    """The triples of a blank node that are shown."""
    return [(relation, far) for relation, far in anchor.blank.edges(direction) if relation not in NOTATION]


def is_kind(far: Term, far_ends: TailKind | None, direction: Direction) -> bool:
    """Whether a far end is of the kind that is wanted; every head is an entity."""
    if far_ends is None or direction is Direction.INCOMING:
        return True
    return isinstance(far, Literal) is (far_ends is TailKind.LITERAL)


def _tally(rows: Iterable[Row], stop: Stop, only: URIRef | None, direction: Direction | None = None) -> Tally:
    """The rows of a grouped query."""
    found: dict[Anchor, Counter[Path]] = {}
    for row in rows:
        if direction is None:
            if "p" not in row:
                continue  # The one row of a group of nothing, in some endpoints.
            path: Path = (address(row, "p"),)
        elif "near" in row:
            ends = address(row, "near"), address(row, "far")
            path = ends if direction is Direction.OUTGOING else ends[::-1]
        else:
            continue
        anchor = only if only is not None else address(row, "s")
        found.setdefault(anchor, Counter())[path] += number(row, "n")
    return Tally(found, stop)
