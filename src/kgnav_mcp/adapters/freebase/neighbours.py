"""The triples around entities, page by page.

Rows come entity by entity in the order asked for, and there relation by relation in the order of their ids. How many
rows each relation has is counted first, so that a page knows which relations it is made of and reads nothing else:
small relations whole and together, sorted here; large ones by a slice in the order of Virtuoso's index.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from itertools import groupby

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.relations import path_id, path_relation
from kgnav_mcp.adapters.freebase.segments import Found, Rows, Segment
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.freebase.tallies import Path, Tallies, Tally
from kgnav_mcp.adapters.sparql.paging import Place, Position, invalid
from kgnav_mcp.adapters.sparql.reading import Read, address, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import rows, values
from kgnav_mcp.model import Count, Direction, Entity, Page, Relation, Stop, Triple
from kgnav_mcp.port import TailKind

_WHOLE = 100
"""A relation with at most so many rows is read whole, together with others."""
_PAIRS = 300
"""Relations read together in one query."""
_TOGETHER = 5_000
"""Rows of the relations read together: half of what an endpoint gives at once, as a rule."""
_NEAR = 200
"""Near far ends whose mediators are looked behind at once."""


class NeighbourReader:
    """Answers `neighbours`."""

    def __init__(self, store: Store, names: Names, tallies: Tallies) -> None:
        self._store = store
        self._names = names
        self._tallies = tallies

    async def page(
        self,
        anchors: Sequence[URIRef],
        direction: Direction,
        *,
        paths: Sequence[Path] | None,
        far_ends: TailKind | None,
        limit: int,
        after: str | None,
        whole: bool,
    ) -> Page[Triple]:
        """One page of the rows at the entities; none of a list longer than is wanted.

        Raises:
            InvalidCursor: `after` is no position of this list.
        """
        start = Position.parse(after) if after is not None else None
        if start is not None and start.entity >= len(anchors):
            raise invalid(after or "")
        tally = await self._tally(anchors, direction, paths, far_ends)
        segments = self._segments(anchors, tally)
        total = tally.count(sum(segment.rows for segment in segments))
        ahead = [segment for segment in segments if start is None or self._order(segment) >= _order_of(start)]
        if whole and start is None and total.value > limit:
            return Page((), (), total, Stop.LIMIT)
        first = Place()
        if start is not None and ahead and self._order(ahead[0]) == _order_of(start):
            first = start.place
        every = paths is None and start is None and len(anchors) > 1
        reading = _Reading(self._store, direction, far_ends, every=every)
        read = await reading.first(ahead, first, limit)
        stop = worst((tally.stop, *(part.stop for _, part in read)))
        found = [(segment, row) for segment, part in read for row in part.found]
        more = len(read) < len(ahead) or len(found) > limit
        if whole and more and stop is not Stop.TIME_OUT:
            return Page((), (), total, Stop.LIMIT)
        if stop is Stop.COMPLETE and (more or any(part.stop is Stop.LIMIT for _, part in read)):
            stop = Stop.LIMIT
        return await self._made(found[:limit], direction, total, stop)

    async def _tally(
        self,
        anchors: Sequence[URIRef],
        direction: Direction,
        paths: Sequence[Path] | None,
        far_ends: TailKind | None,
    ) -> Tally:
        if paths is None:
            return await self._tallies.near(anchors, direction, far_ends)
        wanted = set(paths)
        found = Tally({})
        if any(len(path) == 1 for path in wanted):
            found |= await self._tallies.near(anchors, direction, far_ends)
        near = [path[0] if direction is Direction.OUTGOING else path[1] for path in wanted if len(path) == 2]
        if near:
            found |= await self._tallies.through(anchors, direction, far_ends, near)
        for counts in found.rows.values():
            for path in set(counts) - wanted:
                del counts[path]
        return found

    def _segments(self, anchors: Sequence[URIRef], tally: Tally) -> list[Segment]:
        segments = [
            Segment(place, anchor, path, count)
            for place, anchor in enumerate(anchors)
            if anchor in tally.rows
            for path, count in tally.rows[anchor].items()
        ]
        return sorted(segments, key=self._order)

    def _order(self, segment: Segment) -> tuple[int, int, tuple[str, ...]]:
        return segment.entity, len(segment.path), tuple(self._store.ids.short(relation) for relation in segment.path)

    async def _made(
        self, found: Sequence[tuple[Segment, Found]], direction: Direction, total: Count, stop: Stop
    ) -> Page[Triple]:
        """Rows as triples, with the names of all that is in them read at once."""
        terms = [row.far for _, row in found] + [segment.anchor for segment, _ in found]
        wanted = dict.fromkeys(relation for segment, _ in found for relation in segment.path)
        labels, relations = await asyncio.gather(self._names.labels(terms), self._names.relations(wanted))
        by_path: dict[Path, Relation] = {segment.path: path_relation(segment.path, relations) for segment, _ in found}
        items: list[Triple] = []
        positions: list[str] = []
        for segment, row in found:
            anchor = self._names.entity(segment.anchor, labels)
            far = self._names.node(row.far, labels)
            relation = by_path[segment.path]
            via = Entity(self._store.ids.short(row.via), mediator=True) if row.via is not None else None
            if direction is Direction.OUTGOING:
                items.append(Triple(anchor, relation, far, via=via))
            elif isinstance(far, Entity):
                items.append(Triple(far, relation, anchor, via=via))
            else:
                raise AssertionError(f"{path_id(self._store, segment.path)} has a value as head")
            short = tuple(self._store.ids.short(hop) for hop in segment.path)
            positions.append(Position(segment.entity, short, row.next).write())
        return Page(tuple(items), tuple(positions), total, stop)


def _order_of(position: Position) -> tuple[int, int, tuple[str, ...]]:
    return position.entity, len(position.path), position.path


class _Reading:
    """Reads the rows of segments for one page."""

    def __init__(self, store: Store, direction: Direction, far_ends: TailKind | None, *, every: bool) -> None:
        """`every`: the segments are all that the entities have, so that no relation need be named to read them.

        That holds for what leaves entities only: what points at one may be of a relation that is not shown, and much.
        """
        self._store = store
        self._reader = store.reader
        self._direction = direction
        self._every = every and direction is Direction.OUTGOING
        self._kind = queries.FAR_ENDS[far_ends if direction is Direction.OUTGOING else None]

    async def first(self, segments: Sequence[Segment], start: Place, limit: int) -> list[tuple[Segment, Rows]]:
        """At least `limit` rows of the segments, where they have as many; the first one from a place on."""
        self._every &= all(segment.rows <= _WHOLE for segment in segments)
        jobs: list[Awaitable[list[tuple[Segment, Rows]]]] = []
        together: list[Segment] = []
        room = limit
        for n, segment in enumerate(segments):
            if room <= 0:
                break
            place = start if n == 0 else Place()
            if len(segment.path) == 1 and segment.rows <= _WHOLE:
                together.append(segment)
            elif len(segment.path) == 1:
                jobs.append(self._sliced(segment, place, min(room, segment.rows - place.row)))
            else:
                jobs.append(self._through(segment, place, room))
            # How many rows lie behind a place of a two-hop path is not known: the next path is read in any case.
            room -= 0 if place.group else segment.rows - place.row
        jobs += [self._whole(batch) for batch in self._batches(together)]
        parts = dict(part for batch in await asyncio.gather(*jobs) for part in batch)
        read = [(segment, parts[segment]) for segment in segments if segment in parts]
        if read and len(read[0][0].path) == 1 and read[0][0].rows <= _WHOLE:
            read[0][1].found = read[0][1].found[start.row :]
        gap = next((n for n, (_, part) in enumerate(read, 1) if part.stop is Stop.TIME_OUT), len(read))
        return read[:gap]  # rows behind what a time-out cut would be passed over by the next page

    def _batches(self, segments: Sequence[Segment]) -> list[list[Segment]]:
        """Small relations in groups that one query reads; those of one entity together where all it has is read."""
        batches: list[list[Segment]] = []
        size = 0
        for _, group in groupby(segments, key=lambda segment: segment.entity if self._every else segment):
            together = list(group)
            rows_ = sum(segment.rows for segment in together)
            if not batches or len(batches[-1]) + len(together) > _PAIRS or size + rows_ > _TOGETHER:
                batches.append([])
                size = 0
            batches[-1] += together
            size += rows_
        return batches

    async def _whole(self, segments: Sequence[Segment]) -> list[tuple[Segment, Rows]]:
        """The rows of small relations, read in one query and sorted here."""
        if self._every:
            anchors = dict.fromkeys(segment.anchor for segment in segments)
            by = self._reader.part(queries.AROUND_SET[self._direction], s=values(*anchors))
        else:
            pairs = rows(*((segment.anchor, segment.path[0]) for segment in segments))
            by = self._reader.part(queries.AROUND_PAIRS[self._direction], pairs=pairs)
        read = await self._reader.select(queries.ROWS, by=by, kind=self._kind)
        if read.stop is Stop.ROW_CAP and len(segments) > 1:
            half = len(segments) // 2
            return await self._whole(segments[:half]) + await self._whole(segments[half:])
        if read.stop is Stop.ROW_CAP:
            return await self._sliced(segments[0], Place(), segments[0].rows)
        if read.stop is Stop.TIME_OUT:  # which of the rows are missing is not known
            return [(segment, Rows(stop=read.stop)) for segment in segments]
        far: dict[tuple[URIRef, URIRef], list[Term]] = defaultdict(list)
        for row in read.rows:
            far[address(row, "s"), address(row, "p")].append(row["o"])
        return [
            (
                segment,
                Rows(
                    [
                        Found(term, Place(0, n))
                        for n, term in enumerate(sorted(far[segment.anchor, segment.path[0]], key=_key), 1)
                    ],
                    read.stop,
                ),
            )
            for segment in segments
        ]

    async def _sliced(self, segment: Segment, start: Place, most: int) -> list[tuple[Segment, Rows]]:
        """So many rows of a large relation, in the order of the index."""
        by = self._reader.part(queries.BY_ONE[self._direction], s=segment.anchor, p=segment.path[0])
        read = await self._reader.slice(queries.SLICE, start.row, max(most, 0), by=by, kind=self._kind)
        found = [Found(row["o"], Place(0, start.row + n)) for n, row in enumerate(read.rows, 1)]
        cut = start.row + len(found) < segment.rows
        return [(segment, Rows(found, Stop.LIMIT if cut and read.stop is Stop.COMPLETE else read.stop))]

    async def _through(self, segment: Segment, start: Place, room: int) -> list[tuple[Segment, Rows]]:
        """Rows of a two-hop relation: the near far ends in the order of the index, and behind each mediator its own.

        Which of them are mediators is asked together with what is behind: it takes long to skip all that are not.
        """
        near, far = segment.path if self._direction is Direction.OUTGOING else segment.path[::-1]
        result = Rows()
        skip = start.group
        by = self._reader.part(queries.BY_ONE[self._direction], s=segment.anchor, p=near)
        while True:
            read = await self._reader.slice(queries.SLICE, skip, _NEAR, by=by, kind=queries.FAR_ENDS[None])
            nodes = [address(row, "o") for row in read.rows]
            behind = await self._behind(list(filter(self._store.ids.topic, nodes)), far, segment.anchor)
            if behind[1] is Stop.TIME_OUT:  # which of their rows are missing is not known
                nodes = []
            for n, mediator in enumerate(nodes, skip):
                terms = sorted(behind[0].get(mediator, ()), key=_key)
                before = start.row if n == start.group else 0
                result.found += [
                    Found(term, Place(n, before + i), mediator) for i, term in enumerate(terms[before:], 1)
                ]
            result.stop = worst((read.stop, behind[1]))
            skip += len(nodes)
            if len(nodes) < _NEAR or result.stop is not Stop.COMPLETE:
                return [(segment, result)]
            if len(result.found) > room:
                result.stop = Stop.LIMIT
                return [(segment, result)]

    async def _behind(
        self, mediators: Sequence[URIRef], far: URIRef, anchor: URIRef
    ) -> tuple[dict[URIRef, list[Term]], Stop]:
        if not mediators:
            return {}, Stop.COMPLETE
        template = queries.BEHIND[self._direction]
        read: Read = await self._reader.over(template, "ids", mediators, far=far, s=anchor, kind=self._kind)
        found: dict[URIRef, list[Term]] = defaultdict(list)
        for row in read.rows:
            found[address(row, "m")].append(row["o"])
        return found, read.stop


def _key(term: Term) -> tuple[bool, str, str, str]:
    """The order of far ends: values by their text, then entities by their ids."""
    if isinstance(term, Literal):
        return False, str(term), term.language or "", str(term.datatype or "")
    return True, str(term), "", ""
