"""How many rows of each relation a set of nodes has, node by node, exact at any degree.

Hubs have their rows counted per relation in the file, so that a node with a million neighbours costs what one with
fifty does; every other node has so few rows that they are counted as they are read.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.anchors import SIDES, Anchors, Path
from kgnav_mcp.adapters.embedded.pool import Row
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import counted
from kgnav_mcp.model import Direction
from kgnav_mcp.port import TailKind

Counts = dict[Path, dict[int, int]]
"""Rows at each node that has some, by path."""

_EDGES = {
    Direction.OUTGOING: queries.around.EDGE_COUNTS_OUTGOING,
    Direction.INCOMING: queries.around.EDGE_COUNTS_INCOMING,
}
_EDGES_THROUGH = {
    Direction.OUTGOING: queries.around.COUNTS_THROUGH_OUTGOING,
    Direction.INCOMING: queries.around.COUNTS_THROUGH_INCOMING,
}


class CountReader:
    """Counts the rows at a set of nodes in one direction, within one job. `far_ends` narrows to rows that end there."""

    def __init__(
        self, builder: Builder, anchors: Anchors, direction: Direction, far_ends: TailKind | None = None
    ) -> None:
        self._builder = builder
        self._session = builder.session
        self._direction = direction
        self._far_ends = far_ends
        self._hubs = anchors.hubs[direction]
        self._small = json.dumps(anchors.small(direction))
        self._with_edges = far_ends is not TailKind.LITERAL
        self._with_attributes = direction is Direction.OUTGOING and far_ends is not TailKind.ENTITY

    def near(self, relations: Collection[int] | None = None) -> Counts:
        """Rows of the one-hop relations, or of these alone."""
        counts = self.near_hubs(relations)
        wanted = None if relations is None else json.dumps(list(relations))
        if self._with_edges:
            _add(counts, self._session.all(_EDGES[self._direction], self._small, wanted))
        if self._with_attributes:
            _add(counts, self._session.all(queries.around.ATTRIBUTE_COUNTS, self._small, wanted))
        return counts

    def near_hubs(self, relations: Collection[int] | None = None) -> Counts:
        """The part of `near` that is counted in the file."""
        counts: Counts = defaultdict(dict)
        for number, by_relation in self._hubs.items():
            for relation, rows in by_relation.items():
                if relations is None or relation in relations:
                    counts[relation,][number] = rows
        return self._narrowed(counts)

    def through(self) -> Counts:
        """Rows of the two-hop relations through mediators, without the ways back to where they started."""
        if not self._builder.catalogue.has_mediators(self._session):
            return {}
        counts: Counts = defaultdict(dict)
        if self._hubs:
            hubs = json.dumps(list(self._hubs))
            _add(counts, self._session.all(queries.around.HUB_COUNTS_THROUGH, hubs, SIDES[self._direction]))
            counts = self._narrowed(counts)
        if self._with_edges:
            _add(counts, self._session.all(_EDGES_THROUGH[self._direction], self._small))
        if self._with_attributes:
            _add(counts, self._session.all(queries.around.ATTRIBUTE_COUNTS_THROUGH, self._small))
        return counts

    def _narrowed(self, counts: Counts) -> Counts:
        """The counts of hubs, which are of all far ends, with those of the far ends wanted alone."""
        if self._far_ends is None:
            return counts
        narrowed: Counts = defaultdict(dict)
        for path, rows in counts.items():
            literals = self._literals(path, rows)
            for number, all_rows in rows.items():
                found = literals.get(number, 0)
                if all_rows < max(found, 1):
                    raise ValueError("rows are there that were not counted")  # the file's own counts are damaged
                if wanted := found if self._far_ends is TailKind.LITERAL else all_rows - found:
                    narrowed[path][number] = wanted
        return narrowed

    def _literals(self, path: Path, rows: dict[int, int]) -> dict[int, int]:
        """How many of a path's rows at hubs end at literals."""
        last = self._builder.relation_entries[path[-1]]
        if self._direction is Direction.INCOMING or not last.attributes:
            return {}
        if not last.edges:
            return rows
        query = queries.around.LITERAL_COUNTS if len(path) == 1 else queries.around.LITERAL_COUNTS_THROUGH
        return dict(self._session.all(query, json.dumps(list(rows)), *path))


def _add(counts: Counts, rows: list[Row]) -> None:
    for number, *path, count in rows:
        at = counts[tuple(path)]
        at[number] = at.get(number, 0) + counted(count)
