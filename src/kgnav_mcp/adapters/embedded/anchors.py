"""Anchors, the entities that a call is about: their ids, which of them are hubs, and filters of the rows at them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.entities import resolved
from kgnav_mcp.adapters.embedded.queries.around import FarEndCondition, narrowed
from kgnav_mcp.adapters.embedded.rows import Builder, SegmentKind
from kgnav_mcp.adapters.embedded.session import Parameter, checked_count
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.port import FarEndKind

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


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions on the far ends of rows, for entities and for literals, and the query parameters they need."""

    entities: tuple[FarEndCondition, ...]
    values: tuple[FarEndCondition, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict[str, Parameter])

    def narrowed(self, kind: SegmentKind, query: str) -> str:
        """Returns a query for rows of a kind with the conditions added."""
        return narrowed(query, self.values if kind.literal else self.entities)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter for rows: by path (None: all one-hop relations) and by type of far end (None: both).

    `conditions` filter by the far end itself. Rows are then not counted. `hidden` are relations that `paths` leaves out
    because the request names none: rows of these are shown only if asked for.
    """

    paths: frozenset[Path] | None = None
    far_ends: FarEndKind | None = None
    conditions: Conditions | None = None
    hidden: frozenset[int] = frozenset()

    @classmethod
    def of(cls, builder: Builder, paths: Iterable[Sequence[str]] | None, far_ends: FarEndKind | None) -> RowFilter:
        """Makes a filter from paths of relation ids. Unknown relations match no rows. None: all that are not hidden."""
        if paths is not None:
            return cls(frozenset(builder.known_paths(paths)), far_ends)
        hidden = builder.catalogue.hidden_relations(builder.session)
        shown = frozenset((number,) for number in builder.relation_entries if number not in hidden) if hidden else None
        return cls(shown, far_ends, hidden=hidden)

    @property
    def relations(self) -> set[int] | None:
        """The one-hop relations of the filter; None: all."""
        return None if self.paths is None else {path[0] for path in self.paths if len(path) == 1}

    @property
    def two_hops(self) -> list[Path]:
        return [path for path in self.paths or () if len(path) == 2]
