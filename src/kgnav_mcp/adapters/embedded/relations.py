"""Lists the relations of a set of nodes, with counts for each node and example far ends."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.entities import Anchors, Path, RowFilter, described_by_number
from kgnav_mcp.adapters.embedded.neighbours import CountReader, NeighbourReader
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.paging.counts import relations_page
from kgnav_mcp.adapters.paging.directions import merge_relation_pages
from kgnav_mcp.model import (
    AnchoredPage,
    Count,
    Direction,
    Entity,
    Node,
    Page,
    RelationFacts,
    RowsOrRelations,
    Stop,
    anchored,
)
from kgnav_mcp.port import FarEndKind

_EXAMPLE_QUERIES = {Direction.OUTGOING: queries.around.EXAMPLE_TAILS, Direction.INCOMING: queries.around.EXAMPLE_HEADS}
_TWO_HOP_EXAMPLE_QUERIES = {
    Direction.OUTGOING: queries.around.EXAMPLE_TAILS_THROUGH,
    Direction.INCOMING: queries.around.EXAMPLE_HEADS_THROUGH,
}


_FIRST_NODES = 20
"""Examples are first sought at this many nodes, which usually have enough distinct far ends."""


class RelationReader:
    """Answers `relations` for one set of nodes, within one job."""

    def __init__(self, builder: Builder, anchors: Anchors, far_end_kind: FarEndKind | None) -> None:
        self._builder = builder
        self._session = builder.session
        self._anchors = anchors
        self._far_end_kind = far_end_kind

    def page(self, direction: Direction | None, *, hops: int, examples: int, limit: int) -> AnchoredPage[RelationFacts]:
        """Returns the relations ordered by direction and id; those on the page have counts and examples."""
        pages = [
            self._page_in(side, hops=hops, examples=examples, limit=limit)
            for side in (Direction if direction is None else (direction,))
        ]
        anchors = self._anchors.by_reference
        if len(self._anchors.nodes) == 1:  # its types and description may be used to rank its relations
            ((_, described),) = described_by_number(self._builder, list(self._anchors.nodes)).items()
            anchors = dict.fromkeys(anchors, described)
        return anchored(merge_relation_pages(pages, limit), anchors)

    def _page_in(self, side: Direction, *, hops: int, examples: int, limit: int) -> Page[RelationFacts]:
        builder = self._builder
        ids = {number: entity.id for number, entity in self._anchors.nodes.items()}
        counts = CountReader(builder, self._anchors, side, self._far_end_kind).all(hops)
        relation_paths = sorted(counts.by_path(), key=lambda path: builder.path(path).id)
        shown = relation_paths[:limit]
        counts_by_path = counts.by_path_and_entity()
        hidden = {(relation,) for relation in builder.catalogue.hidden_relations(self._session)}
        shown_counts = {path: counts_by_path[path] for path in shown if examples and path not in hidden}
        return relations_page(
            counts,
            side,
            relation_paths=relation_paths,
            limit=limit,
            names={relation: builder.relation(relation) for path in shown for relation in path},
            printed=ids.__getitem__,
            examples=self._examples(side, shown_counts, examples),
            stop=Stop.COMPLETE,
            hidden=hidden,
        )

    def _examples(
        self, side: Direction, counts: Mapping[Path, Mapping[int, int]], limit: int
    ) -> dict[Path, Sequence[Node]]:
        """Returns the first distinct far ends of each relation, in the order of `neighbours`: literals, then nodes."""
        entries = self._builder.relation_entries
        anchor_order = {number: place for place, number in enumerate(self._anchors.nodes)}
        nodes = {path: sorted(rows, key=anchor_order.__getitem__) for path, rows in counts.items()}
        literals: dict[Path, list[Node]] = defaultdict(list)
        ends: dict[Path, list[Node]] = defaultdict(list)
        if side is Direction.OUTGOING and self._far_end_kind is not FarEndKind.ENTITY:
            for path, path_nodes in nodes.items():
                if entries[path[-1]].attributes:
                    literals[path] += self._literals(path, path_nodes, limit)
        if self._far_end_kind is not FarEndKind.LITERAL:
            one_hop = {path[0]: at for path, at in nodes.items() if len(path) == 1 and entries[path[0]].edges}
            first_nodes = {relation: at[:_FIRST_NODES] for relation, at in one_hop.items()}
            self._read_ends(side, first_nodes, limit, ends)
            incomplete = {
                relation: at
                for relation, at in one_hop.items()
                if len(ends[relation,]) < limit and len(at) > _FIRST_NODES
            }
            for relation in incomplete:
                ends[relation,].clear()
            self._read_ends(side, incomplete, limit, ends)
            for path, path_nodes in nodes.items():
                if len(path) == 2 and entries[path[1]].edges:
                    ends[path] += self._ends_through(side, path, path_nodes, limit)
        return {path: (literals[path] + ends[path])[:limit] for path in nodes}

    def _read_ends(
        self, side: Direction, nodes: Mapping[int, Sequence[int]], limit: int, ends: dict[Path, list[Node]]
    ) -> None:
        """Adds to `ends` the first far ends of each relation at its nodes."""
        for relation, *row in self._session.all(_EXAMPLE_QUERIES[side], json.dumps(nodes), limit) if nodes else ():
            ends[int(relation),].append(self._builder.entity(*row))

    def _literals(self, path: Path, nodes: Sequence[int], limit: int) -> list[Node]:
        query = queries.around.EXAMPLE_ATTRIBUTES if len(path) == 1 else queries.around.EXAMPLE_ATTRIBUTES_THROUGH
        return [self._builder.literal(*row) for row in self._session.all(query, json.dumps(nodes), *path, limit)]

    def _ends_through(self, side: Direction, path: Path, nodes: Sequence[int], limit: int) -> list[Entity]:
        rows = self._session.all(_TWO_HOP_EXAMPLE_QUERIES[side], json.dumps(nodes), *path, limit)
        return [self._builder.entity(*row) for _, *row in rows]


def rows_or_relations(
    builder: Builder,
    anchors: Anchors,
    direction: Direction,
    rows: int,
    relations: int,
    *,
    hops: int,
    examples: int,
) -> RowsOrRelations:
    """Returns the rows at nodes or, if there are more than `rows`, their relations with counts.

    Only one-hop rows are counted.
    """

    def facts() -> AnchoredPage[RelationFacts]:
        return RelationReader(builder, anchors, None).page(direction, hops=hops, examples=examples, limit=relations)

    if len(anchors.nodes) > rows and rows_in(relation_page := facts()) > rows:
        return RowsOrRelations(AnchoredPage((), (), Count(rows_in(relation_page)), Stop.LIMIT), relation_page)
    page = NeighbourReader(builder, anchors, direction, RowFilter.of(builder, None, None)).page(
        rows, None, all_or_none=True
    )
    return RowsOrRelations(page, facts() if page.stop is Stop.LIMIT else None)


def rows_in(page: AnchoredPage[RelationFacts]) -> int:
    """Returns the number of one-hop rows of the relations on a page, without hidden relations."""
    return sum(facts.count.value for facts in page.items if len(facts.hops) == 1 and not facts.hidden)
