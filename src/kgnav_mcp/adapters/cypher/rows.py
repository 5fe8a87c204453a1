"""The rows at nodes (property values and edges), counted and read for `adapters.paging`.

Both directions are one list, outgoing rows first. Within a relation, values of the property come before edges, and
edges are in the store's own order. The edges of a hub that come before a page are skipped by the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import call
from typing import ClassVar

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.counts import (
    CountReader,
    Edge,
    EdgesOf,
    NodeCounts,
    RowFilter,
    Side,
    ValuesOf,
    by_side,
)
from kgnav_mcp.adapters.cypher.dialect import ValueFormats, split_key
from kgnav_mcp.adapters.cypher.entities import Anchor, Entities, relation_of
from kgnav_mcp.adapters.cypher.session import MAX_IDS_PER_QUERY, edge
from kgnav_mcp.adapters.paging.counts import RelationCounts
from kgnav_mcp.adapters.paging.rows import Place, Position, Rows, RowSource, Segment
from kgnav_mcp.adapters.paging.rows import SegmentPart as WantedRows
from kgnav_mcp.concurrency import gathered, gathered_for, in_thread
from kgnav_mcp.model import Count, Direction, Link, Literal, Page, Qualifier, Stop, Triple
from kgnav_mcp.port.far_end_filters import MatchRequest, Words
from kgnav_mcp.port.lists import batches, items_before

Row = Literal | Edge


class RowReader(RowSource[Side, str, Row]):
    """Counts and reads the rows of one request."""

    rows_per_query: ClassVar[int] = 10_000
    segments_per_query: ClassVar[int] = 10_000

    def __init__(
        self,
        entities: Entities,
        counts: CountReader,
        references: Sequence[str],
        wanted: RowFilter,
        limit: int,
        *,
        examples: int = 0,
    ) -> None:
        self._entities = entities
        self._session = entities.session
        self._counts = counts
        self._references = references
        self._wanted = wanted
        self._limit = limit
        self._examples = examples
        self._nodes: dict[Side, NodeCounts] = {}
        self.anchors: dict[str, Anchor] = {}
        """The nodes found so far, by reference."""

    @property
    def nodes(self) -> Sequence[NodeCounts]:
        """The counts made so far, direction by direction."""
        return tuple(self._nodes.values())

    def ids(self, path: tuple[str, ...]) -> tuple[str, ...]:
        return path

    def rows_at(self, position: Position) -> int:
        """The number of rows of the relation that a position is in."""
        node = self._nodes.get(self._side(position))
        return node.by_path.get((position.path[0],), 0) if node is not None else 0

    async def counts(self) -> RelationCounts[Side, str]:
        await self._count(self._references, self._wanted)
        return await in_thread(len(self._nodes), lambda: by_side(self._nodes.values()))

    async def counts_from(self, start: Position, limit: int) -> RelationCounts[Side, str]:
        """Counts only as many nodes as the page needs: its position contains the total already."""
        first = self._side(start).direction
        for direction in self._wanted.directions[self._wanted.directions.index(first) :]:
            place = start.entity % len(self._references) if direction is first else 0
            already_listed = await self._listed_before(place)
            size = limit + 1
            while place < len(self._references) and self._rows_from(start) <= limit:
                batch = self._references[place : place + size]
                already_listed |= await self._count(
                    batch, replace(self._wanted, directions=(direction,)), already_listed
                )
                place, size = place + size, min(2 * size, MAX_IDS_PER_QUERY)
        return by_side(self._nodes.values())

    def _side(self, position: Position) -> Side:
        direction, place = divmod(position.entity, len(self._references))
        return Side(self._wanted.directions[direction], self._references[place])

    def _rows_from(self, start: Position) -> int:
        """The number of rows counted so far that come after a position."""
        before = self._nodes.get(self._side(start))
        counted = sum(sum(node.by_path.values()) for node in self._nodes.values())
        if before is None:
            return counted
        return counted - sum(n for path, n in before.by_path.items() if path < start.path) - start.place[0]

    async def _count(
        self, references: Sequence[str], wanted: RowFilter, already_listed: frozenset[str] = frozenset()
    ) -> frozenset[str]:
        """Count the rows at nodes, leaving out those listed already. Returns the store's ids of all nodes found."""
        rows = self._limit // max(len(references), 1)
        anchors, counts = await self._counts.read(references, wanted, rows=rows, examples=self._examples)

        def record() -> frozenset[str]:
            self.anchors |= anchors
            self._nodes |= {node.side: node for node in counts if node.anchor.node_id not in already_listed}
            return frozenset(node.anchor.node_id for node in counts)

        return await in_thread(len(counts), record)

    async def _listed_before(self, place: int) -> frozenset[str]:
        """The store's ids of the nodes before a place in the request.

        Later references may mean the same nodes, because an id can be written in several ways. Empty where they cannot.
        """
        before = self._references[:place]
        if not before or self._entities.share_one_key(self._references):
            return frozenset()
        described = self._entities.decoder.shown_keys
        nodes = await self._entities.anchors(before, queries.NODES, described=described)
        return frozenset(node.node_id for node in nodes)

    def is_small(self, segment: Segment[Side, str]) -> bool:
        return segment.rows <= self._limit or self._nodes[segment.entity].edges is not None

    async def read_together(self, wanted: Sequence[WantedRows[Side, str]]) -> Sequence[Rows[Row]]:
        unread = await in_thread(len(wanted), lambda: self._unread(wanted))
        types = self._wanted.types(self._entities.catalogue.current)
        reads = [
            partial(self._counts.edges_at, batch, direction, types if names is None else names)
            for (direction, names), nodes in unread.items()
            for batch in batches(nodes, MAX_IDS_PER_QUERY)
        ]
        values_read = self._values([one.segment for one in wanted])
        found, values = await gathered(gathered_for(reads, call), values_read) if reads else ([], await values_read)
        edges = {key: rows for edges_read in found for key, rows in edges_read.items()}
        return await in_thread(len(wanted), lambda: [self._segment_rows(one, edges, values) for one in wanted])

    def _unread(
        self, wanted: Sequence[WantedRows[Side, str]]
    ) -> dict[tuple[Direction, tuple[str, ...] | None], list[str]]:
        """The nodes whose edges did not come with the counts, by direction and the types to read (None: all types)."""
        types: dict[Side, list[str]] = defaultdict(list)
        for one in wanted:
            side, (name,) = one.segment.entity, one.segment.path
            if self._nodes[side].edges is None and name in self._nodes[side].edge_counts:
                types[side].append(name)
        nodes: dict[tuple[Direction, tuple[str, ...] | None], list[str]] = defaultdict(list)
        for side, names in types.items():
            node = self._nodes[side]
            all_types = len(names) == len(node.edge_counts)
            nodes[side.direction, None if all_types else tuple(names)].append(node.anchor.node_id)
        return nodes

    def _segment_rows(self, wanted: WantedRows[Side, str], edges: EdgesOf, values: ValuesOf) -> Rows[Row]:
        """The wanted part of a segment whose rows have all been read."""
        node, (name,) = self._nodes[wanted.segment.entity], wanted.segment.path
        node_id = node.anchor.node_id
        own = node.values if node.values is not None else values.get(node_id, {})
        of_type = (
            node.edges.get(name, ()) if node.edges is not None else edges.get((node_id, node.side.direction, name), ())
        )
        rows = [*own.get(name, ()), *of_type]
        return wanted.select_from([(row, Place(n)) for n, row in enumerate(rows, 1)])

    async def read_slice(self, wanted: WantedRows[Side, str]) -> Rows[Row]:
        segment, start = wanted.segment, wanted.start.group
        node, (name,) = self._nodes[segment.entity], segment.path
        node_id, size = node.anchor.node_id, node.value_counts.get(name, 0)
        rows: list[Row] = []
        if start < size:
            values = node.values if node.values is not None else (await self._values([segment]))[node_id]
            rows += values.get(name, ())[start : start + wanted.limit]
        skip, take = max(start - size, 0), wanted.limit - len(rows)
        if take:
            found = await self._counts.edges_at([node_id], node.side.direction, [name], skip=skip, take=take)
            rows += found.get((node_id, node.side.direction, name), ())
        more = len(rows) == wanted.limit and start + len(rows) < segment.rows
        places = await in_thread(len(rows), lambda: [(row, Place(n)) for n, row in enumerate(rows, start + 1)])
        return Rows(places, Stop.LIMIT if more else Stop.COMPLETE)

    async def _values(self, segments: Sequence[Segment[Side, str]]) -> ValuesOf:
        """The property values at the nodes of some segments, except those that came with the counts."""

        def unread() -> list[str]:
            nodes = [(self._nodes[one.entity], one.path[0]) for one in segments]
            return [node.anchor.node_id for node, name in nodes if node.values is None and name in node.value_counts]

        return await self._counts.values_at(await in_thread(len(segments), unread), self._wanted)

    async def triples(self, rows: Sequence[tuple[Segment[Side, str], Row]]) -> Sequence[Triple]:
        return await in_thread(len(rows), lambda: [self._triple(segment, row) for segment, row in rows])

    def _triple(self, segment: Segment[Side, str], row: Row) -> Triple:
        anchor, relation = self._nodes[segment.entity].anchor.entity, relation_of(segment.path[0])
        if isinstance(row, Literal):
            return Triple(anchor, relation, row)
        _, properties, node = row
        far = self._entities.decoder.entity(node)
        outgoing = segment.entity.direction is Direction.OUTGOING
        head, tail = (anchor, far) if outgoing else (far, anchor)
        return Triple(head, relation, tail, qualifiers(self._session.dialect.values, properties))


