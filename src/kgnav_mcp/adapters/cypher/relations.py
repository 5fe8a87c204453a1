"""The distinct relations at nodes, with exact counts for each node, and a few examples of far ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgnav_mcp.adapters.cypher.counts import (
    CountReader,
    NodeCounts,
    RowFilter,
    ValuesOf,
    by_side,
)
from kgnav_mcp.adapters.cypher.entities import Anchor, Entities, NodeRow, relation_of
from kgnav_mcp.adapters.paging.counts import paths_in_order, relations_page
from kgnav_mcp.adapters.paging.directions import merge_relation_pages
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import AnchoredPage, Direction, Node, Page, RelationFacts, Stop, anchored
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
        """How many examples of each type are read together with the counts: either all or none."""
        few = len(references) == 1 and len(self._entities.catalogue.current.types) <= _TYPES_PER_QUERY
        return examples if few else 0

    async def counted(
        self, found: Mapping[str, Anchor], nodes: Sequence[NodeCounts], wanted: RowFilter, examples: int, limit: int
    ) -> AnchoredPage[RelationFacts]:
        """The same as `page`, for nodes whose rows are counted already."""
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
        paths = await in_thread(len(nodes), lambda: paths_in_order(counts, tuple))
        ends = await self._examples(direction, nodes, wanted, paths[:limit], examples) if examples else {}

        def page() -> Page[RelationFacts]:
            printed = {node.side: node.anchor.entity.id for node in nodes}
            return relations_page(
                counts,
                direction,
                paths=paths,
                limit=limit,
                names={path[0]: relation_of(path[0]) for path in paths},
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
        paths: Sequence[Path],
        examples: int,
    ) -> dict[Path, list[Node]]:
        """Distinct far ends of each relation, from the first few nodes that have it."""
        nodes_by_path = await in_thread(len(nodes), lambda: _first_nodes(nodes, paths))
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


def _first_nodes(nodes: Sequence[NodeCounts], paths: Sequence[Path]) -> dict[Path, list[NodeCounts]]:
    """The first few nodes that have each relation."""
    nodes_by_path: dict[Path, list[NodeCounts]] = {path: [] for path in paths}
    for node in nodes:
        for path in node.by_path:
            first = nodes_by_path.get(path)
            if first is not None and len(first) < _NODES_WITH_EXAMPLES:
                first.append(node)
    return nodes_by_path
