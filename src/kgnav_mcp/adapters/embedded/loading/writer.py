"""Writes staged rows to the graph file: sorts triples, joins labels and names to nodes, builds indexes last."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, cast

from kgnav_mcp.adapters.embedded import fileformat
from kgnav_mcp.adapters.embedded.loading import bulk, queries
from kgnav_mcp.adapters.embedded.loading.load_problems import LoadProblems
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.wellknown import OWL_DEPRECATED

MAKE_NODES = "Add the node, or load with --nodes-from-edges to make it"
Row = tuple[Any, ...]
LONG_TEXT = 1_000_000
"""Longer texts (in characters) are sorted by a digest, because a sort keeps about ten rows in memory of any size."""


def unify_terms(connection: sqlite3.Connection) -> None:
    """Gives every key one number, its first, after the term dictionary was cleared and numbered keys again."""
    connection.execute(queries.FIND_REPEATED_TERMS)
    for statement in queries.UNIFY:
        connection.execute(statement)
    connection.execute(queries.FORGET_REPEATED_TERMS)


def reject_undeclared(
    connection: sqlite3.Connection, last_declared: int, names: list[str], findings: LoadProblems
) -> None:
    """Removes relationships with an end that is in no node file, and counts them as bad lines.

    Raises:
        BadLine: there is one, and bad lines are not skipped.
    """
    undeclared = cast("Iterator[tuple[int, int, str]]", connection.execute(queries.UNDECLARED_ENDS, (last_declared,)))
    for source, line, key in undeclared:
        findings.reject(names[source], line, f"no node has the id {key!r}", mend=MAKE_NODES)
    connection.execute(queries.FORGET_UNDECLARED_RELATIONSHIPS, (last_declared,))
    connection.execute(queries.FORGET_UNDECLARED_TERMS, (last_declared,))


def write_relations(connection: sqlite3.Connection, staging: Staging) -> None:
    """Writes all relations and properties of the sources."""
    connection.executemany(queries.WRITE_RELATION, ((number, key) for key, number in staging.relations.items()))


def mark_deprecated(connection: sqlite3.Connection, staging: Staging) -> None:
    """Notes which terms an ontology declares obsolete. Their names are shown with that mark."""
    if (number := staging.relations.get(OWL_DEPRECATED)) is not None:
        connection.execute(queries.FIND_DEPRECATED, (number,))


def write_edges(connection: sqlite3.Connection) -> None:
    """Writes the edges and builds their indexes."""
    if connection.execute(queries.HAS_RELATIONSHIPS).fetchone()[0]:
        for edges in bulk.batches(_number_rows(connection.execute(queries.SORTED_EDGES), 3)):
            bulk.insert(connection, queries.WRITE_EDGE, edges)
    else:
        connection.execute(queries.WRITE_EDGES)
    for statement in fileformat.EDGE_INDEXES.split(";"):
        connection.execute(statement)


def write_attributes(connection: sqlite3.Connection) -> None:
    """Writes the attributes."""
    connection.create_function("digest", 1, _digest, deterministic=True)
    rows = connection.execute(queries.SORTED_ATTRIBUTES, (LONG_TEXT,))
    for attributes in bulk.text_batches(_number_rows(rows, 2), 3):
        bulk.insert(connection, queries.WRITE_ATTRIBUTE, attributes)


def _digest(text: str) -> bytes:
    """Returns a digest that replaces a long text in a sort. SQLite sorts it, a blob, after all texts."""
    return hashlib.sha256(text.encode()).digest()


def _number_rows(rows: Iterator[Row], width: int) -> Iterator[Row]:
    """Numbers the sorted rows of each key from 0. The key is the first `width` columns.

    The number replaces the column after the key. If that column is 0, the row comes from a set, and its duplicates are
    dropped.
    """
    last: Row = ()
    last_key: Row = ()
    number = 0
    for row in rows:
        key = row[:width]
        if key != last_key:
            last_key, number = key, 0
        elif row[width] == 0 and row == last:
            continue
        else:
            number += 1
        last = row
        yield (*key, number, *row[width + 1 :])


def write_labels(connection: sqlite3.Connection, staging: Staging, type_relations: Sequence[str]) -> None:
    """Writes the labels of a property graph and the classes that are tails of type relations."""
    connection.executemany(queries.WRITE_LABEL, ((number, key) for key, number in staging.labels.items()))
    type_numbers = [staging.relations[key] for key in type_relations]
    if not type_numbers and not staging.labels:
        return
    types = json.dumps(type_numbers)
    connection.execute(queries.FIND_CLASSES, (types,))
    connection.execute(queries.WRITE_CLASSES)
    connection.execute(queries.NUMBER_CLASSES)
    connection.execute(queries.WRITE_NODE_LABELS, (types,))


def write_joins(connection: sqlite3.Connection) -> None:
    """Builds the indexes of nodes, names and attributes, then fills the columns that need them."""
    for statement in fileformat.NODE_INDEXES.split(";"):
        connection.execute(statement)
    connection.execute(queries.NAME_RELATIONS)
    connection.execute(queries.NAME_LABELS)
    connection.execute(queries.COUNT_LABELS)
    connection.execute(queries.MARK_MEDIATORS)
