"""Filters for rows around nodes: by relation and by far end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.adapters.embedded.anchors import Path
from kgnav_mcp.adapters.embedded.paging import SegmentKind
from kgnav_mcp.adapters.embedded.queries.around import FarEndCondition, narrowed
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.port import FarEndKind


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
