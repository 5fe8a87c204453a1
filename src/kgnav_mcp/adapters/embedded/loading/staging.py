"""Rows on their way from the sources into the graph file: collected, and written in batches to the staging file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from sys import getsizeof
from typing import Any

from kgnav_mcp.adapters.embedded.loading import bulk, queries
from kgnav_mcp.adapters.embedded.loading.options import Progress, ProgressListener

TERM_BUDGET = 1_500_000_000
"""Bytes that keys in memory may take; with the rest of a load this stays below 2 GB."""

ENTRY_BYTES = 150
"""What one key costs beside its own string: the slot in the dictionary at its least full, the number, the tuple."""

TripleRow = tuple[int, int, int]
RelationshipRow = tuple[int, int, int, str | None, int | None, int | None]
LiteralRow = tuple[int, int, str, str | None, str | None]
NamingRow = tuple[int, int, int, str | None, str]
NamedKeyRow = tuple[str, int, int, str | None, str]
ReifierRow = tuple[int, int, int, int | None, str | None, str | None, str | None]


class TermDictionary:
    """Node keys to numbers, in bounded memory. Hot loops read `ids` directly and `add` a key that is not in it.

    It holds the keys it has seen until they take `budget` bytes; then it forgets all of them and starts again, so that
    a key seen before and after gets two numbers. Every (number, key) is staged, and `writer.unify_terms` makes the
    numbers of one key equal by one sort over the staged keys. While everything fits, which is the usual case, nothing
    is looked up or sorted at all; past that, the cost is one external sort and not one look-up for each term.
    """

    def __init__(self, budget: int = TERM_BUDGET) -> None:
        self.ids: dict[str, int] = {}
        self.fresh: list[tuple[int, str]] = []
        """Numbers given since the caller last staged them; the caller empties it."""
        self.last = 0
        self.overflowed = False
        self._budget = budget
        self._used = 0

    def add(self, key: str) -> int:
        """The next number, for a key that is not in `ids`."""
        self._used += getsizeof(key) + ENTRY_BYTES
        if self._used > self._budget and self.ids:
            self.ids.clear()
            self.overflowed = True
            self._used = 0
        self.last += 1
        self.ids[key] = self.last
        self.fresh.append((self.last, key))
        return self.last

    def id(self, key: str) -> int:
        """The number of a key, given now if it has none."""
        found = self.ids.get(key)
        return self.add(key) if found is None else found


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
        self.text = 0
        """Characters of the texts in the lists, about."""
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
        rows += len(self.labelled) + len(self.named_keys)
        return rows >= bulk.BATCH or self.text >= bulk.BATCH_TEXT

    @property
    def pending(self) -> int:
        """Triples since the last checkpoint, written or not."""
        return self._written + len(self.triples) + len(self.literals)

    def add_triples(self, heads: Iterable[int], relations: Iterable[int], tails: Iterable[int], count: int) -> None:
        """Write many triples at once, given in columns: no row of them is ever made."""
        values = [0] * (3 * count)
        values[0::3], values[1::3], values[2::3] = heads, relations, tails
        bulk.insert_values(self.connection, queries.STAGE_TRIPLE, 3, values)
        self._written += count

    def checkpoint(self, source: str, position: int) -> None:
        """Write the collected rows, and report how far the source is read."""
        self.flush()
        self.report_progress(source, position)

    def finish(self, source: str, size: int) -> None:
        """Write the last rows of a source that has so many bytes; the next one is read from now on."""
        self.checkpoint(source, size)
        self.bytes_before += size

    def report_progress(self, source: str, position: int, phase: str = "reading") -> None:
        """Call the progress listener, if there is one. Nothing is written."""
        if self._progress is not None:
            self._progress(Progress(source, self.count, self.bytes_before + position, self.bytes_total, phase))

    def flush(self) -> None:
        """Write the collected rows."""
        self.count += self._written
        self.text = 0
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
