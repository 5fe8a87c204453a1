"""Every query the adapter asks a graph file, each with what it costs.

"Seek" is one descent in an index, some microseconds on any size of graph. Sets of nodes come as a JSON array, so that
one query serves one node and a thousand. CROSS JOIN fixes the order of loops as written: from few rows to many.
"""

META = "SELECT key, value FROM meta"
"""A few dozen rows, once for an open file."""

RELATIONS = "SELECT id, key, label, edges, attributes FROM relation"
"""All relations, once for an open file: under a microsecond each."""

LABELS = "SELECT id, key, name, nodes FROM label"
"""All labels, once for an open file."""

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

# Relations of a set of nodes --------------------------------------------------------------------------------------

HUB_COUNTS = """
SELECT d.p, sum(d.n) FROM json_each(?1) AS j CROSS JOIN degree AS d ON d.node = j.value AND d.direction = ?2
GROUP BY d.p
"""
"""One seek for each node and a row for each of a hub's relations, whatever its degree."""

EDGE_COUNTS_OUTGOING = """
SELECT e.p, count(*) FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.s = j.value
WHERE NOT EXISTS (SELECT 1 FROM degree AS d WHERE d.node = j.value AND d.direction = 0) GROUP BY e.p
"""
"""Reads the edges of nodes below the degree floor only: at most DEGREE_FLOOR a node."""

EDGE_COUNTS_INCOMING = """
SELECT e.p, count(*) FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.o = j.value
WHERE NOT EXISTS (SELECT 1 FROM degree AS d WHERE d.node = j.value AND d.direction = 1) GROUP BY e.p
"""
"""Reads the edges of nodes below the degree floor only: at most DEGREE_FLOOR a node."""

ATTRIBUTE_COUNTS = """
SELECT a.p, count(*) FROM json_each(?1) AS j CROSS JOIN attribute AS a ON a.node = j.value
WHERE NOT EXISTS (SELECT 1 FROM degree AS d WHERE d.node = j.value AND d.direction = 0) GROUP BY a.p
"""
"""Reads the attributes of nodes below the degree floor only: at most DEGREE_FLOOR a node."""

HUB_RELATIONS = "SELECT p FROM degree WHERE node = ? AND direction = ?"
"""One seek; no row means that the node is below the degree floor on that side."""

HUB_COUNTS_THROUGH = """
SELECT t.p1, t.p2, sum(t.n) FROM json_each(?1) AS j CROSS JOIN through AS t ON t.node = j.value AND t.direction = ?2
GROUP BY t.p1, t.p2
"""
"""One seek for each node and a row for each of a hub's two-hop relations."""

COUNTS_THROUGH_OUTGOING = """
SELECT e1.p, e2.p, count(*) FROM json_each(?1) AS j
CROSS JOIN edge AS e1 ON e1.s = j.value CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN edge AS e2 ON e2.s = m.id AND e2.o <> e1.s
WHERE NOT EXISTS (SELECT 1 FROM degree AS d WHERE d.node = j.value AND d.direction = 0) GROUP BY e1.p, e2.p
"""
"""At most DEGREE_FLOOR edges a node, a seek each, and the edges of those that are mediators."""

ATTRIBUTE_COUNTS_THROUGH = """
SELECT e1.p, a.p, count(*) FROM json_each(?1) AS j
CROSS JOIN edge AS e1 ON e1.s = j.value CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN attribute AS a ON a.node = m.id
WHERE NOT EXISTS (SELECT 1 FROM degree AS d WHERE d.node = j.value AND d.direction = 0) GROUP BY e1.p, a.p
"""
"""At most DEGREE_FLOOR edges a node, a seek each, and the attributes of those that are mediators."""

COUNTS_THROUGH_INCOMING = """
SELECT e1.p, e2.p, count(*) FROM json_each(?1) AS j
CROSS JOIN edge AS e2 ON e2.o = j.value CROSS JOIN node AS m ON m.id = e2.s AND m.mediator = 1
CROSS JOIN edge AS e1 ON e1.o = m.id AND e1.s <> e2.o
WHERE NOT EXISTS (SELECT 1 FROM degree AS d WHERE d.node = j.value AND d.direction = 1) GROUP BY e1.p, e2.p
"""
"""At most DEGREE_FLOOR edges a node, a seek each, and the edges of those that are mediators."""

