"""Rows on their way from the sources into the graph file: collected, and written in batches to the staging file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from kgnav_mcp.adapters.embedded.loading import bulk, queries
from kgnav_mcp.adapters.embedded.loading.options import Progress, ProgressListener
from kgnav_mcp.adapters.embedded.loading.terms import TERM_BUDGET, TermDictionary

BATCH = 50_000
"""Readers call `checkpoint` after so many triples: a batch is written and the progress told."""

TripleRow = tuple[int, int, int]
RelationshipRow = tuple[int, int, int, str | None, int | None, int | None]
LiteralRow = tuple[int, int, str, str | None, str | None]
NamingRow = tuple[int, int, int, str | None, str]
NamedKeyRow = tuple[str, int, int, str | None, str]
ReifierRow = tuple[int, int, int, int | None, str | None, str | None, str | None]


class Staging:
    """What the readers fill. The lists take rows as the staging tables have them; `checkpoint` writes them."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        term_budget: int = TERM_BUDGET,
        progress: ProgressListener | None = None,
    ) -> None:
        self.connection = connection
        self.terms = TermDictionary(term_budget)
        self.relations: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.triples: list[TripleRow] = []
        self.relationships: list[RelationshipRow] = []
        self.literals: list[LiteralRow] = []
        self.properties: list[LiteralRow] = []
        self.namings: list[NamingRow] = []
        self.named_keys: list[NamedKeyRow] = []
        self.labelled: list[tuple[int, int]] = []
        self.reifiers: list[ReifierRow] = []
        self.prefixes: dict[str, str] = {}
        self.count = 0
        self.bytes_before = 0
        self.bytes_total = 0
        self._progress = progress
        self._written = 0

    def relation(self, key: str) -> int:
        """The number of a relation or property, given now if it has none."""
        return self.relations.setdefault(key, len(self.relations) + 1)

    def label(self, key: str) -> int:
        """The number of a property graph's label, given now if it has none."""
        return self.labels.setdefault(key, len(self.labels) + 1)

    @property
    def full(self) -> bool:
        """Whether the rows of entries are to be written."""
        rows = len(self.triples) + len(self.relationships) + len(self.properties)
        return rows + len(self.labelled) + len(self.named_keys) >= BATCH

    @property
    def waiting(self) -> int:
        """Triples since the last checkpoint, written or not."""
        return self._written + len(self.triples) + len(self.literals)

    def add_triples(self, heads: Iterable[int], relations: Iterable[int], tails: Iterable[int], count: int) -> None:
        """Write many triples at once, given in columns: no row of them is ever made."""
        values = [0] * (3 * count)
        values[0::3], values[1::3], values[2::3] = heads, relations, tails
        bulk.insert_values(self.connection, queries.STAGE_TRIPLE, 3, values)
        self._written += count

    def checkpoint(self, source: str, position: int) -> None:
        """Write what was collected, and tell how far the source is read."""
        self.flush()
        self.tell(source, position)

    def tell(self, source: str, position: int, phase: str = "reading") -> None:
        """Tell the listener, if there is one, without writing anything."""
        if self._progress is not None:
            self._progress(Progress(source, self.count, self.bytes_before + position, self.bytes_total, phase))

    def flush(self) -> None:
        """Write what was collected."""
        self.count += self._written
        self._written = 0
        self.count += len(self.triples) + len(self.relationships) + len(self.literals) + len(self.properties)
        batches: tuple[tuple[str, list[Any]], ...] = (
            (queries.STAGE_TERM, self.terms.fresh),
            (queries.STAGE_TRIPLE, self.triples),
            (queries.STAGE_RELATIONSHIP, self.relationships),
            (queries.STAGE_LITERAL, self.literals),
            (queries.STAGE_PROPERTY, self.properties),
            (queries.STAGE_NAMING, self.namings),
            (queries.STAGE_NAMED_KEY, self.named_keys),
            (queries.STAGE_LABELLED, self.labelled),
            (queries.STAGE_REIFIER, self.reifiers),
        )
        for statement, rows in batches:
            bulk.insert(self.connection, statement, rows)
            rows.clear()
