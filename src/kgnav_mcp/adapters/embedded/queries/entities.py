"""Queries for the small tables, for entities by id and by name, and for their degrees."""

SCHEMA = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
"""A few dozen rows, once for an open file. SQLite reads them before any query."""

META = "SELECT key, value FROM meta"
"""A few dozen rows, once for an open file."""

RELATIONS = "SELECT id, key, label, edges, attributes, items, multivalued FROM relation"
"""All relations, once for an open file: under a microsecond each."""

HAS_EDGES = "SELECT EXISTS (SELECT 1 FROM relation WHERE key = ? AND edges > 0)"
"""Whether a relation leads to entities of the file."""

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


NAMES_EQUAL = """
SELECT n.node, n.kind, n.language, n.text
FROM json_each(?1) AS j CROSS JOIN name AS n ON n.text = j.value AND n.kind <> 2 LIMIT ?2
"""
"""One seek for each text, and a row for each entity of that name."""

NODES_WITH_TEXT = """
SELECT a.node, a.p FROM relation AS r
CROSS JOIN attribute AS a ON a.p = r.id AND substr(a.text, 1, 64) = substr(?1, 1, 64)
WHERE r.attributes > 0 AND +a.text = ?1 AND a.datatype IS NULL AND a.language IS NULL LIMIT ?2
"""
"""One seek for each property of the graph, and a row for each node with the text."""

NAMES_OF = """
SELECT n.language, n.text FROM node AS v CROSS JOIN name AS n ON n.node = v.id AND n.kind = 0
WHERE v.key = ? AND n.language IS NOT NULL
"""
"""Two seeks and a row for each name of the entity; read only for languages other than those of the load."""

NAMES_STARTING = """
SELECT node, kind, language, text FROM name
WHERE text >= ?1 AND text < ?2 AND kind <> 2 ORDER BY text, kind, node LIMIT ?3
"""
"""One seek and the rows of the page."""

NAMES_MATCHING = """
SELECT n.node, n.kind, n.language, n.text
FROM (SELECT rowid FROM name_words WHERE name_words MATCH ?1 ORDER BY rowid LIMIT ?2) AS w
CROSS JOIN name AS n ON n.id = w.rowid
"""
"""Merges the postings of the words up to the limit, then one seek for each hit: never more than the limit."""

NAMES_MATCHING_EACH = """
SELECT j.key, n.node, n.kind, n.language, n.text
FROM json_each(?1) AS j CROSS JOIN name_words AS w ON w.name_words MATCH j.value
CROSS JOIN name AS n ON n.id = w.rowid LIMIT ?2
"""
"""As NAMES_MATCHING for several full-text queries, with one limit for all of them."""

NAMES_MATCHING_WITH_LABEL = """
SELECT n.node, n.kind, n.language, n.text
FROM (SELECT rowid FROM name_words WHERE name_words MATCH ?1 ORDER BY rowid LIMIT ?2) AS w
CROSS JOIN name AS n ON n.id = w.rowid
WHERE EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = n.node AND l.label = ?3)
UNION ALL
SELECT NULL, NULL, NULL, count(*) FROM (SELECT rowid FROM name_words WHERE name_words MATCH ?1 LIMIT ?2)
"""
"""As NAMES_MATCHING, and one seek more for each hit. The last row has the number of hits."""

NAMES_OF_LABEL_MATCHING = """
SELECT n.node, n.kind, n.language, n.text
FROM node_label AS l CROSS JOIN name AS n ON n.node = l.node
WHERE l.label = ?2 AND n.id IN (SELECT rowid FROM name_words WHERE name_words MATCH ?1)
"""
"""Merges the postings of the words, then two seeks for each node with the label."""

HUB_NAMES = """
SELECT m.id FROM (SELECT node FROM degree GROUP BY node ORDER BY sum(n) DESC LIMIT ?1) AS d
CROSS JOIN name AS m ON m.node = d.node AND m.kind <> 2
"""
"""Reads the counts of all hubs, once for an open file, and only for a word with more names than are read."""

NAMES_AMONG_MATCHING = """
SELECT n.node, n.kind, n.language, n.text
FROM json_each(?2) AS j CROSS JOIN name_words AS w ON w.rowid = j.value AND w.name_words MATCH ?1
CROSS JOIN name AS n ON n.id = w.rowid
"""
"""One look-up in the full-text index for each of the names."""

WORDS_IN_NAMES = """
SELECT j.key FROM json_each(?1) AS j WHERE EXISTS (SELECT 1 FROM name_words AS w WHERE w.name_words MATCH j.value)
"""
"""One look-up of each word in the full-text index."""

# Longer words need no correction, and FTS5 cuts words of 32 KB within a character, so that they are not valid text.
VOCABULARY = "SELECT term FROM name_vocabulary WHERE length(CAST(term AS BLOB)) < 1000"
"""All words of all names, once for an open file and only for a hint that no entity has as its exact name: some us each.
"""

WITH_LABEL = """
SELECT l.node FROM json_each(?1) AS j CROSS JOIN node_label AS l ON l.node = j.value AND l.label = ?2
"""
"""One seek for each node."""

NUMBER_OF_TEXTS = "SELECT count(*) FROM node WHERE mediator = 0"
"""Reads every node, once for an index of meanings."""

TEXTS_AFTER = "SELECT id, key, label, description FROM node WHERE id > ?1 AND mediator = 0 ORDER BY id LIMIT ?2"
"""One seek and the rows of the page."""

LABELLED = """
SELECT l.node FROM json_each(?1) AS j CROSS JOIN node_label AS l INDEXED BY label_node ON l.label = j.value
"""
"""One seek for each label, and an entry for each of its nodes."""
