"""The options of a load, its progress, and its report."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kgnav_mcp.adapters import wellknown
from kgnav_mcp.adapters.embedded.loading.columns import ChosenColumns
from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import BadLine, LoadError

DEFAULT_RELATION = "related_to"
"""The relation of edges whose source does not name one."""

Mediators = Literal["blank", "unnamed", "none"]
Statements = Literal["truthy", "all"]
"""Which statements of a Wikibase are loaded: those of the best rank, or all."""


Owl = Literal["folded", "raw"]
"""Whether class expressions of OWL become edges and `owl:Axiom` qualifiers, or the triples stay as they are."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How tables are read: their columns, separator, encoding and sheets."""

    columns: ChosenColumns = field(default_factory=ChosenColumns)
    """What the columns contain, as chosen by the user."""
    separator: str = ""
    """The character that separates fields; empty: the one that is most frequent in the first line."""
    encoding: str = ""
    """The encoding of tables, and of networks whose format does not state it.

    Empty: UTF-8, UTF-16 with a byte order mark, else Windows-1252, or the format's `other_encoding`.
    """
    sheets: tuple[str, ...] = ()
    """The sheets of workbooks to load; empty: all."""

    def check(self) -> None:
        """Checks that the options fit together.

        Raises:
            LoadError: the encoding is unknown, or as `ChosenColumns.check`.
        """
        self.columns.check()
        try:
            "".encode(self.encoding or "utf-8")
        except (LookupError, ValueError) as error:
            raise LoadError(
                f"{echoed(self.encoding)} is not a known encoding",
                next_step="Use a name such as utf-8, utf-16, cp1252, latin-1, gb18030 or shift_jis.",
            ) from error

    def check_encoding_used(self, encodings: Iterable[str]) -> None:
        """Checks that the stated encoding is used, given the encodings of all sources.

        Raises:
            LoadError: no source has it.
        """
        if self.encoding and codecs.lookup(self.encoding) not in map(codecs.lookup, encodings):
            raise LoadError(
                f"no source is read in the encoding {self.encoding}: only tables that are text and networks "
                "that do not state it are",
                next_step="Omit --encoding.",
            )


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How sources are read. The defaults suit RDF with the usual vocabularies and Neo4j's CSV headers."""

    labels: tuple[Path, ...] = ()
    """Files that name entities: `id<TAB>name`, or RDF with one of `name_relations`; gzip too."""
    skip_bad: bool = False
    """Skip and count bad lines instead of failing at the first."""
    source_format: str | None = None
    """The format of every source, whatever its suffix: one of `formats.FORMATS`."""
    relation: str | None = None
    """The relation of edges in tables without a column for it; None: DEFAULT_RELATION."""
    tables: TableOptions = field(default_factory=TableOptions)
    undirected: bool = False
    """Whether the edges of tables are undirected. They are stored once, as they are written."""
    nodes_from_edges: bool = False
    """Create nodes for ids that occur only in edges of a property graph. Otherwise such an edge is a bad line."""
    force: bool = False
    """Replace the target even if it is not a graph file."""
    mediators: Mediators = "blank"
    """Which nodes without a name are mediators: blank nodes, all, or none. A mediator must also have an edge."""
    statements: Statements = "truthy"
    owl: Owl = "folded"
    prefixes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Namespaces by prefix, in addition to those that the sources declare."""
    type_relations: tuple[str, ...] = (wellknown.RDF_TYPE,)
    """Relations whose tails are labels (classes), as short or full ids; for a table, for example, `P31`.

    For the RDF of a Wikibase, `P31` (instance of) is one by default.
    """
    name_relations: tuple[str, ...] = wellknown.NAME_RELATIONS
    """Relations whose literal tails are names, preferred ones first."""
    name_properties: tuple[str, ...] = ("name", "label", "title")
    """Properties that name the nodes of a property graph.

    A node gets the first that it has. Letter case does not matter.
    """
    languages: tuple[str, ...] = ("en",)
    """Preferred languages of names in order. After these come names without a language, then others by tag."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load has come. Bytes are summed over all sources; compressed ones count by their size on disk."""

    source: str
    triples: int
    bytes_read: int
    bytes_total: int
    phase: str = "reading"
    """`reading` while sources are read, then the current step: work continues after the last byte is read."""


ProgressListener = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The result of a finished load. `bad_lines` counts all bad lines, `first_bad_lines` lists the first of them.

    `notes`: how ambiguous sources were read. `warnings`: likely mistakes of the user. `seconds`: duration.
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


LISTED = 150
"""Maximum length in characters of a list of names in a note or a warning."""

MAX_LISTED = 20
"""Maximum number of bad lines listed in the report; further ones are only counted."""


class LoadProblems:
    """Collects bad lines, notes and warnings. Notes and warnings have no full stop at the end."""

    def __init__(self, *, skip_bad: bool) -> None:
        self.skip_bad = skip_bad
        self.bad_lines = 0
        self.first_bad_lines: list[BadLine] = []
        self.notes: list[str] = []
        """How ambiguous sources were read."""
        self.warnings: list[str] = []
        """Likely mistakes of the user."""

    def reject(self, source: str, line: int | None, reason: str, advice: str = "Correct the line") -> None:
        """Counts a bad line. `advice` says how to repair it.

        Raises:
            BadLine: bad lines are not skipped.
        """
        if not self.skip_bad:
            raise BadLine(source, line, reason, next_step=f"{advice}, or skip it with --skip-bad.")
        self.bad_lines += 1
        if len(self.first_bad_lines) < MAX_LISTED:
            self.first_bad_lines.append(BadLine(source, line, reason))
