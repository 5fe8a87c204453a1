"""Which relations a set of nodes has, with counts for each node and a few far ends."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.anchors import Anchors, Path
from kgnav_mcp.adapters.embedded.counts import CountReader
from kgnav_mcp.adapters.embedded.entities import described_by_number
from kgnav_mcp.adapters.embedded.neighbours import NeighbourReader
from kgnav_mcp.adapters.embedded.rowfilter import RowFilter
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.paging.directions import relations_together
from kgnav_mcp.adapters.paging.relations import relations_page
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
from kgnav_mcp.port import TailKind

_EXAMPLES = {Direction.OUTGOING: queries.around.EXAMPLE_TAILS, Direction.INCOMING: queries.around.EXAMPLE_HEADS}
_EXAMPLES_THROUGH = {
    Direction.OUTGOING: queries.around.EXAMPLE_TAILS_THROUGH,
    Direction.INCOMING: queries.around.EXAMPLE_HEADS_THROUGH,
}


_FIRST = 20
"""Nodes at which examples are looked for first: mostly they have enough different far ends."""


class RelationReader:
    """Answers `relations` for one set of nodes, within one job."""

    def __init__(self, builder: Builder, anchors: Anchors, far_ends: TailKind | None) -> None:
        self._builder = builder
        self._session = builder.session
        self._anchors = anchors
        self._far_ends = far_ends

    def page(self, direction: Direction | None, *, hops: int, examples: int, limit: int) -> AnchoredPage[RelationFacts]:
        """The relations ordered by direction and id, with counts and examples of those that are shown."""
        pages = [
            self._page_in(side, hops=hops, examples=examples, limit=limit)
            for side in (Direction if direction is None else (direction,))
        ]
        anchors = self._anchors.given
        if len(self._anchors.nodes) == 1:  # what is read of one entity may be ranked by what it is
            ((_, described),) = described_by_number(self._builder, list(self._anchors.nodes)).items()
            anchors = dict.fromkeys(anchors, described)
        return anchored(relations_together(pages, limit), anchors)

    def _page_in(self, side: Direction, *, hops: int, examples: int, limit: int) -> Page[RelationFacts]:
        builder = self._builder
        ids = {number: entity.id for number, entity in self._anchors.nodes.items()}
        counts = CountReader(builder, self._anchors, side, self._far_ends).all(hops)
        paths = sorted(counts.by_path(), key=lambda path: builder.path(path).id)
        shown = paths[:limit]
        every = counts.by_path_and_entity()
        having = {path: every[path] for path in shown if examples}
        return relations_page(
            counts,
            side,
            paths=paths,
            limit=limit,
            names={relation: builder.relation(relation) for path in shown for relation in path},
            printed=ids.__getitem__,
            examples=self._examples(side, having, examples),
            stop=Stop.COMPLETE,
        )

    def _examples(
        self, side: Direction, having: Mapping[Path, Mapping[int, int]], wanted: int
    ) -> dict[Path, Sequence[Node]]:
        """The first distinct far ends of each relation in the order of `neighbours`: literals, then nodes."""
        entries = self._builder.relation_entries
        places = {number: place for place, number in enumerate(self._anchors.nodes)}
        nodes = {path: sorted(rows, key=places.__getitem__) for path, rows in having.items()}
        literals: dict[Path, list[Node]] = defaultdict(list)
        ends: dict[Path, list[Node]] = defaultdict(list)
        if side is Direction.OUTGOING and self._far_ends is not TailKind.ENTITY:
            for path, at in nodes.items():
                if entries[path[-1]].attributes:
                    literals[path] += self._literals(path, at, wanted)
        if self._far_ends is not TailKind.LITERAL:
            near = {path[0]: at for path, at in nodes.items() if len(path) == 1 and entries[path[0]].edges}
            few = {relation: at[:_FIRST] for relation, at in near.items()}
            self._read_ends(side, few, wanted, ends)
            more = {one: at for one, at in near.items() if len(ends[one,]) < wanted and len(at) > _FIRST}
            for relation in more:
                ends[relation,].clear()
            self._read_ends(side, more, wanted, ends)
            for path, at in nodes.items():
                if len(path) == 2 and entries[path[1]].edges:
                    ends[path] += self._ends_through(side, path, at, wanted)
        return {path: (literals[path] + ends[path])[:wanted] for path in nodes}

    def _read_ends(
        self, side: Direction, near: Mapping[int, Sequence[int]], wanted: int, ends: dict[Path, list[Node]]
    ) -> None:
        """Add the first far ends of relations at some nodes."""
        for relation, *row in self._session.all(_EXAMPLES[side], json.dumps(near), wanted) if near else ():
            ends[int(relation),].append(self._builder.entity(*row))

    def _literals(self, path: Path, nodes: Sequence[int], wanted: int) -> list[Node]:
        query = queries.around.EXAMPLE_ATTRIBUTES if len(path) == 1 else queries.around.EXAMPLE_ATTRIBUTES_THROUGH
        return [self._builder.literal(*row) for row in self._session.all(query, json.dumps(nodes), *path, wanted)]

    def _ends_through(self, side: Direction, path: Path, nodes: Sequence[int], wanted: int) -> list[Entity]:
        rows = self._session.all(_EXAMPLES_THROUGH[side], json.dumps(nodes), *path, wanted)
        return [self._builder.entity(*row) for _, *row in rows]


def hub_or_not(
    builder: Builder,
    anchors: Anchors,
    direction: Direction,
    rows: int,
    relations: int,
    *,
    hops: int,
    examples: int,
) -> RowsOrRelations:
    """The rows at nodes, or the relations where there are more rows; each row is counted once, by its relation."""

    def facts() -> AnchoredPage[RelationFacts]:
        return RelationReader(builder, anchors, None).page(direction, hops=hops, examples=examples, limit=relations)

    if len(anchors.nodes) > rows and rows_in(found := facts()) > rows:
        return RowsOrRelations(AnchoredPage((), (), Count(rows_in(found)), Stop.LIMIT), found)
    page = NeighbourReader(builder, anchors, direction, RowFilter()).page(rows, None, all_or_none=True)
    return RowsOrRelations(page, facts() if page.stop is Stop.LIMIT else None)


def rows_in(page: AnchoredPage[RelationFacts]) -> int:
    """How many rows the relations of a page have, each row once."""
    return sum(facts.count.value for facts in page.items if len(facts.hops) == 1)
