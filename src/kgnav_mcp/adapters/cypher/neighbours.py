"""The relations and triples around nodes, page by page, and the edges from one set of nodes to another."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.counts import (
    CountReader,
    Edge,
    NodeCounts,
    RowFilter,
    Side,
    ValuesOf,
    by_side,
)
from kgnav_mcp.adapters.cypher.entities import Anchor, Entities, Lookup, NodeRow, relation_of
from kgnav_mcp.adapters.cypher.pages import RowPosition, changed, list_page, skipped_items
from kgnav_mcp.adapters.cypher.rows import RowReader, qualifiers
from kgnav_mcp.adapters.cypher.session import edge
from kgnav_mcp.adapters.paging.counts import paths_in_order, relations_page
from kgnav_mcp.adapters.paging.directions import merge_relation_pages
from kgnav_mcp.adapters.paging.rows import rows_page
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import (
    AnchoredPage,
    Count,
    Direction,
    Entity,
    Link,
    Node,
    Page,
    RelationFacts,
    RowsOrRelations,
    Stop,
    Triple,
    anchored,
)
from kgnav_mcp.port.lists import batches

_TYPES_PER_QUERY = 50
"""Relationship types whose examples are read by one query."""
_NODES_WITH_EXAMPLES = 5
"""Nodes whose edges are searched for the examples of a relation."""

Path = tuple[str, ...]


class RelationReader:
    """Answers the verb `relations`."""

    def __init__(self, entities: Entities, counts: CountReader) -> None:
        self._entities = entities
        self._counts = counts

    async def page(
        self, references: Sequence[str], wanted: RowFilter, examples: int, limit: int
    ) -> AnchoredPage[RelationFacts]:
        """The relations sorted by direction and id, at most `limit`."""
        with_counts = self.examples_with_counts(references, examples)
        found, nodes = await self._counts.read(references, wanted, examples=with_counts)
        return await self.counted(found, nodes, wanted, examples, limit)

    def examples_with_counts(self, references: Sequence[str], examples: int) -> int:
        """The number of examples of each type that are read together with the counts: all of them, or none."""
        few = len(references) == 1 and len(self._entities.catalogue.current.types) <= _TYPES_PER_QUERY
        return examples if few else 0

    async def counted(
        self, found: Mapping[str, Anchor], nodes: Sequence[NodeCounts], wanted: RowFilter, examples: int, limit: int
    ) -> AnchoredPage[RelationFacts]:
        """As `page`, for nodes whose rows are counted already."""
        sides = [[node for node in nodes if node.side.direction is side] for side in wanted.directions]
        pages = await gathered(
            *(
                self._page_in(direction, nodes_of_side, wanted, examples, limit)
                for direction, nodes_of_side in zip(wanted.directions, sides, strict=True)
            )
        )
        anchors = {reference: anchor.entity for reference, anchor in found.items()}
        return anchored(merge_relation_pages(pages, limit), anchors)

    async def _page_in(
        self, direction: Direction, nodes: Sequence[NodeCounts], wanted: RowFilter, examples: int, limit: int
    ) -> Page[RelationFacts]:
        """The relations in one direction."""
        counts = await in_thread(len(nodes), lambda: by_side(nodes))
        relation_paths = await in_thread(len(nodes), lambda: paths_in_order(counts, tuple))
        ends = await self._examples(direction, nodes, wanted, relation_paths[:limit], examples) if examples else {}

        def page() -> Page[RelationFacts]:
            printed = {node.side: node.anchor.entity.id for node in nodes}
            return relations_page(
                counts,
                direction,
                relation_paths=relation_paths,
                limit=limit,
                names={path[0]: relation_of(path[0]) for path in relation_paths},
                printed=printed.__getitem__,
                examples=ends,
                stop=Stop.COMPLETE,
            )

        return await in_thread(len(nodes), page)

    async def _examples(
        self,
        direction: Direction,
        nodes: Sequence[NodeCounts],
        wanted: RowFilter,
        relation_paths: Sequence[Path],
        examples: int,
    ) -> dict[Path, list[Node]]:
        """Distinct far ends of each relation, from the first few nodes that have it."""
        nodes_by_path = await in_thread(len(nodes), lambda: _first_nodes(nodes, relation_paths))
        ends = await self._far_ends(direction, nodes_by_path, examples)
        values = await self._values(nodes_by_path, wanted)
        decode = self._entities.decoder.entity
        found: dict[Path, list[Node]] = {}
        for path, nodes_of_path in nodes_by_path.items():
            name = path[0]
            far: dict[Node, None] = {}
            for node in nodes_of_path:
                own = node.values if node.values is not None else values.get(node.anchor.node_id, {})
                far |= dict.fromkeys(own.get(name, ())[:examples])
                known = node.examples or {}
                rows: Sequence[NodeRow] = known.get(name) or ends.get((node.anchor.node_id, name), ())
                far |= dict.fromkeys(map(decode, rows))
            found[path] = list(far)[:examples]
        return found

    async def _far_ends(
        self, direction: Direction, nodes_by_path: Mapping[Path, Sequence[NodeCounts]], examples: int
    ) -> dict[tuple[str, str], Sequence[NodeRow]]:
        """A few far ends of edges that did not come with the counts, by node and type."""
        unread = {
            name: [node for node in nodes if node.examples is None and name in node.edge_counts]
            for (name, *_), nodes in nodes_by_path.items()
        }
        types = [name for name, nodes in unread.items() if nodes]
        node_ids = list(dict.fromkeys(node.anchor.node_id for nodes in unread.values() for node in nodes))
        type_batches = list(batches(types, _TYPES_PER_QUERY))
        read = self._counts.far_ends_at
        answers = await gathered(*(read(node_ids, direction, names, examples) for names in type_batches))
        return {
            (node_id, name): rows
            for names, found in zip(type_batches, answers, strict=True)
            for node_id, of_types in found
            for name, rows in zip(names, of_types, strict=True)
        }

    async def _values(self, nodes_by_path: Mapping[Path, Sequence[NodeCounts]], wanted: RowFilter) -> ValuesOf:
        unread = [node for (name, *_), nodes in nodes_by_path.items() for node in nodes if name in node.value_counts]
        return await self._counts.values_at([node.anchor.node_id for node in unread if node.values is None], wanted)


def _first_nodes(nodes: Sequence[NodeCounts], relation_paths: Sequence[Path]) -> dict[Path, list[NodeCounts]]:
    """The first few nodes that have each relation."""
    nodes_by_path: dict[Path, list[NodeCounts]] = {path: [] for path in relation_paths}
    for node in nodes:
        for path in node.by_path:
            first = nodes_by_path.get(path)
            if first is not None and len(first) < _NODES_WITH_EXAMPLES:
                first.append(node)
    return nodes_by_path


class NeighbourReader:
    """Answers the verbs `neighbours` and `rows_or_relations`."""

    def __init__(self, entities: Entities, counts: CountReader, relations: RelationReader) -> None:
        self._entities = entities
        self._counts = counts
        self._relations = relations

    async def page(
        self, references: Sequence[str], wanted: RowFilter, limit: int, after: str | None, *, all_or_none: bool
    ) -> AnchoredPage[Link]:
        """One page of the rows at the nodes.

        Raises:
            InvalidCursor: `after` is not a position in this list, or the number of rows of its relation has changed.
        """
        references = list(dict.fromkeys(references))
        source = RowReader(self._entities, self._counts, references, wanted, limit)
        return await self._page_of(source, references, wanted, limit, after, all_or_none=all_or_none)

    async def page_or_relations(
        self, references: Sequence[str], wanted: RowFilter, limit: int, examples: int, relations: int
    ) -> RowsOrRelations:
        """All rows at the nodes if there are at most `limit`, otherwise their relations.

        One query counts them either way.
        """
        references = list(dict.fromkeys(references))
        with_counts = self._relations.examples_with_counts(references, examples)
        source = RowReader(self._entities, self._counts, references, wanted, limit, examples=with_counts)
        page = await self._page_of(source, references, wanted, limit, None, all_or_none=True)
        if page.stop is not Stop.LIMIT:
            return RowsOrRelations(page)
        facts = await self._relations.counted(source.anchors, source.nodes, wanted, examples, relations)
        return RowsOrRelations(page, facts)

    async def _page_of(
        self,
        source: RowReader,
        references: Sequence[str],
        wanted: RowFilter,
        limit: int,
        after: str | None,
        *,
        all_or_none: bool,
    ) -> AnchoredPage[Link]:
        start = RowPosition.parse(after) if after is not None else None
        sides = await in_thread(
            len(references), lambda: [Side(side, reference) for side in wanted.directions for reference in references]
        )
        position = start.text if start is not None else None
        page = await rows_page(source, sides, limit=limit, after=position, all_or_none=all_or_none)
        if start is not None and source.rows_at(start.place) != start.rows:
            raise changed()
        total = start.total if start is not None else page.total.value
        triples = await source.triples(page.items)

        def build_page() -> AnchoredPage[Link]:
            segments = [segment for segment, _ in page.items]
            return AnchoredPage(
                tuple(Link(one.entity.direction, triple) for one, triple in zip(segments, triples, strict=True)),
                tuple(
                    RowPosition(total, one.rows, position).write()
                    for one, position in zip(segments, page.positions, strict=True)
                ),
                Count(total),
                page.stop,
                anchors={reference: anchor.entity for reference, anchor in source.anchors.items()},
            )

        return await in_thread(len(source.anchors) + len(triples), build_page)


_SIZE, _EDGES = 1, 2
"""Indexes into a row of `queries.EDGES`."""


@dataclass(slots=True)
class HeadEdges:
    """The edges of one head: their number, and the edges themselves if they were read."""

    head: Entity
    size: int = 0
    edges: list[Edge] = field(default_factory=list[Edge])


class EdgeReader:
    """Answers `edges`."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self._session = entities.session

    async def page(
        self, heads: Sequence[str], tails: Sequence[str], relations: Sequence[str] | None, limit: int, after: str | None
    ) -> Page[Triple]:
        """The triples in the order of the heads, then of the relations' ids.

        Raises:
            InvalidCursor: `after` is not a position in this list, or the length of the list has changed.
        """
        start = skipped_items(after, None)
        catalogue = self._entities.catalogue.current
        types = None if relations is None else sorted(catalogue.types.keys() & set(relations))
        lookups = await self._lookups_of(tails)
        found = await self.read(heads, lookups, types, most=limit // max(len(heads), 1))
        total = sum(each.size for each in found.values())
        skipped_items(after, total)
        shown: list[str] = []
        begin = end = 0
        for reference, each in found.items():
            if end < start + limit and end + each.size > start:
                begin = begin if shown else end
                shown.append(reference)
            end += each.size
        unread = [reference for reference in shown if len(found[reference].edges) < found[reference].size]
        if unread:
            most = max(found[reference].size for reference in unread)
            found.update(await self.read(unread, lookups, types, most=most))
        triples = await in_thread(limit, lambda: self._triples([found[reference] for reference in shown]))
        return list_page(triples[start - begin : start - begin + limit], start, total)

    async def _lookups_of(self, tails: Sequence[str]) -> list[Lookup]:
        """Look-ups of the tails that find each node once, even if several ids mean the same node."""
        tails = list(dict.fromkeys(tails))
        if not self._entities.share_one_key(tails):
            tails = [anchor.node_id for anchor in await self._entities.anchors(tails, queries.NODES)]
        return await in_thread(len(tails), lambda: self._entities.lookups(tails))

    async def read(
        self, heads: Sequence[str], tails: Sequence[Lookup], types: Sequence[str] | None, most: int
    ) -> dict[str, HeadEdges]:
        """The edges by head, in the order of the heads, each node once.

        If a head has more than `most` edges, none are read.
        """
        if types == []:
            return {}
        builder = self._session.builder
        pattern = edge(Direction.OUTGOING, types)
        degree = builder.degree(Direction.OUTGOING, types)

        def find_edges(lookup: Lookup) -> Awaitable[dict[str, Anchor]]:
            is_tail = lookup.condition(builder, "m", "tails")
            found = builder.subquery("n, degree", queries.EDGES_TO_TAILS, edge=pattern, is_tail=is_tail)
            parts = {"degree": degree, "found": found}
            return self._entities.find(heads, queries.EDGES, parts, tails=lookup.values, most=most)

        answers = [await find_edges(lookup) for lookup in tails]  # one query for each batch of heads and of tails

        def by_head() -> dict[str, HeadEdges]:
            found: dict[str, HeadEdges] = {}
            first: dict[str, str] = {}
            for reference in dict.fromkeys(heads):
                for anchors in answers:
                    anchor = anchors.get(reference)
                    if anchor is not None and first.setdefault(anchor.node_id, reference) == reference:
                        each = found.setdefault(reference, HeadEdges(anchor.entity))
                        each.size += anchor.row[_SIZE]
                        each.edges += anchor.row[_EDGES]
            return found

        return await in_thread(len(heads), by_head)

    def _triples(self, shown: Sequence[HeadEdges]) -> list[Triple]:
        formats, entity = self._session.dialect.values, self._entities.decoder.entity
        return [
            Triple(each.head, relation_of(kind), entity(node), qualifiers(formats, properties))
            for each in shown
            for kind, properties, node in sorted(each.edges, key=lambda row: row[0])
        ]