EXAMPLE_ATTRIBUTES = """
SELECT DISTINCT a.text, a.datatype, a.language
FROM json_each(?1) AS j CROSS JOIN attribute AS a ON a.node = j.value AND a.p = ?2 LIMIT ?3
"""
"""One seek for each node until there are enough."""

EXAMPLE_TAILS = """
SELECT DISTINCT v.id, v.key, v.label, v.mediator FROM json_each(?1) AS j
CROSS JOIN edge AS e ON e.s = j.value AND e.p = ?2 CROSS JOIN node AS v ON v.id = e.o LIMIT ?3
"""
"""One seek for each node and two for each example."""

EXAMPLE_HEADS = """
SELECT DISTINCT v.id, v.key, v.label, v.mediator FROM json_each(?1) AS j
CROSS JOIN edge AS e ON e.o = j.value AND e.p = ?2 CROSS JOIN node AS v ON v.id = e.s LIMIT ?3
"""
"""One seek for each node and two for each example."""

EXAMPLE_TAILS_THROUGH = """
SELECT DISTINCT v.id, v.key, v.label, v.mediator FROM json_each(?1) AS j
CROSS JOIN edge AS e1 ON e1.s = j.value AND e1.p = ?2 CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN edge AS e2 ON e2.s = m.id AND e2.p = ?3 AND e2.o <> e1.s CROSS JOIN node AS v ON v.id = e2.o LIMIT ?4
"""
"""Four seeks for each example; mediators without that second relation cost two each."""

EXAMPLE_ATTRIBUTES_THROUGH = """
SELECT DISTINCT a.text, a.datatype, a.language FROM json_each(?1) AS j
CROSS JOIN edge AS e1 ON e1.s = j.value AND e1.p = ?2 CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN attribute AS a ON a.node = m.id AND a.p = ?3 LIMIT ?4
"""
"""Three seeks for each example; mediators without that second relation cost two each."""

EXAMPLE_HEADS_THROUGH = """
SELECT DISTINCT v.id, v.key, v.label, v.mediator FROM json_each(?1) AS j
CROSS JOIN edge AS e2 ON e2.o = j.value AND e2.p = ?3 CROSS JOIN node AS m ON m.id = e2.s AND m.mediator = 1
CROSS JOIN edge AS e1 ON e1.o = m.id AND e1.p = ?2 AND e1.s <> e2.o CROSS JOIN node AS v ON v.id = e1.s LIMIT ?4
"""
"""Four seeks for each example; mediators without that first relation cost two each."""

LITERAL_COUNT = """
SELECT count(*) FROM json_each(?1) AS j CROSS JOIN attribute AS a ON a.node = j.value AND a.p = ?2
"""
"""One seek for each node, and its values of a relation that has both literals and nodes as tails."""

LITERAL_COUNT_THROUGH = """
SELECT count(*) FROM json_each(?1) AS j CROSS JOIN edge AS e1 ON e1.s = j.value AND e1.p = ?2
CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1 CROSS JOIN attribute AS a ON a.node = m.id AND a.p = ?3
"""
"""Two seeks for each mediator, where its relation has both literals and nodes as tails."""

# Neighbours of one node -------------------------------------------------------------------------------------------

TAILS = """
SELECT e.p, e.o, e.n, e.qualifiers, v.key, v.label, v.mediator
FROM edge AS e CROSS JOIN node AS v ON v.id = e.o WHERE e.s = ?
"""
"""For nodes below the degree floor: one seek, then one for each of at most DEGREE_FLOOR rows."""

HEADS = """
SELECT e.p, e.s, e.n, e.qualifiers, v.key, v.label, v.mediator
FROM edge AS e CROSS JOIN node AS v ON v.id = e.s WHERE e.o = ?
"""
"""For nodes below the degree floor: one seek, then two for each of at most DEGREE_FLOOR rows."""

ATTRIBUTES = "SELECT p, n, text, datatype, language, qualifiers FROM attribute WHERE node = ?"
"""For nodes below the degree floor: one seek and at most DEGREE_FLOOR rows."""

ATTRIBUTES_BY = """
SELECT p, n, text, datatype, language, qualifiers FROM attribute WHERE node = ? AND p = ? AND n > ? ORDER BY n LIMIT ?
"""
"""One seek, wherever the page starts, and the rows of the page."""

