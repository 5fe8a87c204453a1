"""The triples around entities, page by page.

Rows come entity by entity in the order asked for, and there relation by relation in the order of their ids. Where they
fit one page they are read at once. Otherwise it is counted first how many each relation has, so that a page knows which
relations it is made of and reads nothing else: small relations whole and together, sorted here; large ones by a slice
in the order of Virtuoso's index.
"""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.relations import path_id, path_relation
from kgnav_mcp.adapters.freebase.rows import RowReader, in_order
from kgnav_mcp.adapters.freebase.segments import Found, Segment
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.freebase.tallies import Path, Tallies, Tally
from kgnav_mcp.adapters.sparql.paging import Place, Position, invalid
from kgnav_mcp.adapters.sparql.reading import worst
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count, Direction, Entity, Page, Relation, Stop, Triple
from kgnav_mcp.port import TailKind


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
        reader = RowReader(self._store, self._names, direction, far_ends)
        far = await reader.at_once(anchors, limit) if paths is None and start is None and not whole else None
        tally = Tally.of(far) if far is not None else await self._tally(anchors, direction, paths, far_ends)
        segments = self._segments(anchors, tally)
        total = tally.count(sum(segment.rows for segment in segments))
        ahead = [segment for segment in segments if start is None or self._order(segment) >= _order_of(start)]
        if whole and start is None and total.value > limit:
            return Page((), (), total, Stop.LIMIT)
        first = Place()
        if start is not None and ahead and self._order(ahead[0]) == _order_of(start):
            first = start.place
        read = in_order(ahead, far) if far is not None else await reader.first(ahead, first, limit)
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
        labels, relations = await gathered(self._names.labels(terms), self._names.relations(wanted))
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
