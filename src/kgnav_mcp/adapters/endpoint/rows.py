"""The rows of one path at one entity, read in blocks and sorted there.

A block is 1,000 triples, or 200 mediators, in the order of the endpoint's index; most relations of an entity are one.
Inside a block values come before entities and entities before blank nodes, so that a page begins at the same row
wherever the page before it ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rdflib import BNode, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.blanks import Blank, Resolved, Route, marked
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.reification import Facts, Pair
from kgnav_mcp.adapters.endpoint.store import Anchor, Store, term_order
from kgnav_mcp.adapters.endpoint.tallies import Path, is_kind, own_edges
from kgnav_mcp.adapters.sparql.paging import Place
from kgnav_mcp.adapters.sparql.reading import Read, Row, address, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import rows
from kgnav_mcp.model import Direction, Entity, Stop
from kgnav_mcp.port import TailKind

BLOCK = 1_000
"""Triples read at once of one relation at one entity."""
_MEDIATORS = 200
"""Mediators read at once."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows of one path at one entity; how many there are is not always known exactly."""

    entity: int
    anchor: Anchor
    path: Path
    rows: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Found:
    """One row: its far end, what is said of the triple, the mediator, and the places of this row and the next.

    A far end that is a blank node is an entity already; others are named later, all of a page at once.
    """

    far: Term | Entity
    place: Place
    next: Place
    facts: Facts = ()
    via: Entity | None = None


@dataclass(frozen=True, slots=True)
class _Window:
    """What of a block is wanted: from a place on, so many rows and one more, which tells that there are more."""

    segment: Segment
    ends: Sequence[Term | Entity]
    start: Place
    room: int
    begin: int = 0

    @property
    def shown(self) -> Sequence[tuple[int, Term | Entity]]:
        """The far ends that are wanted, with their places."""
        first = max(self.start.group - self.begin, 0)
        return list(enumerate(self.ends, self.begin))[first : first + self.room + 1]

    @property
    def cut(self) -> bool:
        """Whether the block goes on behind what is wanted."""
        return len(self.ends) > max(self.start.group - self.begin, 0) + self.room + 1


@dataclass(slots=True)
class Rows:
    """The rows read of a segment; `stop` says why there are no more."""

    found: list[Found] = field(default_factory=list[Found])
    stop: Stop = Stop.COMPLETE