TAILS_BY = """
SELECT e.p, e.o, e.n, e.qualifiers, v.key, v.label, v.mediator FROM edge AS e CROSS JOIN node AS v ON v.id = e.o
WHERE e.s = ? AND e.p = ? AND (e.o, e.n) > (?, ?) ORDER BY e.o, e.n LIMIT ?
"""
"""One seek, wherever the page starts, then one for each row of the page."""

HEADS_BY = """
SELECT e.p, e.s, e.n, e.qualifiers, v.key, v.label, v.mediator FROM edge AS e CROSS JOIN node AS v ON v.id = e.s
WHERE e.o = ? AND e.p = ? AND (e.s, e.n) > (?, ?) ORDER BY e.s, e.n LIMIT ?
"""
"""One seek, wherever the page starts, then two for each row of the page."""

TAILS_THROUGH = """
SELECT e1.o, e1.n, e2.o, e2.n, e1.qualifiers, e2.qualifiers, m.key, v.key, v.label, v.mediator
FROM edge AS e1 CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN edge AS e2 ON e2.s = e1.o AND e2.p = ?3 AND e2.o <> e1.s CROSS JOIN node AS v ON v.id = e2.o
WHERE e1.s = ?1 AND e1.p = ?2 AND e1.o >= ?4 AND (e1.o, e1.n, e2.o, e2.n) > (?4, ?5, ?6, ?7)
ORDER BY e1.o, e1.n, e2.o, e2.n LIMIT ?8
"""
"""One seek to the mediator the page starts in, then three for each row of the page."""

ATTRIBUTES_THROUGH = """
SELECT e1.o, e1.n, a.n, e1.qualifiers, a.qualifiers, m.key, a.text, a.datatype, a.language
FROM edge AS e1 CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN attribute AS a ON a.node = e1.o AND a.p = ?3
WHERE e1.s = ?1 AND e1.p = ?2 AND e1.o >= ?4 AND (e1.o, e1.n, a.n) > (?4, ?5, ?6)
ORDER BY e1.o, e1.n, a.n LIMIT ?7
"""
"""One seek to the mediator the page starts in, then two for each row of the page."""

HEADS_THROUGH = """
SELECT e2.s, e2.n, e1.s, e1.n, e1.qualifiers, e2.qualifiers, m.key, v.key, v.label, v.mediator
FROM edge AS e2 CROSS JOIN node AS m ON m.id = e2.s AND m.mediator = 1
CROSS JOIN edge AS e1 ON e1.o = e2.s AND e1.p = ?2 AND e1.s <> e2.o CROSS JOIN node AS v ON v.id = e1.s
WHERE e2.o = ?1 AND e2.p = ?3 AND e2.s >= ?4 AND (e2.s, e2.n, e1.s, e1.n) > (?4, ?5, ?6, ?7)
ORDER BY e2.s, e2.n, e1.s, e1.n LIMIT ?8
"""
"""One seek to the mediator the page starts in, then three for each row of the page."""

# Names ------------------------------------------------------------------------------------------------------------

NAMES_EQUAL = """
SELECT n.node, n.kind, n.language, n.text
FROM json_each(?1) AS j CROSS JOIN name AS n ON n.text = j.value AND n.kind < 2 LIMIT ?2
"""
"""One seek for each text, and a row for each entity of that name."""

NAMES_STARTING = """
SELECT node, kind, language, text FROM name
WHERE text >= ?1 AND text < ?2 AND kind < 2 ORDER BY text, kind, node LIMIT ?3
"""
"""One seek and the rows of the page."""

NAMES_MATCHING = """
SELECT n.node, n.kind, n.language, n.text
FROM (SELECT rowid FROM name_words WHERE name_words MATCH ?1 ORDER BY rowid LIMIT ?2) AS w
CROSS JOIN name AS n ON n.id = w.rowid
"""
"""Merges the postings of the words up to the limit, then one seek for each hit: never more than the limit."""

NAMES_MATCHING_WITH_LABEL = """
SELECT n.node, n.kind, n.language, n.text
FROM (SELECT rowid FROM name_words WHERE name_words MATCH ?1 ORDER BY rowid LIMIT ?2) AS w
CROSS JOIN name AS n ON n.id = w.rowid
WHERE EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = n.node AND l.label = ?3)
"""
"""As above, and one seek more for each hit."""

