"""Reading the rows of a page: those of segments that were counted before, or all at a set of entities at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Iterable, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names, add_name
from kgnav_mcp.adapters.freebase.segments import Found, Rows, Segment
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.freebase.tallies import Path
from kgnav_mcp.adapters.sparql.paging import Place
from kgnav_mcp.adapters.sparql.reading import Row, address, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Terms, batches, rows, values
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Direction, Stop
from kgnav_mcp.port import TailKind

Far = Mapping[tuple[URIRef, Path], Sequence[Term]]
"""The far ends of relations at entities."""

_WHOLE = 100
"""A relation with at most so many rows is read whole, together with others."""
_PAIRS = 300
"""Relations read together in one query."""
_TOGETHER = 5_000
"""Rows read together: half of what an endpoint gives at once, as a rule."""
_ANCHORS = 200
"""Entities whose rows are read by one query."""
_NEAR = 200
"""Near far ends that are first looked behind; how many mediators these have tells how many to look behind next."""
_NEAR_AT_MOST = 3_200


class RowReader:
    """Reads rows for one page."""

    def __init__(self, store: Store, names: Names, direction: Direction, far_ends: TailKind | None) -> None:
        self._store = store
        self._names = names
        self._reader = store.reader
        self._direction = direction
        self._nothing = direction is Direction.INCOMING and far_ends is TailKind.LITERAL
        self._kind = queries.FAR_ENDS[far_ends if direction is Direction.OUTGOING else None]

    async def at_once(self, anchors: Sequence[URIRef], limit: int) -> Far | None:
        """All rows at some entities, uncounted, where none is sorted by the store.

        None where there are more than wanted, or many of one relation: to read these, they are counted first.
        """
        if self._nothing:
            return {}
        most = min(limit, _TOGETHER)
        reads = await gathered(
            *(
                self._read(self._reader.part(queries.AROUND_SET[self._direction], s=values(*batch)), batch, most + 1)
                for batch in batches(anchors, _ANCHORS)
            )
        )
        if any(stop is not Stop.COMPLETE or sum(map(len, far.values())) > most for far, stop in reads):
            return None
        far = {key: ends for far, _ in reads for key, ends in far.items() if self._store.freebase.shows(key[1][0])}
        if sum(map(len, far.values())) > limit or any(len(ends) > _WHOLE for ends in far.values()):
            return None
        return far

    async def first(self, segments: Sequence[Segment], start: Place, limit: int) -> list[tuple[Segment, Rows]]:
        """At least `limit` rows of the segments, where they have as many; the first one from a place on."""
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
        jobs += [self._whole(batch) for batch in _together(together)]
        parts = dict(part for batch in await gathered(*jobs) for part in batch)
        read = [(segment, parts[segment]) for segment in segments if segment in parts]
        if read and len(read[0][0].path) == 1 and read[0][0].rows <= _WHOLE:
            read[0][1].found = read[0][1].found[start.row :]
        gap = next((n for n, (_, part) in enumerate(read, 1) if part.stop is Stop.TIME_OUT), len(read))
        return read[:gap]  # rows behind what a time-out cut would be passed over by the next page

    async def _whole(self, segments: Sequence[Segment]) -> list[tuple[Segment, Rows]]:
        """The rows of small relations, read in one query and sorted here."""
        pairs = rows(*((segment.anchor, segment.path[0]) for segment in segments))
        by = self._reader.part(queries.AROUND_PAIRS[self._direction], pairs=pairs)
        far, stop = await self._read(by, [segment.anchor for segment in segments])
        if stop is Stop.ROW_CAP and len(segments) > 1:
            half = len(segments) // 2
            return await self._whole(segments[:half]) + await self._whole(segments[half:])
        if stop is Stop.ROW_CAP:
            return await self._sliced(segments[0], Place(), segments[0].rows)
        if stop is Stop.TIME_OUT:  # which of the rows are missing is not known
            return [(segment, Rows(stop=stop)) for segment in segments]
        return in_order(segments, far)

    async def _read(self, by: Terms, anchors: Iterable[URIRef], most: int = _TOGETHER) -> tuple[Far, Stop]:
        """Rows with the names of all that is in them, which are kept."""
        unknown = self._names.unknown(dict.fromkeys(anchors))
        called = self._reader.part(queries.ANCHORS_CALLED, ids=values(*unknown)) if unknown else Terms("")
        read = await self._reader.select(queries.ROWS, by=by, kind=self._kind, most=most, anchors=called)
        if read.stop is Stop.COMPLETE:
            self._keep_names(read.rows)
        far: dict[tuple[URIRef, Path], dict[Term, None]] = defaultdict(dict)
        for row in read.rows:
            if "p" in row:  # an entity that is asked about has its name in a row without one
                far[address(row, "s"), (address(row, "p"),)][row["o"]] = None
        return {key: list(ends) for key, ends in far.items()}, read.stop

    def _keep_names(self, read: Iterable[Row]) -> None:
        names: dict[URIRef, list[Literal]] = defaultdict(list)
        relations: dict[URIRef, list[Literal]] = defaultdict(list)
        for row in read:
            end = row.get("o", row["s"])
            name = row.get("called")
            if "p" in row:
                add_name(relations[address(row, "p")], row.get("role"))
            if isinstance(end, Literal) or (name is None and "other" in row):
                continue  # what has names in other languages only is asked for the best of them when it is shown
            add_name(names[URIRef(str(end))], name)
        self._names.keep(names)
        self._names.keep_relations(relations)

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
        skip, size = start.group, _NEAR
        by = self._reader.part(queries.BY_ONE[self._direction], s=segment.anchor, p=near)
        while True:
            read = await self._reader.slice(queries.SLICE, skip, size, by=by, kind=queries.FAR_ENDS[None])
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
            if len(nodes) < size or result.stop is not Stop.COMPLETE:
                return [(segment, result)]
            if len(result.found) > room:
                result.stop = Stop.LIMIT
                return [(segment, result)]
            size = _next_size(skip - start.group, len(result.found), room)

    async def _behind(
        self, mediators: Sequence[URIRef], far: URIRef, anchor: URIRef
    ) -> tuple[dict[URIRef, list[Term]], Stop]:
        """The far ends behind those of some nodes that have no name, which is kept of them."""
        if not mediators:
            return {}, Stop.COMPLETE
        template = queries.BEHIND[self._direction]
        read = await self._reader.over(template, "ids", mediators, far=far, s=anchor, kind=self._kind)
        found: dict[URIRef, list[Term]] = defaultdict(list)
        for row in read.rows:
            found[address(row, "m")].append(row["o"])
        self._names.keep(dict.fromkeys(found, ()))
        return found, read.stop


def _next_size(seen: int, found: int, room: int) -> int:
    """How many near far ends should have the rows that are still missing, a quarter more for good measure."""
    wanted = seen * (room + 1 - found) * 5 // (4 * found) if found else 2 * seen
    return min(max(wanted, _NEAR // 2), _NEAR_AT_MOST)


def in_order(segments: Sequence[Segment], far: Far) -> list[tuple[Segment, Rows]]:
    """The rows of relations that were read whole."""
    read: list[tuple[Segment, Rows]] = []
    for segment in segments:
        ends = sorted(far.get((segment.anchor, segment.path), ()), key=_key)
        read.append((segment, Rows([Found(end, Place(0, n)) for n, end in enumerate(ends, 1)])))
    return read


def _together(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Small relations in groups that one query reads."""
    groups: list[list[Segment]] = []
    size = 0
    for segment in segments:
        if not groups or len(groups[-1]) == _PAIRS or size + segment.rows > _TOGETHER:
            groups.append([])
            size = 0
        groups[-1].append(segment)
        size += segment.rows
    return groups


def _key(term: Term) -> tuple[bool, str, str, str]:
    """The order of far ends: values by their text, then entities by their ids."""
    if isinstance(term, Literal):
        return False, str(term), term.language or "", str(term.datatype or "")
    return True, str(term), "", ""
