"""The rows around nodes, in an order that never changes, and a page of them behind any row at the same cost.

Order: outgoing rows, then incoming ones; in each direction the entities as they were asked for; at each, first the
relations that have literals anywhere in the graph, then the other ones, then two-hop relations, each of the three by
relation id; within a relation, literals in the order of the source, then nodes by their number in the file, parallel
edges in the order of the source.

Rows are counted for each entity first, so that a page reads what it shows: those of a hub by a seek for each of its
relations, those of all the small nodes on it by one query.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.anchors import Anchors, Path
from kgnav_mcp.adapters.embedded.counts import CountReader
from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.paging import START, Kind, Position, Seek, Segment
from kgnav_mcp.adapters.embedded.rowfilter import RowFilter
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Parameter, Row
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Stop, Triple
from kgnav_mcp.port import TailKind
from kgnav_mcp.port.lists import invalid

_SMALL = {Kind.ATTRIBUTE: queries.around.ATTRIBUTES, Kind.TAIL: queries.around.TAILS, Kind.HEAD: queries.around.HEADS}
_ONE_NODE = {
    Kind.ATTRIBUTE: queries.around.ATTRIBUTES_BY,
    Kind.TAIL: queries.around.TAILS_BY,
    Kind.HEAD: queries.around.HEADS_BY,
    Kind.ATTRIBUTE_THROUGH: queries.around.ATTRIBUTES_THROUGH,
    Kind.TAIL_THROUGH: queries.around.TAILS_THROUGH,
    Kind.HEAD_THROUGH: queries.around.HEADS_THROUGH,
}
_KINDS = {
    (Direction.OUTGOING, TailKind.LITERAL): (Kind.ATTRIBUTE, Kind.ATTRIBUTE_THROUGH),
    (Direction.OUTGOING, TailKind.ENTITY): (Kind.TAIL, Kind.TAIL_THROUGH),
    (Direction.INCOMING, TailKind.ENTITY): (Kind.HEAD, Kind.HEAD_THROUGH),
}
"""The kinds of rows of one hop and of two."""
_DEGREES = {
    Direction.OUTGOING: queries.entities.DEGREES_OUTGOING,
    Direction.INCOMING: queries.entities.DEGREES_INCOMING,
}

_UNCOUNTED = 1_000
"""Small nodes that are read together where their rows are not counted."""

_Placed = tuple[str, Link]
"""A link with the position of its row."""


class NeighbourReader:
    """Answers `neighbours` for one set of nodes, within one job."""

    def __init__(self, builder: Builder, anchors: Anchors, direction: Direction | None, wanted: RowFilter) -> None:
        self._builder = builder
        self._anchors = anchors
        self._directions = tuple(Direction) if direction is None else (direction,)
        self._wanted = wanted

    def page(self, limit: int, after: str | None, *, all_or_none: bool = False) -> AnchoredPage[Link]:
        """One page of the rows; none of a longer list where all or none are wanted.

        Raises:
            InvalidCursor: no page of this list gave that position.
        """
        sides = {side: _Side(self._builder, self._anchors, side, self._wanted) for side in self._directions}
        total = None if self._wanted.conditions else sum(side.count(limit) for side in sides.values())
        if all_or_none and after is None and total is not None and total > limit:
            return AnchoredPage((), (), Count(total), Stop.LIMIT)
        start = Position.parse(after) if after is not None else None
        if start is not None and (start.direction not in sides or start.entity >= len(self._anchors.nodes)):
            raise invalid(after or "")
        placed: list[_Placed] = []
        for direction, side in sides.items():
            if start is None or start.direction is direction:
                placed += side.behind(start, limit + 1 - len(placed))
                start = None
        shown, more = placed[:limit], len(placed) > limit
        if total is not None:
            in_all = Count(total)
        else:
            in_all = Count.at_least(len(placed)) if more or after is not None else Count(len(placed))
        return AnchoredPage(
            items=tuple(link for _, link in shown),
            positions=tuple(position for position, _ in shown),
            total=in_all,
            stop=Stop.LIMIT if more else Stop.COMPLETE,
            anchors=self._anchors.given,
            without=None if total is None or after is not None else self._without(sides.values()),
        )

    def _without(self, sides: Iterable[_Side]) -> tuple[Entity, ...]:
        """The entities without rows."""
        rows = map(sum, zip(*(side.rows for side in sides), strict=True))
        return tuple(entity for entity, n in zip(self._anchors.nodes.values(), rows, strict=True) if not n)


class _Side:
    """The rows at the nodes in one direction."""

    def __init__(self, builder: Builder, anchors: Anchors, direction: Direction, wanted: RowFilter) -> None:
        self._builder = builder
        self._anchors = anchors
        self._nodes = list(anchors.nodes.items())
        self._direction = direction
        self._hubs = anchors.hubs[direction]
        self._wanted = wanted
        self._relations = wanted.relations
        self._two_hops = wanted.two_hops
        self._kinds = [
            kinds for (side, end), kinds in _KINDS.items() if side is direction and wanted.far_ends in {None, end}
        ]
        self.rows: Sequence[int] = ()
        """How many each node has, once they are counted."""
        self._small: dict[int, dict[Segment, list[Row]]] = {}
        self._places: dict[Path, tuple[int, str]] = {}
        self._makers: dict[Segment, _LinkMaker] = {}

    def count(self, limit: int) -> int:
        """How many rows there are. Where those of all small nodes fit a page of `limit`, they are read instead."""
        question = (self._direction, self._wanted)
        rows = self._anchors.row_counts(question)
        if rows is None:
            in_all: Counter[int] = Counter()
            for counts in self._counts(limit):
                in_all.update(counts)
            rows = [in_all[number] for number, _ in self._nodes]
            self._anchors.cache_row_counts(question, rows)
        self.rows = rows
        return sum(rows)

    def _counts(self, limit: int) -> Iterator[Mapping[int, int]]:
        """Numbers of rows by node, which add up to all rows."""
        reader = CountReader(self._builder, self._anchors, self._direction, self._wanted.far_ends)
        if self._relations is None or self._relations:
            if self._hubs:
                yield reader.one_hop_at_hubs(self._relations)
            small = self._anchors.small(self._direction)
            if len(small) <= max(limit // DEGREE_FLOOR, 1):
                self._read_small(small)
                yield {number: sum(map(len, segments.values())) for number, segments in self._small.items()}
            elif self._wanted == RowFilter():
                yield dict(self._builder.session.all(_DEGREES[self._direction], json.dumps(small)))
            else:
                yield reader.one_hop_at_small_nodes(self._relations)
        if self._two_hops:
            through = reader.two_hops().only(self._two_hops)
            yield {number: sum(of_paths.values()) for number, of_paths in through.rows.items()}

    def behind(self, start: Position | None, most: int) -> list[_Placed]:
        """The first rows behind a position, `most` at most. What has been counted is known to be there."""
        found: list[_Placed] = []
        for index in range(start.entity if start is not None else 0, len(self._nodes)):
            if not self.rows or self.rows[index] or start is not None:
                for segment, seek in self._segments_behind(index, start, most - len(found)):
                    if len(found) < most:
                        found += self._read(index, segment, seek, most - len(found))
            if len(found) >= most:
                break
            start = None
        return found

    def _segments_behind(self, index: int, start: Position | None, most: int) -> list[tuple[Segment, Seek]]:
        """The segments at a node that may have rows behind a position, in order, with where each begins."""
        number, _ = self._nodes[index]
        if number not in self._hubs and number not in self._small:
            self._read_small(self._small_from(index, most))
        segments = self._segments(number)
        if start is None:
            return [(segment, START[segment.kind]) for segment in segments]
        if start.segment not in segments:
            raise invalid(start.segment.prefix(start.entity))
        rest = segments[segments.index(start.segment) + 1 :]
        return [(start.segment, start.seek), *((segment, START[segment.kind]) for segment in rest)]

    def _segments(self, number: int) -> list[Segment]:
        """The segments at a node that may have rows, in order."""
        found, paths = [*self._small.get(number, ())], self._two_hops
        if number in self._hubs:
            here = self._hubs[number].keys()
            paths = [*paths, *((one,) for one in (here if self._relations is None else here & self._relations))]
        if not paths and len(found) < 2:
            return found  # most nodes, where rows of one relation are asked for
        entries = self._builder.relation_entries
        for path in paths:
            last = entries[path[-1]]
            kinds = [pair[len(path) - 1] for pair in self._kinds]
            found += [Segment(kind, path) for kind in kinds if (last.attributes if kind.literal else last.edges)]
        return sorted(found, key=self._place)

    def _place(self, segment: Segment) -> tuple[int, str, bool]:
        """Where a segment comes among those of a node."""
        path = segment.path
        if path not in self._places:
            literals_first = (
                self._direction is Direction.OUTGOING and self._builder.relation_entries[path[0]].attributes
            )
            rank = 2 if len(path) == 2 else int(not literals_first)
            self._places[path] = rank, self._builder.path(path).id
        return *self._places[path], not segment.kind.literal

    def _small_from(self, index: int, most: int) -> list[int]:
        """The small nodes among those that have the next rows; where rows are not counted, of the next nodes."""
        if not self.rows:
            return [number for number, _ in self._nodes[index : index + _UNCOUNTED] if number not in self._hubs]
        found: list[int] = []
        for place in range(index, len(self._nodes)):
            number, _ = self._nodes[place]
            if number not in self._hubs:
                found.append(number)
            most -= self.rows[place]
            if most <= 0:
                break
        return found

    def _read_small(self, numbers: Sequence[int]) -> None:
        """Read all rows of small nodes, which is cheaper than a query for each of them or of their relations."""
        self._small.update((number, {}) for number in numbers)
        if self._relations is not None and not self._relations:
            return
        relations = None if self._relations is None else json.dumps(list(self._relations))
        for kind, _ in self._kinds:
            if kind.literal and not self._builder.have_values(self._relations):
                continue
            rows = self._asked(kind, _SMALL[kind], {"nodes": json.dumps(list(numbers)), "relations": relations})
            rows.sort()  # by the numbers that begin them, which no two rows share
            for (number, relation), group in groupby(rows, itemgetter(0, 1)):
                self._small[number][Segment(kind, (relation,))] = list(group)

    def _read(self, index: int, segment: Segment, behind: Seek, most: int) -> list[_Placed]:
        """At most so many rows of a segment, in order, behind a place."""
        number, anchor = self._nodes[index]
        if segment.kind.hops == 2 or number in self._hubs:
            start = dict(zip("abcd", behind, strict=False))
            path = dict(zip("pq", segment.path, strict=False))
            rows = self._asked(segment.kind, _ONE_NODE[segment.kind], {"node": number, **path, **start, "most": most})
        else:
            rows = self._small[number][segment]
            if behind != START[segment.kind]:
                rows = [row for row in rows if row[2 : 2 + len(behind)] > behind]
        maker = self._makers.get(segment)
        if maker is None:
            maker = self._makers[segment] = _LinkMaker(self._builder, segment)
        return maker.links(index, anchor, rows[:most])

    def _asked(self, kind: Kind, query: str, parameters: Mapping[str, Parameter]) -> list[Row]:
        """The rows of a query for rows of a kind, those that meet the conditions."""
        if (conditions := self._wanted.conditions) is not None:
            query, parameters = conditions.narrowed(kind, query), {**parameters, **conditions.parameters}
        return self._builder.session.named(query, parameters)


class _LinkMaker:
    """Makes links of the rows of one segment.

    A row of one hop: node, relation, the numbers that order it, qualifiers, far end. One of two hops: those numbers,
    both edges' qualifiers, mediator, far end.
    """

    def __init__(self, builder: Builder, segment: Segment) -> None:
        kind = segment.kind
        self._builder = builder
        self._behind_place = segment.prefix(0)[1:]
        self._relation = builder.path(segment.path)
        self._direction = kind.direction
        self._two_hops = kind.hops == 2
        self._begin = 0 if self._two_hops else 2
        self._end = self._begin + len(START[kind])
        self._far_end = builder.literal if kind.literal else builder.entity

    def links(self, index: int, anchor: Entity, rows: Iterable[Row]) -> list[_Placed]:
        """The links at an anchor that has this place among those asked for."""
        prefix, begin, end, via = f"{index}{self._behind_place}", self._begin, self._end, None
        found: list[_Placed] = []
        for row in rows:
            qualifiers = self._builder.qualifiers(row[end])
            if self._two_hops:
                qualifiers += self._builder.qualifiers(row[end + 1])
                via = self._builder.entity(row[end + 2], None, 1)
                far = self._far_end(*row[end + 3 :])
            else:
                far = self._far_end(*row[end + 1 :])
            if self._direction is Direction.OUTGOING:
                triple = Triple(anchor, self._relation, far, qualifiers, via)
            else:
                assert isinstance(far, Entity)  # noqa: S101 - values are no heads
                triple = Triple(far, self._relation, anchor, qualifiers, via)
            found.append((prefix + ".".join(map(str, row[begin:end])), Link(self._direction, triple)))
        return found