class RowReader:
    """Reads rows in one direction, with far ends of one kind."""

    def __init__(self, store: Store, names: Names, direction: Direction, far_ends: TailKind | None) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._direction = direction
        self._far_ends = far_ends
        self._ends = store.reification.ends(direction, far_ends)

    async def small(
        self, segments: Sequence[Segment], known: Mapping[Segment, Sequence[Term]], start: Place, room: int
    ) -> list[Rows]:
        """Segments of one block each, read together, the first one from a place on.

        Of some the far ends may be known already. Of each at least `room` rows are given, where it has as many.
        """
        iris = {one: (one.anchor, one.path[0]) for one in segments if isinstance(one.anchor, URIRef)}
        read = await self._pairs([one for one in iris if one not in known])
        far: dict[Pair, list[Term]] = defaultdict(list)
        for row in read.rows:
            far[_pair(row)].append(row["o"])
        terms = {one: known[one] if one in known else far[pair] for one, pair in iris.items()}
        with_blanks = [iris[one] for one, found in terms.items() if any(isinstance(term, BNode) for term in found)]
        blanks = await self._blanks_of(with_blanks)
        windows: list[_Window] = []
        for n, one in enumerate(segments):
            ends = _ordered(terms[one], blanks.get(iris[one], ())) if one in iris else self._own_ends(one)
            windows.append(_Window(one, ends, start if n == 0 else Place(), room))
        return [Rows(found, read.stop) for found in await self._stated(windows)]

    async def large(self, segment: Segment, start: Place, room: int) -> Rows:
        """At least `room` rows of a segment from a place on, where it has as many, block by block."""
        assert isinstance(segment.anchor, URIRef)  # noqa: S101 - a blank node's rows are all known
        result = Rows()
        begin = start.group - start.group % BLOCK
        by = self._reader.part(queries.BY_ONE[self._direction], s=segment.anchor, p=segment.path[0])
        while True:
            read = await self._reader.slice(queries.SLICE, begin, BLOCK, by=by, kind=self._ends)
            terms = [row["o"] for row in read.rows]
            blanks: Sequence[Entity] = ()
            if any(isinstance(term, BNode) for term in terms):
                part = self._reader.part(queries.BLANKS_OF_SLICE, by=by, kind=self._ends, skip=begin, most=BLOCK)
                blanks = self._entities([blank for _, blank in await self._store.blanks.at(part)], segment)
            window = _Window(segment, _ordered(terms, blanks), start, room - len(result.found), begin)
            (found,) = await self._stated([window])
            result.found += found
            result.stop = read.stop
            begin += BLOCK
            if result.stop is not Stop.COMPLETE or (len(terms) < BLOCK and not window.cut):
                return result
            if len(result.found) >= room or window.cut:
                result.stop = Stop.LIMIT
                return result

    async def through(self, segment: Segment, start: Place, room: int) -> Rows:
        """Rows of a two-hop relation: mediators block by block, and behind each its far ends, sorted."""
        assert isinstance(segment.anchor, URIRef)  # noqa: S101 - none leads on from a blank node
        near, far = segment.path if self._direction is Direction.OUTGOING else segment.path[::-1]
        result = Rows()
        begin = start.group - start.group % _MEDIATORS
        while True:
            read = await self._reader.slice(
                queries.MEDIATORS[self._direction], begin, _MEDIATORS, s=segment.anchor, near=near
            )
            found, stop = await self._behind(segment.anchor, near, far, [row["m"] for row in read.rows], begin)
            for n, (mediator, ends) in enumerate(found, begin):
                places = [Place(n, i) for i in range(len(ends))]
                result.found += [
                    Found(end, place, Place(n, place.row + 1), via=mediator)
                    for end, place in zip(ends, places, strict=True)
                    if place >= start
                ]
            result.stop = worst((read.stop, stop))
            begin += _MEDIATORS
            if len(read.rows) < _MEDIATORS or result.stop is not Stop.COMPLETE:
                return result
            if len(result.found) >= room:
                result.stop = Stop.LIMIT
                return result

    async def _pairs(self, segments: Sequence[Segment]) -> Read:
        """The rows of small relations; an answer that was cut is asked for again in halves."""
        if not segments:
            return Read(())
        pairs = rows(*((one.anchor, one.path[0]) for one in segments if isinstance(one.anchor, URIRef)))
        read = await self._reader.select(queries.PAIRS[self._direction], pairs=pairs, kind=self._ends)
        if read.stop is not Stop.ROW_CAP or len(segments) == 1:
            return read
        half = len(segments) // 2
        return Read.together([await self._pairs(segments[:half]), await self._pairs(segments[half:])])

    async def _blanks_of(self, pairs: Sequence[Pair]) -> dict[Pair, list[Entity]]:
        """The blank nodes at the far ends of some relations."""
        if not pairs:
            return {}
        part = self._reader.part(queries.BLANKS_OF_PAIRS[self._direction], pairs=rows(*pairs))
        found: dict[Pair, list[Blank]] = defaultdict(list)
        for row, blank in await self._store.blanks.at(part):
            found[_pair(row)].append(blank)
        marks = marked(blank for blanks in found.values() for blank in blanks)
        inverse = self._direction is Direction.INCOMING
        return {
            pair: [self._entity(blank, (pair[0], pair[1], inverse), marks) for blank in blanks]
            for pair, blanks in found.items()
        }

    async def _behind(
        self, anchor: URIRef, near: URIRef, far: URIRef, mediators: Sequence[Term], skip: int
    ) -> tuple[list[tuple[Entity, list[Term | Entity]]], Stop]:
        """Mediators in the order they are shown in, each with the far ends behind it."""
        named = sorted(term for term in mediators if isinstance(term, URIRef))
        ends: dict[URIRef, list[Term]] = defaultdict(list)
        stop = Stop.COMPLETE
        if named:
            template = queries.BEHIND[self._direction]
            read = await self._reader.over(template, "ids", named, far=far, s=anchor, kind=self._ends)
            stop = read.stop
            for row in read.rows:
                ends[address(row, "m")].append(row["o"])
        found: list[tuple[Entity, list[Term | Entity]]] = [
            (Entity(self._store.endpoint.ids.short(one), mediator=True), _ordered(ends[one], ())) for one in named
        ]
        if len(named) == len(mediators):
            return found, stop
        part = self._reader.part(
            queries.MEDIATOR_SLICE[self._direction], s=anchor, near=near, skip=skip, most=_MEDIATORS
        )
        blanks = [blank for _, blank in await self._store.blanks.at(part)]
        marks = marked(blanks)
        inverse = self._direction is Direction.INCOMING
        for blank in blanks:
            path = self._store.blanks.path(blank, (anchor, near, inverse), marks)
            behind: list[Term | Entity]
            onward = [end for relation, end in blank.edges(self._direction) if relation == far and end != anchor]
            shown = [end for end in onward if is_kind(end, self._far_ends, self._direction)]
            if any(isinstance(end, BNode) for end in shown):
                resolved = await self._store.blanks.resolved(path)
                onward_segment = Segment(0, resolved, (far,), 0, exact=True) if resolved else None
                behind = self._own_ends(onward_segment) if onward_segment else []
            else:
                behind = _ordered(shown, ())
            found.append((Entity(self._store.endpoint.ids.written(path), mediator=True), behind))
        return sorted(found, key=lambda one: one[0].id), stop

    async def _stated(self, windows: Sequence[_Window]) -> list[list[Found]]:
        """The rows in some windows: a triple with several statements about it is as many rows."""
        triples = [
            (one.segment.anchor, one.segment.path[0], end)
            for one in windows
            for _, end in one.shown
            if isinstance(one.segment.anchor, URIRef) and not isinstance(end, Entity)
        ]
        said = await self._store.reification.of_triples(triples, self._direction)
        rows_of: list[list[Found]] = []
        for one in windows:
            found: list[Found] = []
            for n, end in one.shown:
                statements: Sequence[Facts] = ((),)
                if isinstance(one.segment.anchor, URIRef) and not isinstance(end, Entity):
                    statements = said.get((one.segment.anchor, one.segment.path[0], end), statements)
                for i, facts in enumerate(statements):
                    last = i == len(statements) - 1
                    if Place(n, i) >= one.start:
                        found.append(Found(end, Place(n, i), Place(n + 1) if last else Place(n, i + 1), facts))
            rows_of.append(found)
        return rows_of

    def _own_ends(self, segment: Segment) -> list[Term | Entity]:
        """The far ends of a blank node, from its own triples."""
        anchor = segment.anchor
        assert isinstance(anchor, Resolved)  # noqa: S101 - the caller has looked
        inverse = self._direction is Direction.INCOMING
        marks = marked([*anchor.near.values(), anchor.blank])
        terms: list[Term] = []
        blanks: list[Entity] = []
        for relation, far in own_edges(anchor, self._direction):
            if relation != segment.path[0] or not is_kind(far, self._far_ends, self._direction):
                continue
            if isinstance(far, BNode):
                blank = anchor.near.get(far, anchor.blank)
                blanks.append(self._entity(blank, (anchor.path, relation, inverse), marks))
            else:
                terms.append(far)
        return _ordered(terms, blanks)

    def _entities(self, blanks: Sequence[Blank], segment: Segment) -> list[Entity]:
        assert isinstance(segment.anchor, URIRef)  # noqa: S101 - only such a segment has blocks
        route = segment.anchor, segment.path[0], self._direction is Direction.INCOMING
        marks = marked(blanks)
        return [self._entity(blank, route, marks) for blank in blanks]

    def _entity(self, blank: Blank, route: Route, marks: Mapping[BNode, str]) -> Entity:
        path = self._store.blanks.path(blank, route, marks)
        return self._names.blank_node(self._store.endpoint.ids.written(path), blank)


def _ordered(terms: Sequence[Term], blanks: Sequence[Entity]) -> list[Term | Entity]:
    """The far ends of a block in their order, each once."""
    named = sorted({term for term in terms if not isinstance(term, BNode)}, key=term_order)
    nameless = sorted(blanks, key=lambda entity: entity.id)
    return [*named, *nameless]


def _pair(row: Row) -> Pair:
    return address(row, "s"), address(row, "p")
