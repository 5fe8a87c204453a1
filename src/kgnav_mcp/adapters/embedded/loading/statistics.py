"""What the file knows of itself: rows per relation, degrees, two-hop counts, and the schema's figures."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows of each relation, and the degrees of the nodes beyond the floor on one side."""

    relations: Counter[int]
    degrees: list[Degree]


class Counting:
    """What is counted over the triples, in threads of its own, while the rest of the file is still being written.

    Each table must be committed before it is counted, and no one may touch it again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stopped = threading.Event()
        self._threads = ThreadPoolExecutor(2, "kgnav-counts")

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._threads.shutdown()

    def edges(self) -> Future[Counted]:
        """Begin to count the edges, and the incoming degrees."""
        return self._begin(queries.EDGE_RELATIONS, queries.DEGREES_INCOMING)

    def attributes(self) -> Future[Counted]:
        """Begin to count the attributes, and the outgoing degrees, which the edges have their part in."""
        return self._begin(queries.ATTRIBUTE_RELATIONS, queries.DEGREES_OUTGOING)

    def _begin(self, relations: str, degrees: str) -> Future[Counted]:
        uri = f"file:{quote(str(self._path))}?mode=ro&immutable=1"  # what is read is committed, and stays as it is
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        connection.execute(queries.ANY_EDGE).fetchone()  # reads the schema, before anyone writes beside it
        connection.set_progress_handler(self._stopped.is_set, STEPS)
        return self._threads.submit(_counted, connection, relations, degrees)


def _counted(connection: sqlite3.Connection, relations: str, degrees: str) -> Counted:
    with closing(connection):
        counts: Counter[int] = Counter()
        for relation, rows in connection.execute(relations):
            counts[relation] += rows
        return Counted(counts, connection.execute(degrees, (DEGREE_FLOOR,)).fetchall())


def write_statistics(connection: sqlite3.Connection, of_edges: Counted, of_attributes: Counted) -> bool:
    """Fill the tables of counts; True when the schema's figures come from a sample."""
    edges, attributes = of_edges.relations, of_attributes.relations
    connection.executemany(queries.WRITE_EDGE_COUNT, edges.items())
    connection.executemany(queries.WRITE_ATTRIBUTE_COUNT, attributes.items())
    for counted in (of_attributes, of_edges):
        connection.executemany(queries.WRITE_DEGREE, counted.degrees)
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
