"""The entities that a call asks about: what their ids mean, which are hubs, and how many rows each has."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.entities import resolved
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import counted
from kgnav_mcp.model import Direction, Entity

Path = tuple[int, ...]
"""One relation of the file, or the two relations of a way through a mediator, from head to tail."""

SIDES = {Direction.OUTGOING: 0, Direction.INCOMING: 1}
"""Directions by their numbers in the file."""

_NUMBERED = dict(zip(SIDES.values(), SIDES, strict=True))
_COUNTED = 8
"""Cached counts of one set: both directions of a few lists that are paged through in turn."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """The nodes of a set of ids, each once, in the order of the ids. Safe to use from any thread."""

    given: Mapping[str, Entity]
    """What each id means, with its label."""
    nodes: Mapping[int, Entity]
    """The same by number in the file."""
    hubs: Mapping[Direction, Mapping[int, Mapping[int, int]]]
    """Rows of each relation at the nodes that have them counted in the file, by number."""
    _rows: dict[object, Sequence[int]] = field(default_factory=dict[object, Sequence[int]])

    @classmethod
    def read(cls, builder: Builder, ids: Sequence[str]) -> Anchors:
        """Look the ids up; those that the file lacks are left out."""
        given: dict[str, Entity] = {}
        nodes: dict[int, Entity] = {}
        rows = resolved(builder, ids)
        for reference, (number, key, label, _, mediator) in rows.items():
            if number not in nodes:
                nodes[number] = builder.entity(key, label, mediator)
            given[reference] = nodes[number]
        hubs: dict[Direction, dict[int, dict[int, int]]] = {side: defaultdict(dict) for side in SIDES}
        for number, side, relation, rows_of in builder.session.all(queries.around.HUB_ROWS, json.dumps(list(nodes))):
            hubs[_NUMBERED[side]][number][relation] = counted(rows_of)
        return cls(given, nodes, hubs)

    def __len__(self) -> int:
        """How many ids there are."""
        return len(self.given)

    def complete(self, ids: Sequence[str]) -> bool:
        """Whether all the ids are known, and none is given twice."""
        return len(self.given) == len(ids)

    def small(self, direction: Direction) -> list[int]:
        """The nodes with few rows in a direction, in the order of the file, so that its pages are read in sequence."""
        return sorted(self.nodes.keys() - self.hubs[direction].keys())

    def row_counts(self, question: object) -> Sequence[int] | None:
        """How many rows each node has for a question, in order, if that was counted before."""
        return self._rows.get(question)

    def cache_row_counts(self, question: object, rows: Sequence[int]) -> None:
        """Remember how many rows each node has for a question."""
        if len(self._rows) >= _COUNTED:
            self._rows.clear()
        self._rows[question] = rows
