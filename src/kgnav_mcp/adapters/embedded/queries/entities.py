"""Queries for the small tables, for entities by id and for their degrees."""

SCHEMA = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
"""A few dozen rows, once for an open file. SQLite reads them before any query."""

META = "SELECT key, value FROM meta"
"""A few dozen rows, once for an open file."""

RELATIONS = "SELECT id, key, label, edges, attributes, items, multivalued FROM relation"
"""All relations, once for an open file: under a microsecond each."""

HAS_EDGES = "SELECT EXISTS (SELECT 1 FROM relation WHERE key = ? AND edges > 0)"
"""Whether a relation joins entities of the file."""

HAS_KEYS = "SELECT EXISTS (SELECT 1 FROM node WHERE key >= ?1 AND key < ?1 || char(0x10FFFF))"
"""Whether a node's id begins with a text."""

LABELS = "SELECT id, key, name, nodes FROM label"
"""All labels, once for an open file."""

SETS_OF_LABELS = """
SELECT labels, count(*) FROM (SELECT group_concat(label) AS labels FROM node_label GROUP BY node HAVING count(*) > 1)
GROUP BY labels LIMIT ?
"""
"""Combinations of several labels. Scans the labels of all nodes in their order, once for an open file."""

HAS_MEDIATORS = "SELECT EXISTS (SELECT 1 FROM node WHERE mediator = 1)"
"""One look at a small index, once for an open file."""

NODES_BY_KEY = """
SELECT v.id, v.key, v.label, v.description, v.mediator
FROM json_each(?) AS j CROSS JOIN node AS v ON v.key = j.value
"""
"""Two seeks for each key."""

NODES_BY_ID = """
SELECT v.id, v.key, v.label, v.description, v.mediator
FROM json_each(?) AS j CROSS JOIN node AS v ON v.id = j.value
"""
"""One seek for each node."""

NODE_LABELS = """
SELECT l.node, l.label FROM json_each(?) AS j CROSS JOIN node_label AS l ON l.node = j.value ORDER BY l.node, l.label
"""
"""One seek for each node."""

HUB_DEGREES = """
SELECT d.node, d.direction, sum(d.n) FROM json_each(?1) AS j CROSS JOIN degree AS d ON d.node = j.value
GROUP BY d.node, d.direction
"""
"""One seek for each node and a row for each of a hub's relations, whatever its degree."""

DEGREES_OUTGOING = """
SELECT j.value, (SELECT count(*) FROM edge AS e WHERE e.s = j.value)
    + (SELECT count(*) FROM attribute AS a WHERE a.node = j.value)
FROM json_each(?1) AS j
"""
"""For nodes below the degree floor: two seeks and at most DEGREE_FLOOR rows each."""

DEGREES_INCOMING = """
SELECT j.value, (SELECT count(*) FROM edge AS e WHERE e.o = j.value) FROM json_each(?1) AS j
"""
"""For nodes below the degree floor: one seek and at most DEGREE_FLOOR rows each."""


def any_row(table: str, conditions: str) -> str:
    """Returns the query whether any row of a table meets the conditions. Scans the table."""
    return f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {conditions})"  # noqa: S608 - built from our own constants
