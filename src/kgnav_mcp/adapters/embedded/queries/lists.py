"""Queries for nodes by property, for distinct values and for the schema."""

# Nodes by label and property --------------------------------------------------------------------------------------

ALL_NODES = "SELECT id FROM node WHERE id > :after ORDER BY id LIMIT :limit"
"""One seek, wherever the page starts, and the rows of the page."""

NODES_WITH_LABEL = "SELECT node FROM node_label WHERE label = :label AND node > :after ORDER BY node LIMIT :limit"
"""One seek, wherever the page starts, and the rows of the page."""

NODES_WITH_VALUE = """
SELECT DISTINCT a.node FROM attribute AS a
WHERE a.p = :property AND substr(a.text, 1, 64) = substr(:value, 1, 64) AND a.node > :after AND +a.text = :value
    AND (:label IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = a.node AND l.label = :label))
ORDER BY a.node LIMIT :limit
"""
"""One seek, wherever the page starts, then two for each node with the value until the page is full.

The plus sign keeps SQLite from substituting the value for `a.text`, which would keep it from using the index.
"""

NODES_WITH_EQUAL_VALUES = """
SELECT DISTINCT a.node FROM json_each(:values) AS j
CROSS JOIN attribute AS a ON a.p = :property AND substr(a.text, 1, 64) = substr(j.value ->> 0, 1, 64)
    AND +a.text = j.value ->> 0 AND (j.value ->> 1 IS NULL OR instr(j.value ->> 1, ' ' || a.datatype || ' ') > 0)
WHERE a.node > :after
    AND (:label IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = a.node AND l.label = :label))
ORDER BY a.node LIMIT :limit
"""
"""One seek for each value, wherever the page starts, then two for each node after the start of the page.

A value is a text and the datatypes that it may have, enclosed by blanks; null means any or none.
"""

TEXTS_BETWEEN = """
WITH RECURSIVE step (start, stop) AS (
    SELECT (SELECT min(substr(a.text, 1, 64)) FROM attribute AS a WHERE a.p = ?1
            AND substr(a.text, 1, 64) >= j.value ->> 0 AND substr(a.text, 1, 64) < j.value ->> 1), j.value ->> 1
    FROM json_each(?2) AS j
    UNION ALL
    SELECT (SELECT min(substr(a.text, 1, 64)) FROM attribute AS a WHERE a.p = ?1
            AND substr(a.text, 1, 64) > step.start AND substr(a.text, 1, 64) < step.stop), step.stop
    FROM step WHERE step.start IS NOT NULL
)
SELECT DISTINCT start FROM step WHERE start IS NOT NULL
"""
"""A skip scan: one seek for each range, and one for each distinct beginning of 64 characters in it."""

NODES_WITH_TAIL = """
SELECT DISTINCT e.s FROM json_each(:tails) AS j CROSS JOIN edge AS e ON e.o = j.value AND e.p = :property
WHERE e.s > :after
    AND (:label IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = e.s AND l.label = :label))
ORDER BY e.s LIMIT :limit
"""
"""One seek for each tail, then one for each node after the start of the page."""

NODES_WITH_EQUAL_VALUES_OR_TAIL = f"""
SELECT node FROM (
    SELECT node FROM ({NODES_WITH_EQUAL_VALUES}) UNION SELECT s FROM ({NODES_WITH_TAIL})
) ORDER BY node LIMIT :limit
"""  # noqa: S608 - constants of this file
"""Costs both, for a property that has literals and nodes as values."""

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

NODES_WITH_PROPERTY_OR_RELATION = """
SELECT v.id FROM node AS v WHERE v.id > :after AND (
    EXISTS (SELECT 1 FROM attribute AS a WHERE a.node = v.id AND a.p = :property)
    OR EXISTS (SELECT 1 FROM edge AS e WHERE e.s = v.id AND e.p = :property)
)
ORDER BY v.id LIMIT :limit
"""
"""Two seeks for each node of the graph, until the page is full."""

NODES_WITH_NAME = """
SELECT DISTINCT n.node FROM name AS n WHERE n.text = :value AND n.kind IN (0, 3) AND n.node > :after
    AND (:label IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = n.node AND l.label = :label))
ORDER BY n.node LIMIT :limit
"""
"""One seek, wherever the page starts, then one for each node of the name until the page is full."""

NODE_COUNTS = {
    query: f"SELECT count(*) FROM ({query})"  # noqa: S608 - constants of this file
    for query in (
        NODES_WITH_VALUE,
        NODES_WITH_EQUAL_VALUES,
        NODES_WITH_TAIL,
        NODES_WITH_EQUAL_VALUES_OR_TAIL,
        NODES_WITH_PROPERTY,
        NODES_WITH_LABEL_AND_PROPERTY,
        NODES_WITH_RELATION,
        NODES_WITH_PROPERTY_OR_RELATION,
        NODES_WITH_NAME,
    )
}
"""Costs as much as a page without a limit. Counted once for an open file, because the file never changes."""

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
SELECT text, datatype, language, node, n FROM attribute AS a WHERE a.p = ?1 AND substr(a.text, 1, 64) = ?2
    AND (?4 IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = a.node AND l.label = ?4))
