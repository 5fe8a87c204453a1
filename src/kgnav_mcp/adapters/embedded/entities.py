"""Reads entities by id, with label, types, description and degree, and those that a call is about: its anchors."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.queries.around import FarEndCondition, narrowed
from kgnav_mcp.adapters.embedded.rows import Builder, SegmentKind
from kgnav_mcp.adapters.embedded.session import Parameter, Row, checked_count, text_or_none
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.port import FarEndKind


def resolved(builder: Builder, ids: Iterable[str]) -> dict[str, Row]:
    """Returns the node row (id, key, label, description, mediator) of each known id.

    An id may be short or full; if both readings exist, the node that is printed as this text wins.
    """
    forms = {reference: builder.prefixes.preferred_keys(reference) for reference in ids}
    keys = {key for group in forms.values() for key in group}
    rows = {row[1]: row for row in builder.session.all(queries.entities.NODES_BY_KEY, json.dumps(sorted(keys)))}
    rows_by_reference: dict[str, Row] = {}
    for reference, keys_of_form in forms.items():
        for key in keys_of_form:
            if key in rows:
                rows_by_reference[reference] = rows[key]
                break
    return rows_by_reference


def described(builder: Builder, rows: Iterable[Row]) -> dict[int, Entity]:
    """Returns entities with types and descriptions, by node number, from node rows."""
    nodes = {row[0]: row for row in rows}
    types: dict[int, list[str]] = defaultdict(list)
    if nodes:
        labels = builder.catalogue.labels(builder.session).entries
        for number, label in builder.session.all(queries.entities.NODE_LABELS, json.dumps(list(nodes))):
            types[number].append(labels[label].printed)
    return {
        number: Entity(
            builder.prefixes.short(key),
            text_or_none(builder.label(key, label, mediator)),
            tuple(types.get(number, ())),
            text_or_none(description),
            bool(mediator),
        )
        for number, key, label, description, mediator in nodes.values()
    }


def described_by_number(builder: Builder, numbers: Sequence[int]) -> dict[int, Entity]:
    """Returns entities with types and descriptions, by node number."""
    if not numbers:
        return {}
    return described(builder, builder.session.all(queries.entities.NODES_BY_ID, json.dumps(list(numbers))))


def described_by_id(builder: Builder, ids: Sequence[str]) -> Mapping[str, Entity]:
    """Returns entities with types and descriptions by the id as given. Unknown ids are left out."""
    rows = resolved(builder, ids)
    by_number = described(builder, rows.values())
    return {reference: by_number[row[0]] for reference, row in rows.items()}


def degrees(builder: Builder, numbers: Sequence[int]) -> dict[int, int]:
    """Returns the number of triples of each node, literals included. A triple from a node to itself counts twice."""
    session = builder.session
    counted = {
        (number, side): rows
        for number, side, rows in session.all(queries.entities.HUB_DEGREES, json.dumps(list(numbers)))
    }
    for side, query in ((0, queries.entities.DEGREES_OUTGOING), (1, queries.entities.DEGREES_INCOMING)):
        small = [number for number in numbers if (number, side) not in counted]
        counted.update({(number, side): rows for number, rows in session.all(query, json.dumps(small))})
    return {number: counted[number, 0] + counted[number, 1] for number in numbers}


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

    by_reference: Mapping[str, Entity]
    """The entity, with its label, for each id as the caller wrote it."""
    nodes: Mapping[int, Entity]
    """The entities by number in the file."""
    hubs: Mapping[Direction, Mapping[int, Mapping[int, int]]]
    """Row counts by direction, node and relation, for the nodes whose counts are stored in the file (hubs)."""
    _row_counts: dict[object, Sequence[int]] = field(default_factory=dict[object, Sequence[int]])

    @classmethod
    def read(cls, builder: Builder, ids: Sequence[str]) -> Anchors:
        """Looks up the ids. Unknown ids are left out."""
        by_reference: dict[str, Entity] = {}
        nodes: dict[int, Entity] = {}
        rows = resolved(builder, ids)
        for reference, (number, key, label, _, mediator) in rows.items():
            if number not in nodes:
                nodes[number] = builder.entity(key, label, mediator)
            by_reference[reference] = nodes[number]
        hubs: dict[Direction, dict[int, dict[int, int]]] = {side: defaultdict(dict) for side in SIDES}
        for number, side, relation, count in builder.session.all(queries.around.HUB_ROWS, json.dumps(list(nodes))):
            hubs[_DIRECTIONS[side]][number][relation] = checked_count(count)
        return cls(by_reference, nodes, hubs)

    def __len__(self) -> int:
        """The number of known ids."""
        return len(self.by_reference)

    def resolves_all(self, ids: Sequence[str]) -> bool:
        """Whether all ids are known and none is given twice."""
        return len(self.by_reference) == len(ids)

    def small(self, direction: Direction) -> list[int]:
        """Returns the nodes that are not hubs in a direction, in file order, so that the file is read in sequence."""
        return sorted(self.nodes.keys() - self.hubs[direction].keys())

    def row_counts(self, key: object) -> Sequence[int] | None:
        """Returns the cached number of rows of each node for a query, in node order, or None."""
        return self._row_counts.get(key)

    def cache_row_counts(self, key: object, rows: Sequence[int]) -> None:
        """Caches the number of rows of each node for a query."""
        if len(self._row_counts) >= _MAX_CACHED_COUNTS:
            self._row_counts.clear()
        self._row_counts[key] = rows


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions on the far ends of rows, for entities and for literals, and the query parameters that they need."""

    entities: tuple[FarEndCondition, ...]
    values: tuple[FarEndCondition, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict[str, Parameter])

    def narrowed(self, kind: SegmentKind, query: str) -> str:
        """Returns a query for rows of a kind with the conditions added."""
        return narrowed(query, self.values if kind.literal else self.entities)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter for rows: by path (None: all one-hop relations) and by type of far end (None: both).

    `conditions` filter by the far end itself. Rows are then not counted. `hidden` are relations that `relation_paths`
    lacks because the request names none: their rows are shown only if a request names them.
    """

    relation_paths: frozenset[Path] | None = None
    far_end_kind: FarEndKind | None = None
    conditions: Conditions | None = None
    hidden: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, builder: Builder, relation_paths: Iterable[Sequence[str]] | None, far_end_kind: FarEndKind | None
    ) -> RowFilter:
        """Makes a filter from paths of relation ids. Unknown relations match no rows. None: all that are not hidden."""
        if relation_paths is not None:
            return cls(frozenset(builder.known_paths(relation_paths)), far_end_kind)
        hidden = builder.catalogue.hidden_relations(builder.session)
        shown = frozenset((number,) for number in builder.relation_entries if number not in hidden) if hidden else None
        return cls(shown, far_end_kind, hidden=hidden)

    @property
    def relations(self) -> set[int] | None:
        """The one-hop relations of the filter; None: all."""
        return None if self.relation_paths is None else {path[0] for path in self.relation_paths if len(path) == 1}

    @property
    def two_hops(self) -> list[Path]:
        return [path for path in self.relation_paths or () if len(path) == 2]
