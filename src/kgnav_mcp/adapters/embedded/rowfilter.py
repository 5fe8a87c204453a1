"""Which rows around nodes are wanted: by their relations, and by what they end at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.adapters.embedded.anchors import Path
from kgnav_mcp.adapters.embedded.paging import Kind
from kgnav_mcp.adapters.embedded.queries.around import Ends, narrowed
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.port import TailKind


@dataclass(frozen=True, slots=True)
class Conditions:
    """What queries of rows ask of far ends: of entities, of values, and the parameters that this takes."""

    entities: tuple[Ends, ...]
    values: tuple[Ends, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict[str, Parameter])

    def narrowed(self, kind: Kind, query: str) -> str:
        """A query of the rows of a kind, with what is asked of their far ends."""
        return narrowed(query, self.values if kind.literal else self.entities)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows are wanted: those of these paths (None: all of one hop) that end at entities, or at literals.

    `conditions` narrows them by single far ends; rows are not counted then.
    """

    paths: frozenset[Path] | None = None
    far_ends: TailKind | None = None
    conditions: Conditions | None = None

    @classmethod
    def of(cls, builder: Builder, paths: Iterable[Sequence[str]] | None, far_ends: TailKind | None) -> RowFilter:
        """The filter that paths of relation ids mean; unknown ones have no rows."""
        return cls(None if paths is None else frozenset(builder.known_paths(paths)), far_ends)

    @property
    def relations(self) -> set[int] | None:
        """The one-hop relations; None: all."""
        return None if self.paths is None else {path[0] for path in self.paths if len(path) == 1}

    @property
    def two_hops(self) -> list[Path]:
        return [path for path in self.paths or () if len(path) == 2]
