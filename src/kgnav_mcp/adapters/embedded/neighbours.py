"""The triples at entities page by page, with exact row counts by relation and node."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import TypeAlias

from kgnav_mcp.adapters.embedded import queries, session
from kgnav_mcp.adapters.embedded.entities import SIDES, Anchors, Path, RowFilter
from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.rows import Builder, Position, Seek, Segment, SegmentKind
from kgnav_mcp.adapters.embedded.session import Parameter, Row
from kgnav_mcp.adapters.paging.counts import PathCounts, RelationCounts, hidden_note, sum_counts
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Stop, Triple
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import invalid_cursor

Counts: TypeAlias = RelationCounts[int, int]
"""Row counts, with nodes and relations given by their numbers in the file."""
_PathCount = tuple[int, Path, int]

_EDGES = {
    Direction.OUTGOING: queries.around.EDGE_COUNTS_OUTGOING,
    Direction.INCOMING: queries.around.EDGE_COUNTS_INCOMING,
}
_RELATIONS_OF_EDGES = {
    Direction.OUTGOING: queries.around.RELATIONS_OUTGOING,
    Direction.INCOMING: queries.around.RELATIONS_INCOMING,
}
_EDGES_THROUGH = {
    Direction.OUTGOING: queries.around.COUNTS_THROUGH_OUTGOING,
    Direction.INCOMING: queries.around.COUNTS_THROUGH_INCOMING,
}


class CountReader:
    """Counts the rows at a set of nodes in one direction, within one job: those with far ends of `far_end_kind`."""

    def __init__(
        self, builder: Builder, anchors: Anchors, direction: Direction, far_end_kind: FarEndKind | None = None
    ) -> None:
        self._builder = builder
        self._session = builder.session
        self._direction = direction
        self._far_end_kind = far_end_kind
        self._hubs = anchors.hubs[direction]
        self._anchors = anchors
        self._with_edges = far_end_kind is not FarEndKind.LITERAL
        self._with_attributes = direction is Direction.OUTGOING and far_end_kind is not FarEndKind.ENTITY

    def all(self, hops: int) -> PathCounts[int, int]:
        """Returns the row counts of all one-hop relations and, if `hops` is 2, of all two-hop relations."""
        by_relation: dict[str, dict[int, int]] = defaultdict(dict)
        row_queries = [_RELATIONS_OF_EDGES[self._direction]] if self._with_edges else []
        row_queries += [queries.around.RELATIONS_OF_ATTRIBUTES] if self._with_attributes else []
        for query in row_queries:
            for number, relations in self._session.all(query, self._small_nodes):
                for relation in relations.split(",") if relations else ():
                    counts_by_node = by_relation[relation]
                    counts_by_node[number] = counts_by_node.get(number, 0) + 1
        counts_by_path: dict[Path, dict[int, int]] = {
            (int(relation),): counts for relation, counts in by_relation.items()
        }
        for number, path, size in chain(self._hub_rows(None), self._two_hop_rows() if hops == 2 else ()):
            counts_by_node = counts_by_path.setdefault(path, {})
            counts_by_node[number] = counts_by_node.get(number, 0) + size
        return PathCounts(counts_by_path)

    def one_hop_at_hubs(self, relations: Collection[int] | None) -> Mapping[int, int]:
        """Returns the number of one-hop rows at each hub, for these relations or for all, from counts in the file."""
        return _totals((number, rows) for number, _, rows in self._hub_rows(relations))

    def one_hop_at_small_nodes(self, relations: Collection[int] | None) -> Mapping[int, int]:
        """Returns the number of one-hop rows at each node that is not a hub, for these relations or for all."""
        return _totals(self._small_rows(relations))

    def two_hops(self) -> Counts:
        """Returns the row counts of two-hop relations through mediators. Paths back to their start are not counted."""
        return sum_counts(self._two_hop_rows())

    @cached_property
    def _small_nodes(self) -> str:
        return json.dumps(self._anchors.small(self._direction))

    def _hub_rows(self, relations: Collection[int] | None) -> Iterator[_PathCount]:
        return self._filter_far_ends(
            (number, (relation,), rows)
            for number, by_relation in self._hubs.items()
            for relation, rows in by_relation.items()
            if relations is None or relation in relations
        )

    def _small_rows(self, relations: Collection[int] | None) -> Iterator[tuple[int, int]]:
        relation_list = None if relations is None else json.dumps(list(relations))
        count_queries = [_EDGES[self._direction]] if self._with_edges else []
        if self._with_attributes and self._builder.any_has_literals(relations):
            count_queries.append(queries.around.ATTRIBUTE_COUNTS)
        for query in count_queries:
            yield from self._session.all(query, self._small_nodes, relation_list)

    def _two_hop_rows(self) -> Iterator[_PathCount]:
        if not self._builder.catalogue.has_mediators(self._session):
            return
        if self._hubs:
            hubs, side = json.dumps(list(self._hubs)), SIDES[self._direction]
            yield from self._filter_far_ends(
                _as_path_counts(self._session.all(queries.around.HUB_COUNTS_THROUGH, hubs, side))
            )
        if self._with_edges:
            yield from _as_path_counts(self._session.all(_EDGES_THROUGH[self._direction], self._small_nodes))
        if self._with_attributes:
            yield from _as_path_counts(self._session.all(queries.around.ATTRIBUTE_COUNTS_THROUGH, self._small_nodes))

    def _filter_far_ends(self, rows: Iterable[_PathCount]) -> Iterator[_PathCount]:
        """Reduces the stored counts of hubs, which include all far ends, to the wanted type of far end."""
        if self._far_end_kind is None:
            yield from rows
            return
        by_path: dict[Path, dict[int, int]] = defaultdict(dict)
        for number, path, count in rows:
            by_path[path][number] = count
        for path, counts in by_path.items():
            literals = self._literal_counts(path, counts)
            for number, count in counts.items():
                literal_count = literals.get(number, 0)
                if count < max(literal_count, 1):
                    raise session.DamagedRowError("a segment has more rows than were counted")
                if matching := literal_count if self._far_end_kind is FarEndKind.LITERAL else count - literal_count:
                    yield number, path, matching

    def _literal_counts(self, path: Path, counts: dict[int, int]) -> dict[int, int]:
        """Returns for each hub how many rows of a path end at literals."""
        last = self._builder.relation_entries[path[-1]]
        if self._direction is Direction.INCOMING or not last.attributes:
            return {}
        if not last.edges:
            return counts
        query = queries.around.LITERAL_COUNTS if len(path) == 1 else queries.around.LITERAL_COUNTS_THROUGH
        return dict(self._session.all(query, json.dumps(list(counts)), *path))


def _totals(rows: Iterable[tuple[int, int]]) -> Mapping[int, int]:
    """Returns the sum of rows for each node."""
    totals: dict[int, int] = {}
    for number, size in rows:
        totals[number] = totals.get(number, 0) + size
    return totals


def _as_path_counts(rows: Iterable[Row]) -> Iterator[_PathCount]:
    return ((number, tuple(path), session.checked_count(count)) for number, *path, count in rows)


_SMALL = {
    SegmentKind.ATTRIBUTE: queries.around.ATTRIBUTES,
    SegmentKind.TAIL: queries.around.TAILS,
    SegmentKind.HEAD: queries.around.HEADS,
}
"""Queries for all rows of small nodes."""
_ONE_NODE = {
    SegmentKind.ATTRIBUTE: queries.around.ATTRIBUTES_BY,
    SegmentKind.TAIL: queries.around.TAILS_BY,
    SegmentKind.HEAD: queries.around.HEADS_BY,
    SegmentKind.ATTRIBUTE_THROUGH: queries.around.ATTRIBUTES_THROUGH,
    SegmentKind.TAIL_THROUGH: queries.around.TAILS_THROUGH,
    SegmentKind.HEAD_THROUGH: queries.around.HEADS_THROUGH,
}
_KINDS = {
    (Direction.OUTGOING, FarEndKind.LITERAL): (SegmentKind.ATTRIBUTE, SegmentKind.ATTRIBUTE_THROUGH),
    (Direction.OUTGOING, FarEndKind.ENTITY): (SegmentKind.TAIL, SegmentKind.TAIL_THROUGH),
    (Direction.INCOMING, FarEndKind.ENTITY): (SegmentKind.HEAD, SegmentKind.HEAD_THROUGH),
}
"""By direction and type of far end: the kind of one-hop rows and the kind of two-hop rows."""
_DEGREE_QUERIES = {
    Direction.OUTGOING: queries.entities.DEGREES_OUTGOING,
    Direction.INCOMING: queries.entities.DEGREES_INCOMING,
}
_UNCOUNTED_BATCH = 1_000
"""How many nodes are read together where their rows are not counted."""

_PositionedLink = tuple[str, Link]
"""The position of a row, and its link."""


class NeighbourReader:
    """Answers `neighbours` for one set of nodes, within one job."""

    def __init__(self, builder: Builder, anchors: Anchors, direction: Direction | None, row_filter: RowFilter) -> None:
        self._builder = builder
        self._anchors = anchors
        self._directions = tuple(Direction) if direction is None else (direction,)
        self._row_filter = row_filter

    def page(self, limit: int, after: str | None, *, all_or_none: bool = False) -> AnchoredPage[Link]:
        """Returns one page of the rows. With `all_or_none`, no rows if there are more than `limit`.

        Raises:
            InvalidCursor: no page of this list gave that position.
        """
        sides = {side: _Side(self._builder, self._anchors, side, self._row_filter) for side in self._directions}
        total = None if self._row_filter.conditions else sum(side.count(limit) for side in sides.values())
        if all_or_none and after is None and total is not None and total > limit:
            return AnchoredPage((), (), Count(total), Stop.LIMIT)
        start = Position.parse(after) if after is not None else None
        if start is not None and (start.direction not in sides or start.entity >= len(self._anchors.nodes)):
            raise invalid_cursor(after or "")
        rows: list[_PositionedLink] = []
        for direction, side in sides.items():
            if start is None or start.direction is direction:
                rows += side.rows_after(start, limit + 1 - len(rows))
                start = None
        shown, more = rows[:limit], len(rows) > limit
        if total is not None:
            total_count = Count(total)
        else:
            total_count = Count.at_least(len(rows)) if more or after is not None else Count(len(rows))
        return AnchoredPage(
            items=tuple(link for _, link in shown),
            positions=tuple(position for position, _ in shown),
            total=total_count,
            stop=Stop.LIMIT if more else Stop.COMPLETE,
            anchors=self._anchors.by_reference,
            without=None if total is None or after is not None else self._entities_without_rows(sides.values()),
            note=self._hidden_note(),
        )

    def _hidden_note(self) -> str:
        """Returns a note on rows of relations that are shown only if a request names them; empty without such rows."""
        hidden = self._row_filter.hidden
        if not hidden or self._row_filter.conditions:
            return ""
        counts: Counter[int] = Counter()
        for side in self._directions:
            reader = CountReader(self._builder, self._anchors, side, self._row_filter.far_end_kind)
            counts.update({path[0]: rows.value for path, rows in reader.all(1).by_path().items() if path[0] in hidden})
        ids = [self._builder.relation(relation).id for relation in counts]
        return hidden_note(Count(counts.total()), ids) if ids else ""

    def _entities_without_rows(self, sides: Iterable[_Side]) -> tuple[Entity, ...]:
        """Returns the entities without rows."""
        rows = map(sum, zip(*(side.row_counts for side in sides), strict=True))
        return tuple(entity for entity, n in zip(self._anchors.nodes.values(), rows, strict=True) if not n)


class _Side:
    """The rows at the nodes in one direction."""

    def __init__(self, builder: Builder, anchors: Anchors, direction: Direction, row_filter: RowFilter) -> None:
        self._builder = builder
        self._anchors = anchors
        self._nodes = list(anchors.nodes.items())
        self._direction = direction
        self._hubs = anchors.hubs[direction]
        self._row_filter = row_filter
        self._relations = row_filter.relations
        self._two_hops = row_filter.two_hops
        self._kinds = [
            kinds
            for (side, end), kinds in _KINDS.items()
            if side is direction and row_filter.far_end_kind in {None, end}
        ]
        self.row_counts: Sequence[int] = ()
        """Number of rows of each node; empty until they are counted."""
        self._small: dict[int, dict[Segment, list[Row]]] = {}
        self._places: dict[Path, tuple[int, str]] = {}
        self._makers: dict[Segment, _LinkMaker] = {}

    def count(self, limit: int) -> int:
        """Returns the number of rows. Small nodes whose rows fit a page of `limit` are read instead of counted."""
        cache_key = (self._direction, self._row_filter)
        rows = self._anchors.row_counts(cache_key)
        if rows is None:
            totals: Counter[int] = Counter()
            for counts in self._counts(limit):
                totals.update(counts)
            rows = [totals[number] for number, _ in self._nodes]
            self._anchors.cache_row_counts(cache_key, rows)
        self.row_counts = rows
        return sum(rows)

    def _counts(self, limit: int) -> Iterator[Mapping[int, int]]:
        """Yields row counts by node. Their sum is the number of all rows."""
        reader = CountReader(self._builder, self._anchors, self._direction, self._row_filter.far_end_kind)
        if self._relations is None or self._relations:
            if self._hubs:
                yield reader.one_hop_at_hubs(self._relations)
            small = self._anchors.small(self._direction)
            if len(small) <= max(limit // DEGREE_FLOOR, 1):
                self._read_small(small)
                yield {number: sum(map(len, segments.values())) for number, segments in self._small.items()}
            elif self._row_filter == RowFilter():
                yield dict(self._builder.session.all(_DEGREE_QUERIES[self._direction], json.dumps(small)))
            else:
                yield reader.one_hop_at_small_nodes(self._relations)
        if self._two_hops:
            through = reader.two_hops().restricted_to(self._two_hops)
            yield {number: sum(of_paths.values()) for number, of_paths in through.rows.items()}

    def rows_after(self, start: Position | None, limit: int) -> list[_PositionedLink]:
        """Returns up to `limit` rows after a position. Nodes known to have no rows are skipped."""
        links: list[_PositionedLink] = []
        for index in range(start.entity if start is not None else 0, len(self._nodes)):
            if not self.row_counts or self.row_counts[index] or start is not None:
                for segment, seek in self._segments_after(index, start, limit - len(links)):
                    if len(links) < limit:
                        links += self._read_segment(index, segment, seek, limit - len(links))
            if len(links) >= limit:
                break
            start = None
        return links

    def _segments_after(self, index: int, start: Position | None, limit: int) -> list[tuple[Segment, Seek]]:
        """Returns the segments of a node that may have rows after a position, in order, each with where to start."""
        number, _ = self._nodes[index]
        if number not in self._hubs and number not in self._small:
            self._read_small(self._next_small_nodes(index, limit))
        segments = self._segments(number)
        if start is None:
            return [(segment, segment.kind.start) for segment in segments]
        if start.segment not in segments:
            raise invalid_cursor(start.segment.prefix(start.entity))
        rest = segments[segments.index(start.segment) + 1 :]
        return [(start.segment, start.seek), *((segment, segment.kind.start) for segment in rest)]

    def _segments(self, number: int) -> list[Segment]:
        """Returns the segments of a node that may have rows, in order."""
        segments, relation_paths = [*self._small.get(number, ())], self._two_hops
        if number in self._hubs:
            hub_relations = self._hubs[number].keys()
            relations = hub_relations if self._relations is None else hub_relations & self._relations
            relation_paths = [*relation_paths, *((relation,) for relation in relations)]
        if not relation_paths and len(segments) < 2:
            return segments  # the usual case where rows of one relation are wanted
        entries = self._builder.relation_entries
        for path in relation_paths:
            last = entries[path[-1]]
            kinds = [pair[len(path) - 1] for pair in self._kinds]
            segments += [Segment(kind, path) for kind in kinds if (last.attributes if kind.literal else last.edges)]
        return sorted(segments, key=self._sort_key)

    def _sort_key(self, segment: Segment) -> tuple[int, str, bool]:
        """Returns the sort key of a segment among those of a node."""
        path = segment.path
        if path not in self._places:
            outgoing, first = self._direction is Direction.OUTGOING, self._builder.relation_entries[path[0]]
            rank = 2 if len(path) == 2 else int(not (outgoing and first.attributes))
            self._places[path] = rank, self._builder.path(path).id
        return *self._places[path], not segment.kind.literal

    def _next_small_nodes(self, index: int, limit: int) -> list[int]:
        """Returns the small nodes of the next `limit` rows; if rows are not counted, those among the next nodes."""
        if not self.row_counts:
            return [number for number, _ in self._nodes[index : index + _UNCOUNTED_BATCH] if number not in self._hubs]
        nodes: list[int] = []
        for place in range(index, len(self._nodes)):
            number, _ = self._nodes[place]
            if number not in self._hubs:
                nodes.append(number)
            limit -= self.row_counts[place]
            if limit <= 0:
                break
        return nodes

    def _read_small(self, numbers: Sequence[int]) -> None:
        """Reads all rows of small nodes at once. This is cheaper than a query for each node or each relation."""
        self._small.update((number, {}) for number in numbers)
        if self._relations is not None and not self._relations:
            return
        relations = None if self._relations is None else json.dumps(list(self._relations))
        for kind, _ in self._kinds:
            if kind.literal and not self._builder.any_has_literals(self._relations):
                continue
            rows = self._run_query(kind, _SMALL[kind], {"nodes": json.dumps(list(numbers)), "relations": relations})
            rows.sort()  # by their first columns, numbers that differ for any two rows
            for (number, relation), group in groupby(rows, itemgetter(0, 1)):
                self._small[number][Segment(kind, (relation,))] = list(group)

    def _read_segment(self, index: int, segment: Segment, after: Seek, limit: int) -> list[_PositionedLink]:
        """Returns up to `limit` rows of a segment after a place, in order."""
        number, anchor = self._nodes[index]
        if segment.kind.hops == 2 or number in self._hubs:
            start = dict(zip("abcd", after, strict=False))
            path = dict(zip("pq", segment.path, strict=False))
            parameters: dict[str, Parameter] = {"node": number, **path, **start, "most": limit}
            rows = self._run_query(segment.kind, _ONE_NODE[segment.kind], parameters)
        else:
            rows = self._small[number][segment]
            if after != segment.kind.start:
                rows = [row for row in rows if row[2 : 2 + len(after)] > after]
        maker = self._makers.get(segment)
        if maker is None:
            maker = self._makers[segment] = _LinkMaker(self._builder, segment)
        return maker.links(index, anchor, rows[:limit])

    def _run_query(self, kind: SegmentKind, query: str, parameters: Mapping[str, Parameter]) -> list[Row]:
        """Runs a query for rows of a kind, narrowed by the conditions."""
        if (conditions := self._row_filter.conditions) is not None:
            query, parameters = conditions.narrowed(kind, query), {**parameters, **conditions.parameters}
        return self._builder.session.all_named(query, parameters)


class _LinkMaker:
    """Makes links from the rows of one segment.

    Columns of a one-hop row: node, relation, the numbers that order it, qualifiers, far end. Columns of a two-hop row:
    the numbers that order it, qualifiers of both edges, mediator, far end.
    """

    def __init__(self, builder: Builder, segment: Segment) -> None:
        kind = segment.kind
        self._builder = builder
        self._position_prefix = segment.prefix(0)[1:]
        self._relation = builder.path(segment.path)
        self._direction = kind.direction
        self._two_hops = kind.hops == 2
        self._key_start = 0 if self._two_hops else 2
        self._key_end = self._key_start + len(kind.start)
        self._far_end = builder.literal if kind.literal else builder.entity

    def links(self, index: int, anchor: Entity, rows: Iterable[Row]) -> list[_PositionedLink]:
        """Returns the links at an anchor, which is the `index`-th of the set."""
        prefix, begin, end, via = f"{index}{self._position_prefix}", self._key_start, self._key_end, None
        relation, far_end, links = self._relation, self._far_end, list[_PositionedLink]()
        for row in rows:
            qualifiers = self._builder.qualifiers(row[end]) if row[end] else ()
            if self._two_hops:
                qualifiers += self._builder.qualifiers(row[end + 1])
                via = self._builder.entity(row[end + 2], None, 1)
                far = far_end(*row[end + 3 :])
            else:
                far = far_end(*row[end + 1 :])
            if self._direction is Direction.OUTGOING:
                triple = Triple(anchor, relation, far, qualifiers, via)
            else:
                assert isinstance(far, Entity)  # noqa: S101 - the head of a triple is never a literal
                triple = Triple(far, relation, anchor, qualifiers, via)
            links.append((prefix + ".".join(map(str, row[begin:end])), Link(self._direction, triple)))
        return links