ORDER BY node, n LIMIT ?3
"""
"""Two seeks for each row; a value shorter than 64 characters needs one row only, the first of a node with the label."""

VALUES_AT = """
SELECT a.text, a.datatype, a.language FROM json_each(?1) AS j
CROSS JOIN attribute AS a ON a.node = j.value ->> 0 AND a.p = ?2 AND a.n = j.value ->> 1 ORDER BY j.key
"""
"""One seek for each row."""

LIKE_NUMBERS = """
SELECT 1 FROM attribute WHERE p = ? AND substr(text, 1, 64) >= '+' AND substr(text, 1, 64) < ':' LIMIT 1
"""
"""Whether a value looks like a number. One seek: digits and signs lie between these two characters."""

VALUES_IN_ORDER = """
SELECT node, n, iif(length(beginning) < 64, NULL, beginning) FROM (
    SELECT substr(text, 1, 64) AS beginning, min(node) AS node, n FROM attribute AS a
    WHERE p = ?1 AND (?2 IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = a.node AND l.label = ?2))
    GROUP BY beginning
)
ORDER BY iif(beginning <= CAST('9e999' AS REAL), CAST(beginning AS REAL), NULL) NULLS LAST, beginning
"""
"""Reads the index over all values of the property and sorts the distinct ones, once for an open file.

SQLite compares a text with a REAL by its number if it is written as one; any other text is greater than all numbers.
"""

VALUE_COUNT = "SELECT count(DISTINCT text) FROM attribute WHERE p = ?"
"""One read over all values of the property, once for an open file and only where it has very many."""

NODES_OF_VALUES = """
SELECT (
    SELECT count(DISTINCT a.node) FROM attribute AS a
    WHERE a.p = ?2 AND substr(a.text, 1, 64) = substr(j.value, 1, 64) AND (length(j.value) < 64 OR +a.text = j.value)
        AND (?3 IS NULL OR EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = a.node AND l.label = ?3))
) FROM json_each(?1) AS j ORDER BY j.key
"""
"""One seek for each value and a read of the index for each node that has it; with a label one seek more for each."""

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

QUALIFIER_RELATIONS = "SELECT DISTINCT p FROM edge_qualifier WHERE key = ?"
"""A scan of the names of qualifiers: one row for each relation, name and datatype."""

QUALIFIER_KEYS = "SELECT DISTINCT key FROM edge_qualifier"
"""A scan of the names of qualifiers: one row for each relation, name and datatype."""

QUALIFIER_VALUES = """
SELECT v.value, count(*) FROM json_each(?1) AS j
CROSS JOIN edge AS e INDEXED BY edge_qualified ON e.p = j.value AND e.qualifiers IS NOT NULL
CROSS JOIN json_each(e.qualifiers) AS q ON q.key = ?2 CROSS JOIN json_each(q.value) AS v
WHERE v.key = 0 OR NOT EXISTS (
    SELECT 1 FROM json_each(q.value) AS w WHERE w.key < v.key AND (w.value = v.value OR w.value ->> 0 = v.value ->> 0)
)
GROUP BY v.value
"""
"""Reads the qualifiers of all edges of the relations. A value that an edge has twice is counted once."""

ATTRIBUTE_QUALIFIER_VALUES = """
SELECT v.value, count(*) FROM json_each(?1) AS j
CROSS JOIN attribute AS a ON a.p = j.value AND a.qualifiers IS NOT NULL
CROSS JOIN json_each(a.qualifiers) AS q ON q.key = ?2 CROSS JOIN json_each(q.value) AS v
WHERE v.key = 0 OR NOT EXISTS (
    SELECT 1 FROM json_each(q.value) AS w WHERE w.key < v.key AND (w.value = v.value OR w.value ->> 0 = v.value ->> 0)
)
GROUP BY v.value
"""
"""Reads all triples of the relations that have a literal as tail."""

# Schema -----------------------------------------------------------------------------------------------------------

ENDS = "SELECT side, label FROM edge_end WHERE p = ? ORDER BY side, n DESC, label"
"""One seek and a row for each label at either end of a relation."""

JOINS = "SELECT head, tail, n FROM edge_join WHERE p = ? ORDER BY n DESC, head, tail"
"""One seek and a row for each pair of labels that a relation joins."""

RELATIONS_AT_LABEL = "SELECT p, sum(n) FROM edge_end WHERE label = ? GROUP BY p"
"""Scans the end labels of all relations: statistics, small compared with the graph."""

QUALIFIERS_OF = (
    "SELECT key, datatype, n, items, multivalued FROM edge_qualifier WHERE p = ? ORDER BY n DESC, key, datatype"
)
"""One seek."""

DATATYPES_OF = "SELECT datatype FROM label_property WHERE p = ? GROUP BY datatype ORDER BY sum(n) DESC, datatype"
"""A scan of the properties of all labels: statistics, small beside the graph."""

PROPERTIES_OF_LABEL = """
SELECT p, datatype, n FROM label_property WHERE label = ? ORDER BY n DESC, p, datatype
"""
"""One seek and a row for each property and datatype of a label."""

PROPERTIES_OF_LABELS = """
SELECT o.label, o.p FROM json_each(?) AS j CROSS JOIN label_property AS o ON o.label = j.value
GROUP BY o.label, o.p ORDER BY o.label, sum(o.n) DESC, o.p
"""
"""One seek for each label, and a row for each of its properties and datatypes: statistics, small beside the graph."""

LABELS_OF_PROPERTY = (
    "SELECT label FROM label_property WHERE p = ? AND label > 0 GROUP BY label ORDER BY sum(n) DESC, label"
)
"""A scan of the properties of all labels: statistics, small beside the graph."""

VALUES_AT_LABEL = "SELECT sum(n) FROM label_property WHERE label = ? AND p = ?"
"""One seek."""

HAS_NAMES = "SELECT EXISTS (SELECT 1 FROM name WHERE kind IN (0, 3))"
"""Reads names until the first one that is neither an alias nor a description."""