def qualifiers(formats: ValueFormats, properties: Mapping[str, object]) -> tuple[Qualifier, ...]:
    """An edge's own properties as qualifiers, sorted by id."""
    return tuple(
        Qualifier(relation_of(split_key(key)[0]), value)
        for key in sorted(properties)
        for value in formats.literals(key, properties[key])
    )


class EdgeSearch:
    """Searches the edges at some nodes by their far ends."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self._session = entities.session

    async def page(self, request: MatchRequest, side: Direction, most: int, after: str | None) -> Page[Link]:
        """The edges whose far ends may match, in the order of the ids, then of the relationship types."""
        catalogue, decoder = self._entities.catalogue.current, self._entities.decoder
        far, skip = request.far, items_before(after)
        types = (
            None
            if request.relation_paths is None
            else sorted(catalogue.types.keys() & {path[0] for path in request.relation_paths})
        )
        anchors = await self._entities.anchors(request.ids, queries.NODES)
        if types == [] or not anchors:
            return Page((), (), Count(0))
        label = far.label.casefold() if far.label is not None else None
        rows = await self._session.items(
            queries.MATCHING,
            {"edge": edge(side, types)},
            ids=[anchor.node_id for anchor in anchors],
            labels=None if label is None else [name for name in catalogue.labels if name.casefold() == label],
            words=list(Words(far.words).distinct) if far.words is not None else [],
            shown=decoder.shown_keys,
            skip=skip,
            take=most,
        )
        heads = {anchor.node_id: anchor.entity for anchor in anchors}
        found: list[Link] = []
        for node_id, kind, properties, node in rows:
            ends = heads[node_id], decoder.entity(node)
            head, tail = ends if side is Direction.OUTGOING else ends[::-1]
            facts = qualifiers(self._session.dialect.values, properties)
            found.append(Link(side, Triple(head, relation_of(kind), tail, facts)))
        positions = tuple(str(skip + n) for n in range(1, len(found) + 1))
        stop = Stop.LIMIT if len(found) == most else Stop.COMPLETE
        return Page(tuple(found), positions, Count.at_least(skip + len(found)), stop)
