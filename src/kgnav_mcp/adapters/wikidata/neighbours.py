"""The statements around entities, page by page.

Rows come entity by entity in the order asked for, and there property by property in the order of their ids. How many
statements each property has is counted first, so that a page knows which properties it is made of and reads nothing
else: small ones whole and together, sorted here; what points at a hub by a slice in the order of the endpoint's index.
Labels, qualifiers and values in full are read for the rows of the page alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.paging import invalid
from kgnav_mcp.adapters.sparql.reading import Row, address, number, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import Catalogues
from kgnav_mcp.adapters.wikidata.paging import Position
from kgnav_mcp.adapters.wikidata.statements import Found, StatementReader, statement
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.adapters.wikidata.tallies import Tallies, Tally, hub_timed_out
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Certainty, Count, Direction, Page, Stop, Triple
from kgnav_mcp.port import TailKind

_WHOLE = 500
"""So many statements of one property that point at an entity are read whole; more of them by slices."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The statements of one property at one entity."""

    entity: int
    anchor: URIRef
    property: str
    rows: Count


@dataclass(frozen=True, slots=True)
class Part:
    """Rows read of a segment from `start` on; `stop` says why there are no more."""

    segment: Segment
    start: int
    found: Sequence[Found]
    stop: Stop = Stop.COMPLETE


