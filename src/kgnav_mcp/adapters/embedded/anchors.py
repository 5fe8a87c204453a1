"""Anchors: the entities that a call is about. Resolves their ids and reads which of them are hubs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.entities import resolved
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import checked_count
from kgnav_mcp.model import Direction, Entity

Path = tuple[int, ...]
"""The number of one relation, or of the two relations of a path through a mediator, from head to tail."""

SIDES = {Direction.OUTGOING: 0, Direction.INCOMING: 1}
"""Directions by their numbers in the file."""

_DIRECTIONS = dict(zip(SIDES.values(), SIDES, strict=True))
_MAX_CACHED_COUNTS = 8
"""Cached row counts for one set of anchors: both directions of a few lists that are paged in turn."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """The nodes of a set of ids, without duplicates, in the order of the ids. Safe to use from any thread."""

    given: Mapping[str, Entity]
    """The entity of each id as given, with its label."""
    nodes: Mapping[int, Entity]
    """The entities by number in the file."""
    hubs: Mapping[Direction, Mapping[int, Mapping[int, int]]]
    """Row counts by direction, node and relation, for the nodes whose counts are stored in the file (hubs)."""
    _row_counts: dict[object, Sequence[int]] = field(default_factory=dict[object, Sequence[int]])

    @classmethod
    def read(cls, builder: Builder, ids: Sequence[str]) -> Anchors:
        """Looks up the ids. Unknown ids are left out."""
        given: dict[str, Entity] = {}
        nodes: dict[int, Entity] = {}
        rows = resolved(builder, ids)
        for reference, (number, key, label, _, mediator) in rows.items():
            if number not in nodes:
                nodes[number] = builder.entity(key, label, mediator)
            given[reference] = nodes[number]
        hubs: dict[Direction, dict[int, dict[int, int]]] = {side: defaultdict(dict) for side in SIDES}
        for number, side, relation, count in builder.session.all(queries.around.HUB_ROWS, json.dumps(list(nodes))):
            hubs[_DIRECTIONS[side]][number][relation] = checked_count(count)
        return cls(given, nodes, hubs)

    def __len__(self) -> int:
        """The number of known ids."""
        return len(self.given)

    def resolves_all(self, ids: Sequence[str]) -> bool:
        """Whether all ids are known and none is given twice."""
        return len(self.given) == len(ids)

    def small(self, direction: Direction) -> list[int]:
        """Returns the nodes that are no hubs in a direction, in file order, so that the file is read in sequence."""
        return sorted(self.nodes.keys() - self.hubs[direction].keys())

    def row_counts(self, question: object) -> Sequence[int] | None:
        """Returns the cached number of rows of each node for a query, in node order, or None."""
        return self._row_counts.get(question)

    def cache_row_counts(self, question: object, rows: Sequence[int]) -> None:
        """Caches the number of rows of each node for a query."""
        if len(self._row_counts) >= _MAX_CACHED_COUNTS:
            self._row_counts.clear()
        self._row_counts[question] = rows
