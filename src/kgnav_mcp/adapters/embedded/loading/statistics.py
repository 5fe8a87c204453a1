"""What the file knows of itself: rows per relation, degrees, two-hop counts, and the schema's figures."""

from __future__ import annotations

import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.loading import queries

EXACT_UP_TO = 2_000_000
"""So many triples are all counted for the schema; of more, a sample of about half that."""

RARE = 5_000
"""Relations with fewer rows are counted in full even in a sample, so that none goes missing."""


def write_statistics(connection: sqlite3.Connection, path: Path) -> bool:
    """Fill the tables of counts; True when the schema's figures come from a sample.

    `path` is the file behind the connection, with all triples committed: degrees are read beside the relations.
    """
    with ThreadPoolExecutor(2, "kgnav-degrees") as beside:
        degrees = [
            beside.submit(_degrees, path, query) for query in (queries.DEGREES_OUTGOING, queries.DEGREES_INCOMING)
        ]
        edges = _by_relation(connection, queries.EDGE_RELATIONS)
        attributes = _by_relation(connection, queries.ATTRIBUTE_RELATIONS)
    connection.executemany(queries.WRITE_EDGE_COUNT, edges.items())
    connection.executemany(queries.WRITE_ATTRIBUTE_COUNT, attributes.items())
    for counted in degrees:
        connection.executemany(queries.WRITE_DEGREE, counted.result())
    if connection.execute(queries.HAS_MEDIATORS).fetchone()[0]:
        connection.execute(queries.COUNT_OUTGOING_OF_MEDIATORS)
        connection.execute(queries.COUNT_INCOMING_OF_MEDIATORS)
        connection.execute(queries.WRITE_THROUGH_OUTGOING)
        connection.execute(queries.WRITE_THROUGH_INCOMING)
    triples = edges.total() + attributes.total()
    step = max(1, -(-triples * 2 // EXACT_UP_TO)) if triples > EXACT_UP_TO else 1
    if connection.execute(queries.HAS_LABELS).fetchone()[0]:
        connection.execute(queries.FILL_EDGE_SAMPLE, (RARE, step))
        connection.execute(queries.WRITE_EDGE_HEADS)
        connection.execute(queries.WRITE_EDGE_TAILS)
    connection.execute(queries.WRITE_EDGE_QUALIFIERS)
    if connection.execute(queries.HAS_QUALIFIED_ATTRIBUTES).fetchone()[0]:
        connection.execute(queries.WRITE_ATTRIBUTE_QUALIFIERS)
    connection.execute(queries.FORGET_UNUSED_RELATIONS)
    connection.execute(queries.WRITE_LABEL_PROPERTIES, (RARE, step))
    return step > 1


def _by_relation(connection: sqlite3.Connection, query: str) -> Counter[int]:
    counts: Counter[int] = Counter()
    for relation, rows in connection.execute(query):
        counts[relation] += rows
    return counts


def _degrees(path: Path, query: str) -> list[tuple[Any, ...]]:
    """The rows of the nodes beyond the floor on one side, read by a connection of its own."""
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as connection:
        return connection.execute(query, (DEGREE_FLOOR,)).fetchall()