class NeighbourReader:
    """Answers `neighbours`."""

    def __init__(self, store: Store, catalogues: Catalogues, tallies: Tallies, statements: StatementReader) -> None:
        self._store = store
        self._reader = store.reader
        self._catalogues = catalogues
        self._tallies = tallies
        self._statements = statements

    async def page(
        self,
        anchors: Sequence[URIRef],
        direction: Direction,
        *,
        only: Sequence[str] | None,
        far_ends: TailKind | None,
        limit: int,
        after: str | None,
        whole: bool,
    ) -> Page[Triple]:
        """One page of the statements at the entities; none of a list longer than is wanted.

        Raises:
            InvalidCursor: `after` is no position of this list.
        """
        start = Position.parse(after) if after is not None else None
        if start is not None and start.entity >= len(anchors):
            raise invalid(after or "")
        if whole and start is None and only is None and await self._tallies.exceeds(anchors, direction, limit):
            return Page((), (), Count.at_least(limit + 1), Stop.LIMIT)
        tally = await self._tallies.near(anchors, direction, far_ends)
        shown, note = self._shown(tally, only)
        segments = self._segments(anchors, shown)
        total = shown.total(segment.rows for segment in segments)
        if whole and start is None and total.value > limit:
            return Page((), (), total, Stop.LIMIT, note)
        ahead = [segment for segment in segments if start is None or _order(segment) >= _order_of(start)]
        first = start.row if start is not None and ahead and _order(ahead[0]) == _order_of(start) else 0
        parts, more = await self._read(ahead, first, direction, far_ends, limit)
        rows = [(part, n, found) for part in parts for n, found in enumerate(part.found, part.start + 1)]
        stop = worst((shown.stop, *(part.stop for part in parts if part.stop is not Stop.LIMIT)))
        if whole and (len(rows) > limit or (more and stop is Stop.COMPLETE)):
            return Page((), (), Count.at_least(max(total.value, limit + 1)), Stop.LIMIT, note)
        if stop is Stop.COMPLETE and (more or len(rows) > limit):
            stop = Stop.LIMIT
        if stop is Stop.TIME_OUT and not rows:
            raise hub_timed_out() if direction is Direction.INCOMING else errors.stopped()
        rows = rows[:limit]
        return Page(
            items=tuple(await self._statements.triples([found for _, _, found in rows])),
            positions=tuple(Position(part.segment.entity, part.segment.property, n).write() for part, n, _ in rows),
            total=total,
            stop=stop,
            note=note,
        )

    async def qualified(self, value: URIRef, limit: int) -> tuple[Triple, ...]:
        """The first statements that have the entity as the value of a qualifier."""
        read = await self._reader.select(queries.QUALIFIED, s=values(value), most=limit)
        names = [(row, self._store.ids.last(str(row["p"]))) for row in read.some()]
        return tuple(await self._statements.triples([_found(row, name) for row, name in names if name is not None]))

    def _shown(self, tally: Tally, only: Sequence[str] | None) -> tuple[Tally, str]:
        """The part of a tally that is asked for, and a word on what is not shown."""
        if only is not None:
            return tally.only(only), ""
        if self._store.wikidata.external_ids:
            return tally, ""
        names = tally.names()
        hidden = {name: count for name, count in names.items() if self._catalogues.current.hidden(name)}
        if not hidden:
            return tally, ""
        return tally.only(names.keys() - hidden.keys()), hidden_note(tally.total(hidden.values()), hidden)

    @staticmethod
    def _segments(anchors: Sequence[URIRef], tally: Tally) -> list[Segment]:
        segments = [
            Segment(place, anchor, name, count)
            for place, anchor in enumerate(anchors)
            for name, count in tally.rows.get(anchor, {}).items()
        ]
        return sorted(segments, key=_order)

    async def _read(
        self, segments: Sequence[Segment], first: int, direction: Direction, far_ends: TailKind | None, limit: int
    ) -> tuple[list[Part], bool]:
        """At least `limit` rows of the segments, where they have as many, and whether there are more behind them."""
        jobs: list[Awaitable[list[Part]]] = []
        together: list[Segment] = []
        room, taken = limit, 0
        for n, segment in enumerate(segments):
            if room <= 0:
                break
            start = first if n == 0 else 0
            taken += 1
            if direction is Direction.INCOMING and not (
                segment.rows.certainty is Certainty.EXACT and segment.rows.value <= _WHOLE
            ):
                jobs.append(self._sliced(segment, start, room))
            else:
                together.append(segment)
            room -= max(segment.rows.value - start, 0)
        if together:
            jobs.append(self._whole(together, direction, far_ends))
        parts = {part.segment: part for job in await gathered(*jobs) for part in job}
        read: list[Part] = []
        for n, segment in enumerate(segments[:taken]):
            part = parts[segment]
            if n == 0 and first and not part.start:
                part = Part(segment, first, part.found[first:], part.stop)
            read.append(part)
            if part.stop is not Stop.COMPLETE:
                return read, True
        return read, taken < len(segments)

    async def _whole(self, segments: Sequence[Segment], direction: Direction, far_ends: TailKind | None) -> list[Part]:
        """The rows of small segments, read together and sorted here."""
        by_property: dict[str, list[Segment]] = defaultdict(list)
        for segment in segments:
            by_property[segment.property].append(segment)
        names = list(by_property)
        form = self._store.form
        branches = [
            self._reader.filled(
                queries.ROWS[direction],
                s=values(*(segment.anchor for segment in by_property[name])),
                rows=self._store.rows(form.rows[direction], name),
                number=place,
            )
            for place, name in enumerate(names)
        ]
        read = await self._reader.union(branches)
        found: dict[tuple[URIRef, str], list[Found]] = defaultdict(list)
        for row in read.rows:
            name = names[number(row, "number")]
            value = row.get("o")
            if far_ends is None or (far_ends is TailKind.ENTITY) == self._is_entity(value):
                anchor = address(row, "s") if direction is Direction.OUTGOING else address(row, "o")
                found[anchor, name].append(_found(row, name))
        return [
            Part(segment, 0, sorted(found[segment.anchor, segment.property], key=_key(direction)), read.stop)
            for segment in segments
        ]

    async def _sliced(self, segment: Segment, start: int, most: int) -> list[Part]:
        """So many of the statements that point at a hub, in the order of the index."""
        rows = self._store.rows(self._store.form.rows[Direction.INCOMING], segment.property)
        try:
            read = await self._reader.slice(queries.SLICE, start, most, s=values(segment.anchor), rows=rows)
        except StoreTimeout:
            return [Part(segment, start, (), Stop.TIME_OUT)]
        found = [_found(row, segment.property) for row in read.rows]
        ended = len(found) < most
        if segment.rows.certainty is Certainty.EXACT:
            ended = start + len(found) >= segment.rows.value
        stop = Stop.COMPLETE if ended else Stop.LIMIT
        return [Part(segment, start, found, stop if read.stop is Stop.COMPLETE else read.stop)]

    def _is_entity(self, value: Term | None) -> bool:
        return isinstance(value, URIRef) and value.startswith(self._store.ids.entities)


def hidden_note(rows: Count, names: Iterable[str]) -> str:
    """The sentence on identifiers of other databases that are not shown."""
    example = min(names, key=lambda name: (len(name), name))
    size = f"{rows.value:,}" if rows.certainty is Certainty.EXACT else f"At least {rows.value:,}"
    return f"{size} identifiers of other databases are not shown; to see one, name its property, such as wdt:{example}."


def _found(row: Row, name: str) -> Found:
    return Found(address(row, "s"), name, statement(row, "st"), row.get("o"))


def _order(segment: Segment) -> tuple[int, str]:
    return segment.entity, segment.property


def _order_of(position: Position) -> tuple[int, str]:
    return position.entity, position.property


def _key(direction: Direction) -> Callable[[Found], tuple[bool, int, str, str]]:
    """The order of statements of one property: by value, or by head, entities by number; then by their keys."""

    def key(found: Found) -> tuple[bool, int, str, str]:
        far = found.head if direction is Direction.INCOMING else found.value
        if not isinstance(far, URIRef):
            return False, 0, str(far) if isinstance(far, Literal) else "", found.key()
        digits = far.rpartition("/")[2][1:]
        return True, int(digits) if digits.isdecimal() else 0, str(far), found.key()

    return key
