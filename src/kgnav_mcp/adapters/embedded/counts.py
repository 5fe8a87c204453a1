"""Exact row counts by relation and node for a set of nodes.

The file has the row counts of hubs, so that a node with a million neighbours costs as much as one with fifty. All
other nodes have so few rows that they are counted when they are needed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from kgnav_mcp.adapters.embedded import queries, session
from kgnav_mcp.adapters.embedded.anchors import SIDES, Anchors, Path
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.adapters.paging.counts import PathCounts, RelationCounts, sum_counts
from kgnav_mcp.model import Direction
from kgnav_mcp.port import FarEndKind

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
    """Counts the rows at a set of nodes in one direction, within one job. `far_ends`: count only rows to this type."""

    def __init__(
        self, builder: Builder, anchors: Anchors, direction: Direction, far_ends: FarEndKind | None = None
    ) -> None:
        self._builder = builder
        self._session = builder.session
        self._direction = direction
        self._far_ends = far_ends
        self._hubs = anchors.hubs[direction]
        self._anchors = anchors
        self._with_edges = far_ends is not FarEndKind.LITERAL
        self._with_attributes = direction is Direction.OUTGOING and far_ends is not FarEndKind.ENTITY

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
        found: dict[Path, dict[int, int]] = {(int(relation),): counts for relation, counts in by_relation.items()}
        for number, path, size in chain(self._hub_rows(None), self._two_hop_rows() if hops == 2 else ()):
            counts_by_node = found.setdefault(path, {})
            counts_by_node[number] = counts_by_node.get(number, 0) + size
        return PathCounts(found)

    def one_hop_at_hubs(self, relations: Collection[int] | None) -> Mapping[int, int]:
        """Returns the number of one-hop rows at each hub, for these relations or for all, from counts in the file."""
        return _totals((number, rows) for number, _, rows in self._hub_rows(relations))

    def one_hop_at_small_nodes(self, relations: Collection[int] | None) -> Mapping[int, int]:
        """Returns the number of one-hop rows at each node that is no hub, for these relations or for all."""
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
        if self._far_ends is None:
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
                    raise session.DamagedRowError("rows are there that were not counted")
                if matching := literal_count if self._far_ends is FarEndKind.LITERAL else count - literal_count:
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
    found: dict[int, int] = {}
    for number, size in rows:
        found[number] = found.get(number, 0) + size
    return found


def _as_path_counts(rows: Iterable[Row]) -> Iterator[_PathCount]:
    return ((number, tuple(path), session.checked_count(count)) for number, *path, count in rows)
