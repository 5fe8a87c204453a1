"""The rows around nodes, in an order that never changes, and a page of them behind any row at the same cost.

Order: the entities as they were asked for; at each, first the relations that have literals anywhere in the graph,
then the other ones, then two-hop relations, each of the three by relation id; within a relation, literals in the
order of the source, then nodes by their number in the file, parallel edges in the order of the source.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.paging import START, Kind, Position, Seek, Segment, invalid
from kgnav_mcp.adapters.embedded.pool import Row
from kgnav_mcp.adapters.embedded.relations import Path, RelationReader
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import counted
from kgnav_mcp.model import Count, Direction, Entity, Node, Page, Stop, Triple
from kgnav_mcp.port import TailKind

Numbered = tuple[Seek, Triple]
"""A triple with the numbers that order it within its segment."""


class _Source(Protocol):
    """The rows around one node in one direction, by segment."""

    def paths(self) -> set[int]:
        """The relations of the node, as far as they are known without a search."""
        ...

    def read(self, segment: Segment, behind: Seek, room: int) -> list[Numbered]:
        """At most `room` rows of a one-hop segment, in order, behind a place."""
        ...


class NeighbourReader:
    """Answers `neighbours` for one set of nodes in one direction, within one job."""

    def __init__(
        self,
        builder: Builder,
        nodes: Sequence[tuple[int, Entity]],
        direction: Direction,
        far_ends: TailKind | None = None,
    ) -> None:
        self._builder = builder
        self._nodes = nodes
        self._direction = direction
        self._far_ends = far_ends
        self._with_literals = direction is Direction.OUTGOING and far_ends is not TailKind.ENTITY
        self._with_nodes = far_ends is not TailKind.LITERAL
        self._hubs: dict[int, dict[int, int]] = defaultdict(dict)
        side = 0 if direction is Direction.OUTGOING else 1
        numbers = json.dumps([number for number, _ in nodes])
        for number, relation, rows in builder.session.all(queries.around.HUB_ROWS, numbers, side):
            self._hubs[number][relation] = counted(rows)

    def page(self, paths: Sequence[Path] | None, limit: int, after: str | None, *, whole: bool = False) -> Page[Triple]:
        """One page of the triples of these paths, or of all one-hop relations; none of a list longer than is wanted."""
        position = Position.parse(after) if after is not None else None
        if whole and position is None and (rows := self._at_hubs(paths)) > limit:
            return Page((), (), Count.at_least(rows), Stop.LIMIT)
        if position is not None and position.entity >= len(self._nodes):
            raise invalid(after or "")
        first = position.entity if position is not None else 0
        triples: list[Triple] = []
        positions: list[str] = []
        for index in range(first, len(self._nodes)):
            start = position if index == first else None
            for segment, seek, triple in self._behind(index, paths, start, limit + 1 - len(triples)):
                triples.append(triple)
                positions.append(segment.position(index, seek))
            if len(triples) > limit:
                break
        if len(triples) <= limit:
            total = len(triples) if after is None else self._total(paths)
            return Page(tuple(triples), tuple(positions), Count(total))
        if whole:
            return Page((), (), Count.at_least(len(triples)), Stop.LIMIT)
        return Page(tuple(triples[:limit]), tuple(positions[:limit]), Count(self._total(paths)), Stop.LIMIT)

    def _at_hubs(self, paths: Sequence[Path] | None) -> int:
        """Rows of one hop that are counted in the file: at least so many there are, but for a narrowing to far ends."""
        if self._far_ends is not None:
            return 0
        hubs = (counts.items() for counts in self._hubs.values())
        return sum(n for rows in hubs for relation, n in rows if paths is None or (relation,) in paths)

    def _total(self, paths: Sequence[Path] | None) -> int:
        reader = RelationReader(self._builder, [number for number, _ in self._nodes], self._direction)
        counts = reader.counts()
        if paths is not None:
            if any(len(path) == 2 for path in paths):
                counts.update(reader.counts_through())
            counts = Counter({path: counts[path] for path in paths if path in counts})
        if self._far_ends is None:
            return counts.total()
        literals = sum(reader.literals(path) for path in counts)
        return literals if self._far_ends is TailKind.LITERAL else counts.total() - literals

    def _behind(
        self, index: int, paths: Sequence[Path] | None, start: Position | None, room: int
    ) -> list[tuple[Segment, Seek, Triple]]:
        """At most `room` rows around one node, behind a position."""
        number, anchor = self._nodes[index]
        source = self._source(number, anchor)
        segments = self._segments(source, paths)
        if start is not None:
            if start.segment not in segments:
                raise invalid(start.segment.position(start.entity, start.seek))
            segments = segments[segments.index(start.segment) :]
        found: list[tuple[Segment, Seek, Triple]] = []
        for segment in segments:
            behind = start.seek if start is not None and segment == start.segment else START[segment.kind]
            if segment.kind.hops == 1:
                rows = source.read(segment, behind, room - len(found))
            else:
                rows = self._read_through(segment, number, anchor, behind, room - len(found))
            found += [(segment, seek, triple) for seek, triple in rows]
            if len(found) >= room:
                break
        return found

    def _source(self, number: int, anchor: Entity) -> _Source:
        if number in self._hubs:
            return _Hub(self._builder, number, anchor, self._direction, set(self._hubs[number]))
        return _Small(self._builder, number, anchor, self._direction)

    def _segments(self, source: _Source, paths: Sequence[Path] | None) -> list[Segment]:
        """The segments that may have rows, in order."""
        entries = self._builder.relation_entries
        outgoing = self._direction is Direction.OUTGOING
        here = source.paths()
        wanted = {(relation,) for relation in here}
        if paths is not None:
            wanted = {path for path in paths if len(path) == 2 or path in wanted}

        def place(path: Path) -> tuple[int, str]:
            if len(path) == 2:
                return 2, self._builder.path(path).id
            return int(not (outgoing and entries[path[0]].attributes)), entries[path[0]].relation.id

        segments: list[Segment] = []
        for path in sorted(wanted, key=place):
            literals, nodes = _KINDS[len(path)]
            last = entries[path[-1]]
            if self._with_literals and last.attributes:
                segments.append(Segment(literals, path))
            if self._with_nodes and last.edges:
                segments.append(Segment(nodes, path))
        return segments

    def _read_through(self, segment: Segment, number: int, anchor: Entity, behind: Seek, room: int) -> list[Numbered]:
        """Rows of a two-hop relation, in order, behind a place."""
        builder = self._builder
        relation = builder.path(segment.path)
        outgoing = self._direction is Direction.OUTGOING
        if segment.kind is Kind.ATTRIBUTE_THROUGH:
            query = queries.around.ATTRIBUTES_THROUGH
        else:
            query = queries.around.TAILS_THROUGH if outgoing else queries.around.HEADS_THROUGH
        found: list[Numbered] = []
        for row in builder.session.all(query, number, *segment.path, *behind, room):
            seek, (first, second, key, *far) = row[: len(behind)], row[len(behind) :]
            via = builder.entity(key, None, 1)
            qualifiers = builder.qualifiers(first) + builder.qualifiers(second)
            end: Node = builder.literal(*far) if segment.kind is Kind.ATTRIBUTE_THROUGH else builder.entity(*far)
            triple = (
                Triple(anchor, relation, end, qualifiers, via)
                if outgoing or not isinstance(end, Entity)
                else Triple(end, relation, anchor, qualifiers, via)
            )
            found.append((seek, triple))
        return found


_KINDS = {1: (Kind.ATTRIBUTE, Kind.EDGE), 2: (Kind.ATTRIBUTE_THROUGH, Kind.EDGE_THROUGH)}


class _Rows:
    """What both sources share: turning rows into triples at one anchor."""

    def __init__(self, builder: Builder, number: int, anchor: Entity, direction: Direction) -> None:
        self._builder = builder
        self._number = number
        self._anchor = anchor
        self._outgoing = direction is Direction.OUTGOING

    def _attributes(self, rows: Iterable[Row]) -> list[Numbered]:
        builder = self._builder
        return [
            (
                (n,),
                Triple(
                    self._anchor,
                    builder.relation(relation),
                    builder.literal(text, datatype, language),
                    builder.qualifiers(qualifiers),
                ),
            )
            for relation, n, text, datatype, language, qualifiers in rows
        ]

    def _edges(self, rows: Iterable[Row]) -> list[Numbered]:
        builder, anchor = self._builder, self._anchor
        found: list[Numbered] = []
        for relation, node, n, qualifiers, key, label, mediator in rows:
            end = builder.entity(key, label, mediator)
            head, tail = (anchor, end) if self._outgoing else (end, anchor)
            found.append(((node, n), Triple(head, builder.relation(relation), tail, builder.qualifiers(qualifiers))))
        return found


class _Hub(_Rows):
    """A node with many rows: its relations are counted in the file, each is read by a seek of its own."""

    def __init__(
        self, builder: Builder, number: int, anchor: Entity, direction: Direction, relations: set[int]
    ) -> None:
        super().__init__(builder, number, anchor, direction)
        self._relations = relations

    def paths(self) -> set[int]:
        return self._relations

    def read(self, segment: Segment, behind: Seek, room: int) -> list[Numbered]:
        session = self._builder.session
        if segment.kind is Kind.ATTRIBUTE:
            return self._attributes(
                session.all(queries.around.ATTRIBUTES_BY, self._number, *segment.path, *behind, room)
            )
        query = queries.around.TAILS_BY if self._outgoing else queries.around.HEADS_BY
        return self._edges(session.all(query, self._number, *segment.path, *behind, room))


class _Small(_Rows):
    """A node with few rows: all are read at once, which is cheaper than a query for each relation."""

    def __init__(self, builder: Builder, number: int, anchor: Entity, direction: Direction) -> None:
        super().__init__(builder, number, anchor, direction)
        session = builder.session
        self._rows = {
            Kind.ATTRIBUTE: _by_relation(session.all(queries.around.ATTRIBUTES, number) if self._outgoing else ()),
            Kind.EDGE: _by_relation(
                session.all(queries.around.TAILS if self._outgoing else queries.around.HEADS, number)
            ),
        }

    def paths(self) -> set[int]:
        return {relation for rows in self._rows.values() for relation in rows}

    def read(self, segment: Segment, behind: Seek, room: int) -> list[Numbered]:
        rows = self._rows[segment.kind].get(segment.path[0], ())
        numbered = self._attributes(rows) if segment.kind is Kind.ATTRIBUTE else self._edges(rows)
        return sorted((row for row in numbered if row[0] > behind), key=lambda row: row[0])[:room]


def _by_relation(rows: Iterable[Row]) -> dict[int, list[Row]]:
    grouped: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row[0]].append(row)
    return grouped
