"""The options of a load, its progress, and its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kgnav_mcp.adapters import wellknown
from kgnav_mcp.errors import BadLine

DEFAULT_RELATION = "related_to"
"""What an edge is called that has no relation of its own."""

Mediators = Literal["blank", "unnamed", "none"]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How sources are read. The defaults suit RDF with the usual vocabularies and Neo4j's CSV headers."""

    labels: tuple[Path, ...] = ()
    """Files that name entities: `id<TAB>name`, or RDF with one of `name_relations`; gzip too."""
    skip_bad: bool = False
    """Skip and count bad lines instead of failing at the first."""
    source_format: str | None = None
    """The format of every source, whatever its suffix: one of `sources.FORMATS`."""
    relation: str | None = None
    """What edges are called in tables without a column for the relation; None: DEFAULT_RELATION."""
    nodes_from_edges: bool = False
    """Make the nodes that only the edges of a property graph name; else such an edge is a bad line."""
    force: bool = False
    """Replace a target that is no graph file, too."""
    mediators: Mediators = "blank"
    """Which nodes without a name are mediators: blank nodes, all of them, or none. Each needs an edge, too."""
    type_relations: tuple[str, ...] = (wellknown.RDF_TYPE,)
    """Relations whose tails are labels (classes), short or in full; for a table for instance `P31`."""
    name_relations: tuple[str, ...] = wellknown.NAME_RELATIONS
    """Relations whose literal tails are names, the preferred one first."""
    name_properties: tuple[str, ...] = ("name", "label", "title")
    """Properties of a property graph: the first that a node has is its name. Letter case does not matter."""
    languages: tuple[str, ...] = ("en",)
    """Languages of the preferred name in order; then no language, then any other by its tag."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load is. Bytes are counted over all sources as they lie on disk, so compressed where they are."""

    source: str
    triples: int
    bytes_read: int
    bytes_total: int
    phase: str = "reading"
    """`reading` while sources are read, then what is being built: the last byte is not the last of the work."""


ProgressListener = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a finished load put into the file. `bad_lines` counts all bad lines, `first_bad_lines` keeps some.

    `notes` say how sources were read where that was open, `warnings` what seems to be a mistake.
    """

    entities: int
    triples: int
    bad_lines: int
    first_bad_lines: tuple[BadLine, ...]
    seconds: float
    sampled: bool
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
