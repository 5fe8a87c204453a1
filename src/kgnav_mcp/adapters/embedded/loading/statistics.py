"""What the file knows of itself: rows per relation, degrees, two-hop counts, and the schema's figures."""

from __future__ import annotations

import sqlite3

from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.loading import queries

EXACT_UP_TO = 2_000_000
"""So many triples are all counted for the schema; of more, a sample of about half that."""

RARE = 5_000
"""Relations with fewer rows are counted in full even in a sample, so that none goes missing."""


def write_statistics(connection: sqlite3.Connection) -> bool:
    """Fill the tables of counts; True when the schema's figures come from a sample."""
    connection.execute(queries.COUNT_EDGES)
    connection.execute(queries.COUNT_ATTRIBUTES)
    connection.execute(queries.WRITE_DEGREES_OUTGOING, (DEGREE_FLOOR,))
    connection.execute(queries.WRITE_DEGREES_INCOMING, (DEGREE_FLOOR,))
    if connection.execute(queries.HAS_MEDIATORS).fetchone()[0]:
        connection.execute(queries.COUNT_OUTGOING_OF_MEDIATORS)
        connection.execute(queries.COUNT_INCOMING_OF_MEDIATORS)
        connection.execute(queries.WRITE_THROUGH_OUTGOING)
        connection.execute(queries.WRITE_THROUGH_INCOMING)
    edges, attributes = connection.execute(queries.COUNT_TRIPLES).fetchone()
    step = max(1, -(-(edges + attributes) * 2 // EXACT_UP_TO)) if edges + attributes > EXACT_UP_TO else 1
    connection.execute(queries.FILL_EDGE_SAMPLE, (RARE, step))
    connection.execute(queries.WRITE_EDGE_HEADS)
    connection.execute(queries.WRITE_EDGE_TAILS)
    connection.execute(queries.WRITE_EDGE_QUALIFIERS)
    if connection.execute(queries.HAS_QUALIFIED_ATTRIBUTES).fetchone()[0]:
        connection.execute(queries.WRITE_ATTRIBUTE_QUALIFIERS)
    connection.execute(queries.FORGET_UNUSED_RELATIONS)
    connection.execute(queries.WRITE_LABEL_PROPERTIES, (RARE, step))
    return step > 1
