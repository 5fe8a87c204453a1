"""The triples around entities, page by page.

Rows come entity by entity in the order asked for, and there relation by relation in the order of their ids. How many
rows each relation has is counted first, so that a page knows which relations it is made of and reads nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rdflib import BNode, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.rows import BLOCK, Found, RowReader, Rows, Segment
from kgnav_mcp.adapters.endpoint.store import Anchor, Store
from kgnav_mcp.adapters.endpoint.tallies import Path, Tallies, Tally
from kgnav_mcp.adapters.sparql.paging import Place, Position, invalid
from kgnav_mcp.adapters.sparql.reading import address, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import values
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count, Direction, Entity, Literal, Node, Page, Qualifier, Relation, Stop, Triple
from kgnav_mcp.port import TailKind

_SEGMENTS = 200
"""Relations read together in one query."""
_TOGETHER = 5_000
"""Rows of the relations read together: half of what an endpoint gives at once, as a rule."""
_UNNAMED = Literal("a node without a name")
"""A blank node that a statement about a triple names: nothing leads to it."""


class NeighbourReader:
    """Answers `neighbours`."""

    def __init__(self, store: Store, names: Names, tallies: Tallies) -> None:
        self._store = store
        self._names = names
        self._tallies = tallies

    async def page(
        self,
        anchors: Sequence[Anchor],
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
        tally: Tally | None = None
        known: Mapping[tuple[Anchor, Path], Sequence[Term]] = {}
        if whole and start is None and paths is None and not _nothing(direction, far_ends):
            rows = await self._probe(anchors, direction, far_ends, limit)
            if rows is None:
                return Page((), (), Count.at_least(limit + 1), Stop.LIMIT)
            tally, known = rows
        if tally is None:
            tally = await self._tally(anchors, direction, paths, far_ends)
        total = tally.count(tally.parts())
        if whole and start is None and total.value > limit:
            return Page((), (), total, Stop.LIMIT)
        segments = self._segments(anchors, tally)
        ahead = [one for one in segments if start is None or self._order(one) >= _order_of(start)]
        first = Place()
        if start is not None and ahead and self._order(ahead[0]) == _order_of(start):
            first = start.place
        reader = RowReader(self._store, self._names, direction, far_ends)
        terms = {one: known[one.anchor, one.path] for one in segments if (one.anchor, one.path) in known}
        read = await self._read(reader, ahead, first, limit, terms)
        stop = worst((tally.stop, *(part.stop for _, part in read)))
        found = [(segment, row) for segment, part in read for row in part.found]
        more = len(read) < len(ahead) or len(found) > limit
        if whole and start is None and more:
            return Page((), (), total, Stop.LIMIT)
        if stop is Stop.COMPLETE and more:
            stop = Stop.LIMIT
        return await self._made(found[:limit], direction, total, stop)

    async def qualified(self, value: URIRef, limit: int) -> tuple[Triple, ...] | None:
        """The first triples that have the entity as the value of a qualifier; None: that cannot be told."""
        said = await self._store.reification.qualified(value, limit)
        if said is None:
            return None
        found = [
            (Segment(0, head, (relation,), 1, exact=True), Found(tail, Place(), Place(), facts))
            for (head, relation, tail), facts in said.items()
        ]
        return (await self._made(found, Direction.OUTGOING, Count(len(found)), Stop.COMPLETE)).items

    async def far_ends(
        self,
        anchors: Sequence[Anchor],
        path: Path,
        direction: Direction,
        *,
        kind: TailKind | None,
        tally: Tally,
        wanted: int,
    ) -> tuple[tuple[Node, ...], Stop]:
        """The first distinct far ends of one path, blank nodes among them, and why not all were read."""
        found: dict[str, Node] = {}
        stops: list[Stop] = []
        reader = RowReader(self._store, self._names, direction, kind)
        for anchor in anchors:
            segment = Segment(0, anchor, path, tally.rows[anchor][path], exact=True)
            read = await self._read(reader, [segment], Place(), wanted, {})
            rows = [row for _, part in read for row in part.found]
            stops += [part.stop for _, part in read if part.stop is not Stop.LIMIT]
            nodes = await self._names.nodes(row.far for row in rows if not isinstance(row.far, Entity))
            for row in rows:
                node = row.far if isinstance(row.far, Entity) else nodes[row.far]
                found.setdefault(node.id if isinstance(node, Entity) else repr(node), node)
            if len(found) >= wanted:
                break
        return tuple(found.values())[:wanted], worst(stops)

    async def _probe(
        self, anchors: Sequence[Anchor], direction: Direction, far_ends: TailKind | None, limit: int
    ) -> tuple[Tally | None, Mapping[tuple[Anchor, Path], Sequence[Term]]] | None:
        """All rows of a short list, with their tally; None where the list is longer than the limit.

        The tally is None where the endpoint cut the answer, so that nothing is known.
        """
        iris = [anchor for anchor in anchors if isinstance(anchor, URIRef)]
        if not iris:
            return None, {}
        reader = self._store.reader
        one = len(iris) == 1
        template = (queries.AROUND_ONE if one else queries.AROUND_SET)[direction]
        around = reader.part(template, s=iris[0] if one else values(*iris))
        kind = self._store.reification.kind(direction, far_ends)
        read = await reader.select(queries.PROBE, around=around, kind=kind, most=limit + 1)
        if len(read.rows) > limit:
            return None
        if read.stop is not Stop.COMPLETE or len(iris) < len(anchors):
            return None, {}
        rows = [{**row, "s": iris[0]} for row in read.rows] if one else list(read.rows)
        known: dict[tuple[Anchor, Path], list[Term]] = defaultdict(list)
        for row in rows:
            known[address(row, "s"), (address(row, "p"),)].append(row["o"])
        return await self._tallies.of_rows(rows, anchors, direction), known

    async def _tally(
        self,
        anchors: Sequence[Anchor],
        direction: Direction,
        paths: Sequence[Path] | None,
        far_ends: TailKind | None,
    ) -> Tally:
        if paths is None:
            return await self._tallies.near(anchors, direction, far_ends)
        wanted = set(paths)
        found = Tally()
        if any(len(path) == 1 for path in wanted):
            found |= await self._tallies.near(anchors, direction, far_ends)
        near = [path[0] if direction is Direction.OUTGOING else path[1] for path in wanted if len(path) == 2]
        if near:
            found |= await self._tallies.through(anchors, direction, far_ends, near)
        return found.narrowed(wanted)

    def _segments(self, anchors: Sequence[Anchor], tally: Tally) -> list[Segment]:
        segments = [
            Segment(place, anchor, path, rows, tally.stop is Stop.COMPLETE)
            for place, anchor in enumerate(anchors)
            if anchor in tally.rows
            for path, rows in tally.rows[anchor].items()
        ]
        return sorted(segments, key=self._order)

    def _order(self, segment: Segment) -> tuple[int, int, tuple[str, ...]]:
        ids = self._store.endpoint.ids
        return segment.entity, len(segment.path), tuple(ids.short(relation) for relation in segment.path)

    async def _read(
        self,
        reader: RowReader,
        segments: Sequence[Segment],
        start: Place,
        limit: int,
        known: Mapping[Segment, Sequence[Term]],
    ) -> list[tuple[Segment, Rows]]:
        """At least `limit` rows of the segments, where they have as many; the first one from a place on."""
        done: list[tuple[Segment, Rows]] = []
        place, room = start, limit
        while room > 0 and len(done) < len(segments):
            batch = _together(segments[len(done) :], room)
            if batch:
                read = await reader.small(batch, known, place, room)
                done += zip(batch, read, strict=True)
            else:
                segment = segments[len(done)]
                way = reader.large if len(segment.path) == 1 else reader.through
                done.append((segment, await way(segment, place, room)))
            place = Place()
            room = limit - sum(len(part.found) for _, part in done)
        return done

    async def _made(
        self, found: Sequence[tuple[Segment, Found]], direction: Direction, total: Count, stop: Stop
    ) -> Page[Triple]:
        """Rows as triples, with the names of all that is in them read at once."""
        terms: list[Term] = [segment.anchor for segment, _ in found if isinstance(segment.anchor, URIRef)]
        terms += [row.far for _, row in found if not isinstance(row.far, Entity)]
        terms += [value for _, row in found for _, value in row.facts]
        wanted = [relation for segment, _ in found for relation in segment.path]
        wanted += [relation for _, row in found for relation, _ in row.facts]
        nodes, relations = await gathered(self._names.nodes(terms), self._names.relations(wanted))
        blanks = {
            segment.anchor: await self._names.blank(segment.anchor)
            for segment, _ in found
            if not isinstance(segment.anchor, URIRef)
        }
        items: list[Triple] = []
        positions: list[str] = []
        for segment, row in found:
            anchor = nodes[segment.anchor] if isinstance(segment.anchor, URIRef) else blanks[segment.anchor]
            far = row.far if isinstance(row.far, Entity) else nodes[row.far]
            relation = joined([relations[hop] for hop in segment.path])
            head, tail = (anchor, far) if direction is Direction.OUTGOING else (far, anchor)
            assert isinstance(head, Entity)  # noqa: S101 - values are no heads, and no other ones are read
            qualifiers = tuple(
                sorted(
                    (
                        Qualifier(relations[fact], _UNNAMED if isinstance(value, BNode) else nodes[value])
                        for fact, value in row.facts
                    ),
                    key=lambda qualifier: qualifier.relation.id,
                )
            )
            items.append(Triple(head, relation, tail, qualifiers, row.via))
            short = tuple(self._store.endpoint.ids.short(hop) for hop in segment.path)
            positions.append(Position(segment.entity, short, row.next).write())
        return Page(tuple(items), tuple(positions), total, stop)


def _nothing(direction: Direction, far_ends: TailKind | None) -> bool:
    """Whether no row can be of this kind: the head of a triple is an entity, always."""
    return direction is Direction.INCOMING and far_ends is TailKind.LITERAL


def joined(hops: Sequence[Relation]) -> Relation:
    """The relation of one hop, or of two."""
    if len(hops) == 1:
        return hops[0]
    return Relation(".".join(hop.id for hop in hops), " / ".join(hop.label for hop in hops))


def _together(segments: Sequence[Segment], room: int) -> list[Segment]:
    """The next segments that one query reads whole: small ones, until there are rows enough."""
    batch: list[Segment] = []
    rows = 0
    for one in segments[:_SEGMENTS]:
        small = len(one.path) == 1 and (not isinstance(one.anchor, URIRef) or (one.exact and one.rows <= BLOCK))
        if not small or rows >= room or rows + one.rows > _TOGETHER:
            break
        batch.append(one)
        rows += one.rows
    return batch


def _order_of(position: Position) -> tuple[int, int, tuple[str, ...]]:
    return position.entity, len(position.path), position.path
