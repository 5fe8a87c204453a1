"""What the file knows of itself: rows per relation, degrees, two-hop counts, and the schema's figures."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.embedded.loading.interrupts import STEPS

Degree = tuple[int, int, int, int]
"""Node, side, relation, and rows."""

EXACT_UP_TO = 2_000_000
"""So many triples are all counted for the schema; of more, a sample of about half that."""

RARE = 5_000
"""Relations with fewer rows are counted in full even in a sample, so that none goes missing."""


class EdgeCounts:
    """What is counted over the edges alone, in a thread from `__enter__` on, while the nodes are still being written.

    The edges must be committed, and no one may touch them again.
    """

    def __init__(self, path: Path) -> None:
        self._connection = _reader(path)
        self._connection.execute(queries.ANY_EDGE).fetchone()  # reads the schema, before anyone writes beside it
        self._stopped = threading.Event()
        self._connection.set_progress_handler(self._stopped.is_set, STEPS)
        self._thread = ThreadPoolExecutor(1, "kgnav-counts")
        self._counted: Future[tuple[Counter[int], list[Degree]]] | None = None

    def __enter__(self) -> EdgeCounts:
        self._counted = self._thread.submit(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.shutdown()
        self._connection.close()

    def result(self) -> tuple[Counter[int], list[Degree]]:
        """Edges of each relation, and the incoming degrees of the nodes beyond the floor. Waits for them."""
        assert self._counted is not None, "counting has begun"  # noqa: S101 - a context manager's rule
        return self._counted.result()

    def _count(self) -> tuple[Counter[int], list[Degree]]:
        relations = _by_relation(self._connection, queries.EDGE_RELATIONS)
        return relations, self._connection.execute(queries.DEGREES_INCOMING, (DEGREE_FLOOR,)).fetchall()


def write_statistics(connection: sqlite3.Connection, path: Path, counts: EdgeCounts) -> bool:
    """Fill the tables of counts; True when the schema's figures come from a sample.

    `path` is the file behind the connection, with all triples committed: degrees are read beside the relations.
    """
    with ThreadPoolExecutor(1, "kgnav-degrees") as beside:
        outgoing = beside.submit(_outgoing_degrees, path)
        attributes = _by_relation(connection, queries.ATTRIBUTE_RELATIONS)
        edges, incoming = counts.result()
    connection.executemany(queries.WRITE_EDGE_COUNT, edges.items())
    connection.executemany(queries.WRITE_ATTRIBUTE_COUNT, attributes.items())
    for degrees in (outgoing.result(), incoming):
        connection.executemany(queries.WRITE_DEGREE, degrees)
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


def _outgoing_degrees(path: Path) -> list[Degree]:
    """The rows of the nodes beyond the floor, read by a connection of its own."""
    with closing(_reader(path)) as connection:
        return connection.execute(queries.DEGREES_OUTGOING, (DEGREE_FLOOR,)).fetchall()


def _reader(path: Path) -> sqlite3.Connection:
    """A connection for any thread that takes no locks: what it reads is committed, and stays as it is."""
    uri = f"file:{quote(str(path))}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=False)
