"""Queries for the relations and the rows around nodes."""

# Relations of a set of nodes --------------------------------------------------------------------------------------

HUB_COUNTS = """
SELECT d.p, sum(d.n) FROM json_each(?1) AS j CROSS JOIN degree AS d ON d.node = j.value AND d.direction = ?2
GROUP BY d.p
"""
"""One seek for each node and a row for each of a hub's relations, whatever its degree."""

HUB_AND_TAILS = """
SELECT d.p, d.n, v.key, v.label, v.mediator FROM degree AS d LEFT JOIN node AS v ON v.id IN (
    SELECT DISTINCT e.o FROM edge AS e WHERE e.s = ?1 AND e.p = d.p LIMIT ?2
) WHERE d.node = ?1 AND d.direction = 0
"""
"""For one hub: one seek, then for each of its relations one, and two for each example."""

HUB_AND_HEADS = """
SELECT d.p, d.n, v.key, v.label, v.mediator FROM degree AS d LEFT JOIN node AS v ON v.id IN (
    SELECT DISTINCT e.s FROM edge AS e WHERE e.o = ?1 AND e.p = d.p LIMIT ?2
) WHERE d.node = ?1 AND d.direction = 1
"""
"""For one hub: one seek, then for each of its relations one, and two for each example."""

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

HUB_ROWS = """
SELECT d.node, d.p, d.n FROM json_each(?1) AS j CROSS JOIN degree AS d ON d.node = j.value AND d.direction = ?2
"""
"""One seek for each node and a row for each of a hub's relations; nodes below the degree floor have none."""

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
SELECT r.value, v.key, v.label, v.mediator FROM json_each(?2) AS r CROSS JOIN node AS v ON v.id IN (
    SELECT DISTINCT e.o FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.s = j.value AND e.p = r.value LIMIT ?3
)
"""
"""For each relation one seek for each node and two for each example."""

EXAMPLE_HEADS = """
SELECT r.value, v.key, v.label, v.mediator FROM json_each(?2) AS r CROSS JOIN node AS v ON v.id IN (
    SELECT DISTINCT e.s FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.o = j.value AND e.p = r.value LIMIT ?3
)
"""
"""For each relation one seek for each node and two for each example."""

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

# Qualifiers -------------------------------------------------------------------------------------------------------

QUALIFIED = """
WITH said AS (
    SELECT * FROM (
        SELECT s, p, o, NULL AS text, NULL AS datatype, NULL AS language, qualifiers FROM edge
        WHERE qualifiers IS NOT NULL LIMIT :most
    ) UNION ALL SELECT * FROM (
        SELECT node, p, NULL, text, datatype, language, qualifiers FROM attribute
        WHERE p IN (SELECT p FROM edge_qualifier) LIMIT :most
    )
)
SELECT * FROM said WHERE instr(qualifiers, :written) AND EXISTS (
    SELECT 1 FROM json_tree(said.qualifiers) AS j WHERE j.key = 'id' AND j.atom = :key
) LIMIT :limit
"""
"""Reads all edges with qualifiers and all attributes of relations with some: 3 us each, up to :most of either."""

UNREAD = """
SELECT EXISTS (SELECT 1 FROM edge WHERE qualifiers IS NOT NULL LIMIT 1 OFFSET :most)
    OR EXISTS (SELECT 1 FROM attribute WHERE p IN (SELECT p FROM edge_qualifier) LIMIT 1 OFFSET :most)
"""
"""Whether QUALIFIED leaves some unread: up to 0.5 us for each of :most entries of either index."""

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
