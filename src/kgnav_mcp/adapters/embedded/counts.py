"""How many rows of each relation a set of nodes has, node by node, exact at any degree.

Hubs have their rows counted per relation in the file, so that a node with a million neighbours costs what one with
fifty does; every other node has so few rows that they are counted as they are read.
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
from kgnav_mcp.adapters.paging.counts import PathCounts, RelationCounts, counted
from kgnav_mcp.model import Direction
from kgnav_mcp.port import TailKind

Counts: TypeAlias = RelationCounts[int, int]
"""By the numbers of nodes and relations in the file."""
_Counted = tuple[int, Path, int]

_EDGES = {
    Direction.OUTGOING: queries.around.EDGE_COUNTS_OUTGOING,
    Direction.INCOMING: queries.around.EDGE_COUNTS_INCOMING,
}
_EDGES_BY_RELATION = {
    Direction.OUTGOING: queries.around.EDGE_COUNTS_OUTGOING_BY_RELATION,
    Direction.INCOMING: queries.around.EDGE_COUNTS_INCOMING_BY_RELATION,
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
        self._anchors = anchors
        self._with_edges = far_ends is not TailKind.LITERAL
        self._with_attributes = direction is Direction.OUTGOING and far_ends is not TailKind.ENTITY

    def all(self, hops: int) -> PathCounts[int, int]:
        """Rows of every relation of one hop, or of those and the two-hop ones."""
        found: dict[Path, dict[int, int]] = {}
        asked = [_EDGES_BY_RELATION[self._direction]] if self._with_edges else []
        asked += [queries.around.ATTRIBUTE_COUNTS_BY_RELATION] if self._with_attributes else []
        for query in asked:
            for relation, nodes, rows in self._session.all(query, self._small):
                at = dict(zip(map(int, nodes.split(",")), map(int, rows.split(",")), strict=True))
                before = found.setdefault((relation,), at)
                if before is not at:  # a relation with both literals and nodes as tails
                    before.update({number: before.get(number, 0) + size for number, size in at.items()})
        for number, path, size in chain(self._hub_rows(None), self._through() if hops == 2 else ()):
            at = found.setdefault(path, {})
            at[number] = at.get(number, 0) + size
        return PathCounts(found)

    def one_hop_at_hubs(self, relations: Collection[int] | None) -> Mapping[int, int]:
        """Rows of the one-hop relations, or of these alone, at each hub: they are counted in the file."""
        return _totals((number, rows) for number, _, rows in self._hub_rows(relations))

    def one_hop_at_small_nodes(self, relations: Collection[int] | None) -> Mapping[int, int]:
        """The same at all other nodes."""
        return _totals(self._small_rows(relations))

    def two_hops(self) -> Counts:
        """Rows of the two-hop relations through mediators, without the ways back to where they started."""
        return counted(self._through())

    @cached_property
    def _small(self) -> str:
        return json.dumps(self._anchors.small(self._direction))

    def _hub_rows(self, relations: Collection[int] | None) -> Iterator[_Counted]:
        return self._narrowed(
            (number, (relation,), rows)
            for number, by_relation in self._hubs.items()
            for relation, rows in by_relation.items()
            if relations is None or relation in relations
        )

    def _small_rows(self, relations: Collection[int] | None) -> Iterator[tuple[int, int]]:
        wanted = None if relations is None else json.dumps(list(relations))
        asked = [_EDGES[self._direction]] if self._with_edges else []
        if self._with_attributes and self._builder.have_values(relations):
            asked.append(queries.around.ATTRIBUTE_COUNTS)
        for query in asked:
            yield from self._session.all(query, self._small, wanted)

    def _through(self) -> Iterator[_Counted]:
        if not self._builder.catalogue.has_mediators(self._session):
            return
        if self._hubs:
            hubs, side = json.dumps(list(self._hubs)), SIDES[self._direction]
            yield from self._narrowed(_as_counted(self._session.all(queries.around.HUB_COUNTS_THROUGH, hubs, side)))
        if self._with_edges:
            yield from _as_counted(self._session.all(_EDGES_THROUGH[self._direction], self._small))
        if self._with_attributes:
            yield from _as_counted(self._session.all(queries.around.ATTRIBUTE_COUNTS_THROUGH, self._small))

    def _narrowed(self, rows: Iterable[_Counted]) -> Iterator[_Counted]:
        """The counts of hubs, which are of all far ends, with those of the far ends wanted alone."""
        if self._far_ends is None:
            yield from rows
            return
        by_path: dict[Path, dict[int, int]] = defaultdict(dict)
        for number, path, count in rows:
            by_path[path][number] = count
        for path, counts in by_path.items():
            literals = self._literals(path, counts)
            for number, count in counts.items():
                found = literals.get(number, 0)
                if count < max(found, 1):
                    raise session.DamagedRowError("rows are there that were not counted")
                if wanted := found if self._far_ends is TailKind.LITERAL else count - found:
                    yield number, path, wanted

    def _literals(self, path: Path, counts: dict[int, int]) -> dict[int, int]:
        """How many of a path's rows at hubs end at literals."""
        last = self._builder.relation_entries[path[-1]]
        if self._direction is Direction.INCOMING or not last.attributes:
            return {}
        if not last.edges:
            return counts
        query = queries.around.LITERAL_COUNTS if len(path) == 1 else queries.around.LITERAL_COUNTS_THROUGH
        return dict(self._session.all(query, json.dumps(list(counts)), *path))


def _totals(rows: Iterable[tuple[int, int]]) -> Mapping[int, int]:
    """The rows of each node in all."""
    found: dict[int, int] = {}
    for number, size in rows:
        found[number] = found.get(number, 0) + size
    return found


def _as_counted(rows: Iterable[Row]) -> Iterator[_Counted]:
    return ((number, tuple(path), session.counted(count)) for number, *path, count in rows)