WORD_EXISTS = "SELECT 1 FROM name_words WHERE name_words MATCH ? LIMIT 1"
"""One look-up of a word in the full-text index."""

VOCABULARY = "SELECT term FROM name_vocabulary"
"""All words of all names, once for an open file and only when a word is misspelt: some microseconds each."""

WITH_LABEL = """
SELECT l.node FROM json_each(?1) AS j CROSS JOIN node_label AS l ON l.node = j.value AND l.label = ?2
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

# Nodes by label and property --------------------------------------------------------------------------------------

ALL_NODES = "SELECT id FROM node WHERE id > :after ORDER BY id LIMIT :limit"
"""One seek, wherever the page starts, and the rows of the page."""

NODES_WITH_LABEL = "SELECT node FROM node_label WHERE label = :label AND node > :after ORDER BY node LIMIT :limit"
"""One seek, wherever the page starts, and the rows of the page."""

NODES_WITH_VALUE = """
SELECT DISTINCT a.node FROM attribute AS a
WHERE a.p = :property AND substr(a.text, 1, 64) = substr(:value, 1, 64) AND a.node > :after AND a.text = :value
    AND (:label IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = a.node AND l.label = :label))
ORDER BY a.node LIMIT :limit
"""
"""One seek, wherever the page starts, then two for each node with the value until the page is full."""

NODES_WITH_TAIL = """
SELECT DISTINCT e.s FROM json_each(:tails) AS j CROSS JOIN edge AS e ON e.o = j.value AND e.p = :property
WHERE e.s > :after
    AND (:label IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = e.s AND l.label = :label))
ORDER BY e.s LIMIT :limit
"""
"""One seek for each tail, then one for each node behind the start of the page."""

NODES_WITH_PROPERTY = (
    "SELECT DISTINCT node FROM attribute WHERE p = :property AND node > :after ORDER BY node LIMIT :limit"
)
"""Reads and sorts all values of the property."""

NODES_WITH_LABEL_AND_PROPERTY = """
SELECT l.node FROM node_label AS l WHERE l.label = :label AND l.node > :after
    AND (EXISTS (SELECT 1 FROM attribute AS a WHERE a.node = l.node AND a.p = :property)
        OR EXISTS (SELECT 1 FROM edge AS e WHERE e.s = l.node AND e.p = :property))
ORDER BY l.node LIMIT :limit
"""
"""Two seeks for each node with the label, until the page is full."""

NODES_WITH_RELATION = """
SELECT v.id FROM node AS v WHERE v.id > :after AND EXISTS (SELECT 1 FROM edge AS e WHERE e.s = v.id AND e.p = :property)
ORDER BY v.id LIMIT :limit
"""
"""One seek for each node of the graph, until the page is full."""

NODES_WITH_NAME = """
SELECT DISTINCT n.node FROM name AS n WHERE n.text = :value AND n.kind = 0 AND n.node > :after
    AND (:label IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = n.node AND l.label = :label))
