"""The triples around nodes, page by page.

Rows come direction by direction, node by node in the order asked for, and there relation by relation in the order of
their ids; within one, a property's values come before edges, and edges in the store's own order. A page reads the edges
it shows, and what a hub has before them is skipped by the store. Only the first page counts all nodes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.builder import edge
from kgnav_mcp.adapters.cypher.counts import CountReader, Edge, RelationCounts, ValuesOf, Wanted
from kgnav_mcp.adapters.cypher.entities import Anchor, Entities, NodeDecoder, relation_of
from kgnav_mcp.adapters.cypher.pages import Part, Position, changed, planned
from kgnav_mcp.adapters.cypher.session import IDS_OF_QUERY, batches
from kgnav_mcp.adapters.cypher.values import ValueFormats, split_key
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import AnchoredPage, Count, Direction, Link, Qualifier, Stop, Triple

EdgesOf = Mapping[tuple[str, Direction, str], Sequence[Edge]]
"""Edges by node, direction and type."""


class NeighbourReader:
    """Answers `neighbours`."""

    def __init__(self, entities: Entities, counts: CountReader) -> None:
        self._entities = entities
        self._session = entities.session
        self._counts = counts

    async def page(
        self, references: Sequence[str], wanted: Wanted, limit: int, after: str | None, *, all_or_none: bool
    ) -> AnchoredPage[Link]:
        """One page of the rows at the nodes.

        Raises:
            InvalidCursor: `after` is no position of this list, or its relation has another length now.
        """
        references = list(dict.fromkeys(references))
        start = Position.parse(after) if after is not None else None
        if start is None:
            found, counts = await self._counts.read(references, wanted, rows=limit // max(len(references), 1))
            total = sum(each.total for each in counts)
            if all_or_none and total > limit:
                return AnchoredPage((), (), Count(total), Stop.LIMIT)
            parts, left = await in_thread(len(counts), lambda: planned(counts, None, limit))
        else:
            total = start.total
            found, parts, left = await self._planned_from(start, references, wanted, limit)
        edges, values = await gathered(self._edges(parts, wanted), self._values(parts, wanted))
        decode = _RowDecoder(self._entities.decoder, self._session.dialect.values, edges, values)

        def decoded() -> AnchoredPage[Link]:
            places = {
                found[given].node_id: place for place, given in reversed([*enumerate(references)]) if given in found
            }
            links: list[Link] = []
            positions: list[str] = []
            for part in parts:
                counts = part.counts
                links += [Link(counts.direction, triple) for triple in decode.triples(part)]
                here = places[counts.anchor.node_id], counts.by_relation[part.relation]
                positions += [
                    str(Position(total, *here, row, counts.direction, part.relation))
                    for row in range(part.start + 1, part.end + 1)
                ]
            anchors = {reference: anchor.entity for reference, anchor in found.items()}
            stop = Stop.LIMIT if left else Stop.COMPLETE
            return AnchoredPage(tuple(links), tuple(positions), Count(total), stop, anchors=anchors)

        return await in_thread(len(found) + sum(part.end - part.start for part in parts), decoded)

    async def _planned_from(
        self, start: Position, references: Sequence[str], wanted: Wanted, limit: int
    ) -> tuple[dict[str, Anchor], list[Part], int]:
        """What a page behind a position shows, and whether rows follow: no more nodes are counted than tell that."""
        if start.direction not in wanted.directions or start.place >= len(references):
            raise changed()
        found: dict[str, Anchor] = {}
        counts: list[RelationCounts] = []
        parts: list[Part] = []
        left = 0
        for side in wanted.directions[wanted.directions.index(start.direction) :]:
            place = start.place if side is start.direction else 0
            seen = await self._meant_before(references, place)
            size = limit + 1
            while place < len(references):
                some = references[place : place + size]
                narrowed = replace(wanted, directions=(side,))
                anchors, counted = await self._counts.read(some, narrowed, rows=limit // len(some))
                found |= anchors
                counts += [each for each in counted if each.anchor.node_id not in seen]
                seen |= {each.anchor.node_id for each in counted}
                if references[start.place] not in found:
                    raise changed()
                parts, left = await in_thread(len(counts), lambda: planned(counts, start, limit))  # noqa: B023
                if left:
                    return found, parts, left
                place, size = place + size, min(2 * size, IDS_OF_QUERY)
        return found, parts, left

    async def _meant_before(self, references: Sequence[str], place: int) -> set[str]:
        """Nodes that the references before a place may mean, too, in another way to write their ids."""
        if place == 0 or self._entities.of_one_key(references):
            return set()
        described = self._entities.decoder.shown
        return {
            each.node_id
            for each in await self._entities.anchors(references[:place], queries.NODES, described=described)
        }

    async def _edges(self, parts: Sequence[Part], wanted: Wanted) -> EdgesOf:
        """The edges that a page shows, but for those that came with the counts.

        Nodes that are shown whole are read together, what is shown of the first and the last one by itself.
        """
        unread = [part for part in parts if part.take and part.counts.rows is None]
        shown = Counter[tuple[str, Direction]]()
        for part in unread:
            shown[part.key] += part.take
        whole: dict[Direction, list[str]] = defaultdict(list)
        types: dict[tuple[str, Direction], list[str]] = defaultdict(list)
        jobs: list[Awaitable[dict[tuple[str, Direction, str], list[Edge]]]] = []
        for part in unread:
            node_id, side = part.key
            if shown[part.key] == sum(part.counts.edge_counts.values()):
                if node_id not in whole[side][-1:]:
                    whole[side].append(node_id)
            elif part.take == part.edges:
                types[part.key].append(part.relation)
            else:
                jobs.append(self._read([node_id], side, [part.relation], skip=part.skip, take=part.take))
        jobs += [self._read([node_id], side, names) for (node_id, side), names in types.items()]
        all_types = wanted.types(self._entities.catalogue.current)
        jobs += [
            self._read(some, side, all_types) for side, nodes in whole.items() for some in batches(nodes, IDS_OF_QUERY)
        ]
        return {key: edges for found in await gathered(*jobs) for key, edges in found.items()}

    async def _read(
        self, nodes: Sequence[str], side: Direction, types: Sequence[str] | None, **slice_: int
    ) -> dict[tuple[str, Direction, str], list[Edge]]:
        parts = {"edge": edge(side, types), "slice": queries.SLICE if slice_ else ""}
        rows = await self._session.items(queries.ROWS, parts, ids=nodes, shown=self._entities.decoder.shown, **slice_)
        found: dict[tuple[str, Direction, str], list[Edge]] = defaultdict(list)
        for node_id, *row in rows:
            found[node_id, side, row[0]].append(row)
        return found

    async def _values(self, parts: Sequence[Part], wanted: Wanted) -> ValuesOf:
        """The values that a page shows, but for those that came with the counts."""
        unread = (part.counts for part in parts if part.start < part.values and part.counts.values is None)
        return await self._counts.values_at([counts.anchor.node_id for counts in unread], wanted)


@dataclass(frozen=True, slots=True)
class _RowDecoder:
    """Makes triples of what was read for a page."""

    nodes: NodeDecoder
    formats: ValueFormats
    edges: EdgesOf
    values: ValuesOf

    def triples(self, part: Part) -> Iterable[Triple]:
        """The triples of a part.

        Raises:
            InvalidCursor: there are fewer rows than were counted.
        """
        counts, anchor = part.counts, part.counts.anchor.entity
        relation = relation_of(part.relation)
        if part.start < part.values:
            values = counts.values if counts.values is not None else self.values.get(counts.anchor.node_id, {})
            for value in values.get(part.relation, ())[part.start : part.end]:
                yield Triple(anchor, relation, value)
        if not part.take:
            return
        if counts.rows is not None:
            edges = counts.rows[part.relation][part.skip : part.skip + part.take]
        else:
            edges = self.edges.get((*part.key, part.relation), ())[: part.take]
        if len(edges) < part.take:
            raise changed()
        for _, properties, node in edges:
            far = self.nodes.entity(node)
            head, tail = (anchor, far) if counts.direction is Direction.OUTGOING else (far, anchor)
            yield Triple(head, relation, tail, qualifiers(self.formats, properties))


def qualifiers(formats: ValueFormats, properties: Mapping[str, object]) -> tuple[Qualifier, ...]:
    """An edge's own properties, ordered by id."""
    return tuple(
        Qualifier(relation_of(split_key(key)[0]), value)
        for key in sorted(properties)
        for value in formats.literals(key, properties[key])
    )
