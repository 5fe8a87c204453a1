"""Nodes, attributes, names and the full-text index: built in a thread and a file of their own, beside the edges.

Both halves are mostly work inside SQLite, which lets go of Python's lock, so that two cores share it. The finished
tables are then copied page by page, which costs little.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from kgnav_mcp.adapters.embedded import filetables
from kgnav_mcp.adapters.embedded.loading import bulk, ddl, queries
from kgnav_mcp.adapters.embedded.loading.interrupts import STEPS
from kgnav_mcp.adapters.embedded.loading.names import DESCRIPTION, NAME, NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions
from kgnav_mcp.adapters.embedded.loading.staging import NamingRow
from kgnav_mcp.adapters.embedded.loading.writer import write_attributes
from kgnav_mcp.adapters.likeness import ID
from kgnav_mcp.adapters.naming import spoken


class NodeFile:
    """Reads the staging file and fills a file of its own from `__enter__` on; `copy` waits for it and takes it over.

    The staging file must be committed, and is only read until `copy` returns.
    """

    def __init__(self, path: Path, staging: Path, options: LoadOptions, last_rdf: int) -> None:
        self._path = path
        self._staging = staging
        self._options = options
        self._last_rdf = last_rdf
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._thread = ThreadPoolExecutor(1, "kgnav-nodes")
        self._stopped = threading.Event()
        self._done: Future[None] | None = None

    def __enter__(self) -> NodeFile:
        self._done = self._thread.submit(self._build)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.shutdown()

    def copy(self, connection: sqlite3.Connection) -> None:
        """Wait for the tables and copy them into the graph file."""
        if self._done is not None:
            self._done.result()
        connection.execute("ATTACH ? AS nodes", (str(self._path),))
        connection.execute("BEGIN")
        for statement in queries.COPY_NODES:
            connection.execute(statement)
        connection.execute("COMMIT")

    def _build(self) -> None:
        with closing(self._connection) as connection:
            connection.set_progress_handler(self._stopped.is_set, STEPS)
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("ATTACH ? AS staging", (str(self._staging),))
            connection.execute("BEGIN")
            for statement in (filetables.TABLES + ddl.UNNAMED).split(";"):
                connection.execute(statement)
            write_attributes(connection)
            write_nodes(connection, self._options, self._last_rdf)
            connection.execute(queries.WRITE_NAME_WORDS)
            connection.execute("COMMIT")


def write_nodes(connection: sqlite3.Connection, options: LoadOptions, last_rdf: int) -> None:
    """Write nodes and names.

    Terms up to `last_rdf` are RDF's: without a name in a language that was asked for, or in none, they are found by
    what their IRI says, too.
    """
    nodes: list[tuple[int, str, str | None, str | None, str | None]] = []
    names: list[tuple[int, int, str | None, str]] = []
    unnamed: list[tuple[int]] = []
    named = _Names(connection.execute(queries.SORTED_NAMES))
    unasked = NameRules(options).unasked
    terms = connection.execute(queries.TERMS)
    for batch in bulk.batches(terms):
        for node, key in batch:
            blank = key.startswith("_:")
            label = language = description = None
            asked = False
            for kind, rank, tag, text in named.of(node):
                names.append((node, kind, tag, text))
                asked = asked or (kind == NAME and rank < unasked)
                if kind == NAME and label is None:
                    label, language = text, tag
                elif kind == DESCRIPTION and description is None:
                    description = text
            if label is None and (options.mediators == "unnamed" or (blank and options.mediators == "blank")):
                unnamed.append((node,))
            elif node <= last_rdf and not blank and not asked:
                names += [(node, ID, None, text) for text in spoken(key) if text != key]
            nodes.append((node, key, label, language, description))
        written: tuple[tuple[str, list[Any]], ...] = (
            (queries.WRITE_NODE, nodes),
            (queries.WRITE_NAME, names),
            (queries.STAGE_UNNAMED, unnamed),
        )
        for statement, rows in written:
            bulk.insert(connection, statement, rows)
            rows.clear()


class _Names:
    """Sorted names, taken node by node in rising order; a name given twice is one."""

    def __init__(self, rows: Iterator[NamingRow]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of(self, node: int) -> Iterator[tuple[int, int, str | None, str]]:
        seen: set[tuple[int, str | None, str]] = set()
        while self._next is not None and self._next[0] <= node:
            owner, kind, rank, language, text = self._next
            self._next = next(self._rows, None)
            if owner == node and (kind, language, text) not in seen:
                seen.add((kind, language, text))
                yield kind, rank, language, text
