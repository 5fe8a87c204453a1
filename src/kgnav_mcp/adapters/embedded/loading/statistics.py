"""Writes the counts in a graph file: rows by relation, degrees, two-hop counts, and schema statistics."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.loading import queries

Degree = tuple[int, int, int, int]
"""Node, direction (0 outgoing, 1 incoming), relation, and number of rows."""

EXACT_UP_TO = 2_000_000
"""Up to this many triples, schema statistics count all; above, they use a sample of about half as many."""

_MAX_LABEL_PAIRS = 100
"""Pairs of labels stored for each relation, at most. An ontology with many classes would give very many."""
RARE = 5_000
"""Relations with fewer rows are counted in full even in a sample, so that none is missing."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows of each relation, and the degrees of hubs in one direction.

    Of attributes also: items of arrays by relation, and the relations with several values at one node.
    """

    relations: Counter[int]
    degrees: list[Degree]
    items: Counter[int] = field(default_factory=Counter[int])
    multivalued: frozenset[int] = frozenset()


def committed(path: Path) -> sqlite3.Connection:
    """Returns a connection to the committed part file for another thread. The tables it reads must not change."""
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    connection.execute(queries.ANY_EDGE).fetchone()  # reads the schema before other threads write further tables
    return connection


def count_edges(connection: sqlite3.Connection) -> Counted:
    """Counts edges by relation, and the incoming degrees of hubs."""
    counts: Counter[int] = Counter()
    for relation, rows in connection.execute(queries.EDGE_RELATIONS):
        counts[relation] += rows
    return Counted(counts, connection.execute(queries.DEGREES_INCOMING, (DEGREE_FLOOR,)).fetchall())


def count_attributes(connection: sqlite3.Connection) -> Counted:
    """Counts attributes by relation, and the outgoing degrees of hubs, which include edges."""
    counts: Counter[int] = Counter()
    items: Counter[int] = Counter()
    multivalued: set[int] = set()
    for relation, rows, array_items in connection.execute(queries.ATTRIBUTE_RELATIONS):
        counts[relation] += rows
        if rows > 1:
            multivalued.add(relation)
        if array_items:
            items[relation] += array_items
    degrees = connection.execute(queries.DEGREES_OUTGOING, (DEGREE_FLOOR,)).fetchall()
    return Counted(counts, degrees, items, frozenset(multivalued))


def write_statistics(connection: sqlite3.Connection, of_edges: Counted, of_attributes: Counted) -> bool:
    """Fills the tables of counts. Returns whether schema statistics come from a sample."""
    edges, attributes = of_edges.relations, of_attributes.relations
    connection.executemany(queries.WRITE_EDGE_COUNT, edges.items())
    items, multivalued = of_attributes.items, of_attributes.multivalued
    connection.executemany(
        queries.WRITE_ATTRIBUTE_COUNT,
        ((relation, rows, items[relation], relation in multivalued) for relation, rows in attributes.items()),
    )
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
        connection.execute(queries.WRITE_EDGE_JOINS, (_MAX_LABEL_PAIRS,))
    connection.execute(queries.WRITE_QUALIFIERS, connection.execute(queries.HAS_QUALIFIED_ATTRIBUTES).fetchone())
    connection.execute(queries.FORGET_UNUSED_RELATIONS)
    connection.execute(queries.WRITE_LABEL_PROPERTIES, (RARE, step))
    return step > 1
