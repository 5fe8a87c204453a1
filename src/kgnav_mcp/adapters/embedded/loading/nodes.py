"""Writes nodes, attributes, names and the full-text index in another thread and file, while the edges are written.

The finished tables are then copied page by page, which is cheap.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from kgnav_mcp.adapters.embedded import fileformat
from kgnav_mcp.adapters.embedded.loading import bulk, ddl, queries
from kgnav_mcp.adapters.embedded.loading.names import ALIAS, DESCRIPTION, NAME, NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions
from kgnav_mcp.adapters.embedded.loading.staging_writer import NamingRow
from kgnav_mcp.adapters.embedded.loading.writer import write_attributes
from kgnav_mcp.adapters.ids.prefixes import namespace
from kgnav_mcp.adapters.likeness import ID
from kgnav_mcp.adapters.naming import marked_obsolete, readable_names


def node_file(path: Path, staging: Path) -> sqlite3.Connection:
    """Opens a new file for the nodes, with the staging file attached, which must be committed and is only read."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("ATTACH ? AS staging", (str(staging),))
    return connection


def fill_node_file(
    connection: sqlite3.Connection, options: LoadOptions, last_rdf: int, opaque: Collection[str]
) -> None:
    """Writes all tables made from the staged terms, literals and names. `last_rdf` and `opaque`: see `write_nodes`."""
    connection.execute("BEGIN")
    for statement in (fileformat.TABLES + ddl.UNNAMED).split(";"):
        connection.execute(statement)
    write_attributes(connection)
    write_nodes(connection, options, last_rdf, opaque)
    connection.execute(queries.WRITE_NAME_WORDS)
    connection.execute("COMMIT")


def copy_nodes(connection: sqlite3.Connection, path: Path) -> None:
    """Copies the tables of the node file into the graph file. The node file stays attached as `nodes`."""
    connection.execute("ATTACH ? AS nodes", (str(path),))
    connection.execute("BEGIN")
    for statement in queries.COPY_NODES:
        connection.execute(statement)
    connection.execute("COMMIT")


def write_nodes(connection: sqlite3.Connection, options: LoadOptions, last_rdf: int, opaque: Collection[str]) -> None:
    """Writes nodes and names.

    Terms up to `last_rdf` come from RDF. Those without a name in a preferred language or without a language tag also
    get the name in their IRI, so that they can be found by it.
    Ids in the namespaces `opaque` are not read as names.
    """
    nodes: list[tuple[int, str, str | None, str | None, str | None]] = []
    names: list[tuple[int, int, str | None, str]] = []
    unnamed: list[tuple[int]] = []
    sorted_names = _SortedNames(connection.execute(queries.SORTED_NAMES))
    unasked_rank = NameRules(options).unasked

    def flush() -> None:
        written: tuple[tuple[str, list[Any]], ...] = (
            (queries.WRITE_NODE, nodes),
            (queries.WRITE_NAME, names),
            (queries.STAGE_UNNAMED, unnamed),
        )
        for statement, rows in written:
            bulk.insert(connection, statement, rows)
            rows.clear()

    text_length = 0
    for node, key, deprecated in connection.execute(queries.TERMS):
        blank = key.startswith("_:")
        label = language = description = None
        has_preferred_name = False
        for kind, rank, tag, text in sorted_names.of(node):
            names.append((node, kind, tag, text))
            text_length += len(text)
            if kind == NAME:
                has_preferred_name |= rank < unasked_rank
                label, language = (text, tag) if label is None else (label, language)
            elif kind == DESCRIPTION and description is None:
                description = text
        label = _shown_name(node, key, label, names, obsolete=deprecated)
        if label is None and (options.mediators == "unnamed" or (blank and options.mediators == "blank")):
            unnamed.append((node,))
        elif node <= last_rdf and not blank and not has_preferred_name and namespace(key) not in opaque:
            names += [(node, ID, None, text) for text in readable_names(key) if text != key]
        nodes.append((node, key, label, language, description))
        text_length += len(key)
        if text_length >= bulk.BATCH_TEXT or len(nodes) == bulk.BATCH:
            flush()
            text_length = 0
    flush()


def _shown_name(
    node: int, key: str, label: str | None, names: list[tuple[int, int, str | None, str]], *, obsolete: int
) -> str | None:
    """Returns the name of a node; with a mark if it is obsolete. It is found by the marked name as well."""
    if not obsolete:
        return label
    marked = marked_obsolete(label or readable_names(key)[0])
    if marked != label:
        names.append((node, ALIAS, None, marked))
    return marked


class _SortedNames:
    """Sorted names, read node by node in ascending order, without duplicates."""

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