ORDER BY n.node LIMIT :limit
"""
"""One seek, wherever the page starts, then one for each node of the name until the page is full."""

NODE_COUNTS = {
    query: f"SELECT count(*) FROM ({query})"  # noqa: S608 - constants of this file
    for query in (
        NODES_WITH_VALUE,
        NODES_WITH_TAIL,
        NODES_WITH_PROPERTY,
        NODES_WITH_LABEL_AND_PROPERTY,
        NODES_WITH_RELATION,
        NODES_WITH_NAME,
    )
}
"""The cost of a page without a limit; counted once for an open file, because the file never changes."""

# Distinct values --------------------------------------------------------------------------------------------------

VALUE_AT = "SELECT text FROM attribute WHERE node = ? AND p = ? AND n = ?"
"""One seek."""

BEGINNINGS = """
WITH RECURSIVE step (start) AS (
    SELECT min(substr(text, 1, 64)) FROM attribute WHERE p = ?1 AND substr(text, 1, 64) >= ?2
    UNION ALL
    SELECT (SELECT min(substr(a.text, 1, 64)) FROM attribute AS a WHERE a.p = ?1 AND substr(a.text, 1, 64) > step.start)
    FROM step WHERE step.start IS NOT NULL
)
SELECT start FROM step WHERE start IS NOT NULL LIMIT ?3
"""
"""A skip scan: one seek for each distinct beginning of 64 characters, however many nodes share it."""

VALUES_BEGINNING = """
SELECT text, datatype, language, node, n FROM attribute WHERE p = ?1 AND substr(text, 1, 64) = ?2
ORDER BY node, n LIMIT ?3
"""
"""One seek for each row; a value shorter than 64 characters needs one row only."""

SHORT_VALUE_COUNT = """
SELECT count(DISTINCT substr(text, 1, 64)) FROM attribute WHERE p = ?1 AND length(substr(text, 1, 64)) < 64
"""
"""One read over all values of the property, once for an open file."""

LONG_VALUE_COUNT = """
SELECT count(DISTINCT text) FROM attribute WHERE p = ?1 AND length(substr(text, 1, 64)) = 64
"""
"""One read over all values of the property, once for an open file."""

VALUES_OF_LABEL = """
SELECT a.text, a.datatype, a.language, min(a.node), a.n
FROM node_label AS l CROSS JOIN attribute AS a ON a.node = l.node AND a.p = ?2
WHERE l.label = ?1 AND (?3 IS NULL OR a.text > ?3) GROUP BY a.text ORDER BY a.text LIMIT ?4
"""
"""One seek for each node with the label, and a sort of their values."""

VALUE_COUNT_OF_LABEL = """
SELECT count(DISTINCT a.text) FROM node_label AS l CROSS JOIN attribute AS a ON a.node = l.node AND a.p = ?2
WHERE l.label = ?1
"""
"""One seek for each node with the label, once for an open file."""

QUALIFIER_RELATIONS = "SELECT p FROM edge_qualifier WHERE key = ?"
"""A scan of the names of qualifiers: one row for each relation and name."""

QUALIFIER_KEYS = "SELECT DISTINCT key FROM edge_qualifier"
"""A scan of the names of qualifiers: one row for each relation and name."""

QUALIFIER_VALUES = """
SELECT DISTINCT v.value FROM json_each(?1) AS j
CROSS JOIN edge AS e INDEXED BY edge_qualified ON e.p = j.value AND e.qualifiers IS NOT NULL
CROSS JOIN json_each(e.qualifiers) AS q ON q.key = ?2 CROSS JOIN json_each(q.value) AS v
"""
"""Reads the qualifiers of all edges of the relations."""

ATTRIBUTE_QUALIFIER_VALUES = """
SELECT DISTINCT v.value FROM json_each(?1) AS j
CROSS JOIN attribute AS a ON a.p = j.value AND a.qualifiers IS NOT NULL
CROSS JOIN json_each(a.qualifiers) AS q ON q.key = ?2 CROSS JOIN json_each(q.value) AS v
"""
"""Reads all triples of the relations that have a literal as tail."""

# Schema -----------------------------------------------------------------------------------------------------------

ENDS = "SELECT side, label FROM edge_end WHERE p = ? ORDER BY side, n DESC, label"
"""One seek and a row for each label at either end of a relation."""

RELATIONS_AT_LABEL = "SELECT p, sum(n) FROM edge_end WHERE label = ? GROUP BY p"
"""A scan of the ends of all relations: statistics, small beside the graph."""

QUALIFIERS_OF = "SELECT key FROM edge_qualifier WHERE p = ? ORDER BY n DESC, key"
"""One seek."""

DATATYPES_OF = "SELECT datatype FROM label_property WHERE p = ? GROUP BY datatype ORDER BY sum(n) DESC, datatype"
"""A scan of the properties of all labels: statistics, small beside the graph."""

PROPERTIES_OF_LABEL = """
SELECT p, datatype, n FROM label_property WHERE label = ? ORDER BY n DESC, p, datatype
"""
"""One seek and a row for each property and datatype of a label."""

LABELS_OF_PROPERTY = (
    "SELECT label FROM label_property WHERE p = ? AND label > 0 GROUP BY label ORDER BY sum(n) DESC, label"
)
"""A scan of the properties of all labels: statistics, small beside the graph."""

VALUES_AT_LABEL = "SELECT sum(n) FROM label_property WHERE label = ? AND p = ?"
"""One seek."""

HAS_NAMES = "SELECT EXISTS (SELECT 1 FROM name WHERE kind = 0)"
"""Reads names until the first one that is no alias or description."""
