"""Queries for the relations and the rows around nodes."""

import re
from enum import StrEnum
from functools import cache

# Relations of a set of nodes --------------------------------------------------------------------------------------

HUB_ROWS = """
SELECT d.node, d.direction, d.p, d.n FROM json_each(?1) AS j CROSS JOIN degree AS d ON d.node = j.value
"""
"""One seek for each node and a row for each of a hub's relations; nodes below the degree floor have none."""

EDGE_COUNTS_OUTGOING = """
SELECT e.s, count(*) FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.s = j.value
WHERE ?2 IS NULL OR e.p IN (SELECT value FROM json_each(?2)) GROUP BY e.s
"""
"""For nodes below the degree floor: one seek and at most DEGREE_FLOOR rows each."""

EDGE_COUNTS_INCOMING = """
SELECT e.o, count(*) FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.o = j.value
WHERE ?2 IS NULL OR e.p IN (SELECT value FROM json_each(?2)) GROUP BY e.o
"""
"""For nodes below the degree floor: one seek and at most DEGREE_FLOOR rows each."""

ATTRIBUTE_COUNTS = """
SELECT a.node, count(*) FROM json_each(?1) AS j CROSS JOIN attribute AS a ON a.node = j.value
WHERE ?2 IS NULL OR a.p IN (SELECT value FROM json_each(?2)) GROUP BY a.node
"""
"""For nodes below the degree floor: one seek and at most DEGREE_FLOOR rows each."""

RELATIONS_OUTGOING = """
SELECT j.value, (SELECT group_concat(e.p) FROM edge AS e WHERE e.s = j.value) FROM json_each(?1) AS j
"""
"""For nodes below the degree floor: the relations of all rows of a node as one text. Half the cost of GROUP BY."""

RELATIONS_INCOMING = """
SELECT j.value, (SELECT group_concat(e.p) FROM edge AS e WHERE e.o = j.value) FROM json_each(?1) AS j
"""
"""As RELATIONS_OUTGOING."""

RELATIONS_OF_ATTRIBUTES = """
SELECT j.value, (SELECT group_concat(a.p) FROM attribute AS a WHERE a.node = j.value) FROM json_each(?1) AS j
"""
"""As RELATIONS_OUTGOING."""

HUB_COUNTS_THROUGH = """
SELECT t.node, t.p1, t.p2, t.n FROM json_each(?1) AS j
CROSS JOIN through AS t ON t.node = j.value AND t.direction = ?2
"""
"""One seek for each node and a row for each of a hub's two-hop relations."""

COUNTS_THROUGH_OUTGOING = """
SELECT e1.s, e1.p, e2.p, count(*) FROM json_each(?1) AS j
CROSS JOIN edge AS e1 ON e1.s = j.value CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN edge AS e2 ON e2.s = m.id AND e2.o <> e1.s GROUP BY e1.s, e1.p, e2.p
"""
"""For nodes below the degree floor: at most DEGREE_FLOOR edges each, a seek for each, and mediators' edges."""

ATTRIBUTE_COUNTS_THROUGH = """
SELECT e1.s, e1.p, a.p, count(*) FROM json_each(?1) AS j
CROSS JOIN edge AS e1 ON e1.s = j.value CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN attribute AS a ON a.node = m.id GROUP BY e1.s, e1.p, a.p
"""
"""For nodes below the degree floor: at most DEGREE_FLOOR edges each, a seek for each, and mediators' attributes."""

COUNTS_THROUGH_INCOMING = """
SELECT e2.o, e1.p, e2.p, count(*) FROM json_each(?1) AS j
CROSS JOIN edge AS e2 ON e2.o = j.value CROSS JOIN node AS m ON m.id = e2.s AND m.mediator = 1
CROSS JOIN edge AS e1 ON e1.o = m.id AND e1.s <> e2.o GROUP BY e2.o, e1.p, e2.p
"""
"""For nodes below the degree floor: at most DEGREE_FLOOR edges each, a seek for each, and mediators' edges."""

LITERAL_COUNTS = """
SELECT a.node, count(*) FROM json_each(?1) AS j CROSS JOIN attribute AS a ON a.node = j.value AND a.p = ?2
GROUP BY a.node
"""
"""For hubs: one seek for each, and its values of a relation that has both literals and nodes as tails."""

LITERAL_COUNTS_THROUGH = """
SELECT e1.s, count(*) FROM json_each(?1) AS j CROSS JOIN edge AS e1 ON e1.s = j.value AND e1.p = ?2
CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1 CROSS JOIN attribute AS a ON a.node = m.id AND a.p = ?3
GROUP BY e1.s
"""
"""For hubs: two seeks for each mediator, where its relation has both literals and nodes as tails."""

EXAMPLE_ATTRIBUTES = """
SELECT DISTINCT a.text, a.datatype, a.language
FROM json_each(?1) AS j CROSS JOIN attribute AS a ON a.node = j.value AND a.p = ?2 LIMIT ?3
"""
"""One seek for each node until there are enough."""

EXAMPLE_TAILS = """
SELECT r.key, v.key, v.label, v.mediator FROM json_each(?1) AS r CROSS JOIN node AS v ON v.id IN (
    SELECT DISTINCT e.o FROM json_each(r.value) AS j CROSS JOIN edge AS e ON e.s = j.value AND e.p = r.key LIMIT ?2
)
"""
"""For each relation one seek for each of its nodes until there are enough, and two for each example."""

EXAMPLE_HEADS = """
SELECT r.key, v.key, v.label, v.mediator FROM json_each(?1) AS r CROSS JOIN node AS v ON v.id IN (
    SELECT DISTINCT e.s FROM json_each(r.value) AS j CROSS JOIN edge AS e ON e.o = j.value AND e.p = r.key LIMIT ?2
)
"""
"""For each relation one seek for each of its nodes until there are enough, and two for each example."""

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

# Qualifiers -------------------------------------------------------------------------------------------------------

QUALIFIED = """
WITH said AS (
    SELECT * FROM (
        SELECT s, p, o, NULL AS text, NULL AS datatype, NULL AS language, NULL AS item, qualifiers FROM edge
        WHERE qualifiers IS NOT NULL LIMIT :most
    ) UNION ALL SELECT * FROM (
        SELECT node, p, NULL, text, datatype, language, item, qualifiers FROM attribute
        WHERE p IN (SELECT p FROM edge_qualifier) LIMIT :most
    )
)
SELECT * FROM said WHERE instr(qualifiers, :written) AND EXISTS (
    SELECT 1 FROM json_tree(said.qualifiers) AS j WHERE j.key = 'id' AND j.atom = :key
) LIMIT :limit
"""
"""Reads all edges with qualifiers, and all attributes of relations with qualifiers: 3 us each, up to :most of both."""

UNREAD = """
SELECT EXISTS (SELECT 1 FROM edge WHERE qualifiers IS NOT NULL LIMIT 1 OFFSET :most)
    OR EXISTS (SELECT 1 FROM attribute WHERE p IN (SELECT p FROM edge_qualifier) LIMIT 1 OFFSET :most)
"""
"""Whether QUALIFIED leaves rows unread: up to 0.5 us for each of :most entries of either index."""

# Rows of small nodes ----------------------------------------------------------------------------------------------

TAILS = """
SELECT e.s, e.p, e.o, e.n, e.qualifiers, v.key, v.label, v.mediator
FROM json_each(:nodes) AS j CROSS JOIN edge AS e ON e.s = j.value CROSS JOIN node AS v ON v.id = e.o
WHERE (:relations IS NULL OR e.p IN (SELECT value FROM json_each(:relations))) /* far: e.o */
"""
"""For nodes below the degree floor: one seek each, then one for each of at most DEGREE_FLOOR rows."""

HEADS = """
SELECT e.o, e.p, e.s, e.n, e.qualifiers, v.key, v.label, v.mediator
FROM json_each(:nodes) AS j CROSS JOIN edge AS e ON e.o = j.value CROSS JOIN node AS v ON v.id = e.s
WHERE (:relations IS NULL OR e.p IN (SELECT value FROM json_each(:relations))) /* far: e.s */
"""
"""For nodes below the degree floor: one seek each, then two for each of at most DEGREE_FLOOR rows."""

ATTRIBUTES = """
SELECT a.node, a.p, a.n, a.qualifiers, a.text, a.datatype, a.language, a.item
FROM json_each(:nodes) AS j CROSS JOIN attribute AS a ON a.node = j.value
WHERE (:relations IS NULL OR a.p IN (SELECT value FROM json_each(:relations))) /* far: a.text */
"""
"""For nodes below the degree floor: one seek and at most DEGREE_FLOOR rows each."""

# Edges between two sets of nodes ------------------------------------------------------------------------------------

EDGES_OF_HEADS = """
SELECT e.s, e.p, e.o, e.n FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.s = j.value
WHERE e.o IN (SELECT value FROM json_each(?2)) AND (?3 IS NULL OR e.p IN (SELECT value FROM json_each(?3)))
"""
"""One seek for each head, and all of its edges."""

EDGES_OF_TAILS = """
SELECT e.s, e.p, e.o, e.n FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.o = j.value
WHERE e.s IN (SELECT value FROM json_each(?2)) AND (?3 IS NULL OR e.p IN (SELECT value FROM json_each(?3)))
"""
"""One seek for each tail, and all of its edges."""

EDGES_OF_HUB_HEADS = """
SELECT e.s, e.p, e.o, e.n FROM json_each(?1) AS j CROSS JOIN json_each(j.value) AS r
CROSS JOIN json_each(?2) AS t CROSS JOIN edge AS e ON e.s = j.key AND e.p = r.value AND e.o = t.value
"""
"""For each head and each of its relations one seek for each tail, whatever its degree."""

EDGES_OF_HUB_TAILS = """
SELECT e.s, e.p, e.o, e.n FROM json_each(?1) AS j CROSS JOIN json_each(j.value) AS r
CROSS JOIN json_each(?2) AS h CROSS JOIN edge AS e ON e.o = j.key AND e.p = r.value AND e.s = h.value
"""
"""For each tail and each of its relations one seek for each head, whatever its degree."""

QUALIFIERS_OF_EDGES = """
SELECT j.key, e.qualifiers FROM json_each(?1) AS j CROSS JOIN edge AS e
ON e.s = json_extract(j.value, '$[0]') AND e.p = json_extract(j.value, '$[1]')
    AND e.o = json_extract(j.value, '$[2]') AND e.n = json_extract(j.value, '$[3]')
"""
"""One seek for each edge."""

# Rows of one relation, or of two through mediators, at one node -----------------------------------------------------

ATTRIBUTES_BY = """
SELECT a.node, a.p, a.n, a.qualifiers, a.text, a.datatype, a.language, a.item FROM attribute AS a
WHERE a.node = :node AND a.p = :p AND a.n > :a /* far: a.text */ ORDER BY a.n LIMIT :most
"""
"""One seek, wherever the page starts, and the rows of the page."""

TAILS_BY = """
SELECT e.s, e.p, e.o, e.n, e.qualifiers, v.key, v.label, v.mediator FROM edge AS e CROSS JOIN node AS v ON v.id = e.o
WHERE e.s = :node AND e.p = :p AND (e.o, e.n) > (:a, :b) /* far: e.o */ ORDER BY e.o, e.n LIMIT :most
"""
"""One seek, wherever the page starts, then one for each row of the page."""

HEADS_BY = """
SELECT e.o, e.p, e.s, e.n, e.qualifiers, v.key, v.label, v.mediator FROM edge AS e CROSS JOIN node AS v ON v.id = e.s
WHERE e.o = :node AND e.p = :p AND (e.s, e.n) > (:a, :b) /* far: e.s */ ORDER BY e.s, e.n LIMIT :most
"""
"""One seek, wherever the page starts, then two for each row of the page."""

TAILS_THROUGH = """
SELECT e1.o, e1.n, e2.o, e2.n, e1.qualifiers, e2.qualifiers, m.key, v.key, v.label, v.mediator
FROM edge AS e1 CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN edge AS e2 ON e2.s = e1.o AND e2.p = :q AND e2.o <> e1.s CROSS JOIN node AS v ON v.id = e2.o
WHERE e1.s = :node AND e1.p = :p AND e1.o >= :a AND (e1.o, e1.n, e2.o, e2.n) > (:a, :b, :c, :d) /* far: e2.o */
ORDER BY e1.o, e1.n, e2.o, e2.n LIMIT :most
"""
"""One seek to the mediator the page starts in, then three for each row of the page."""

ATTRIBUTES_THROUGH = """
SELECT e1.o, e1.n, a.n, e1.qualifiers, a.qualifiers, m.key, a.text, a.datatype, a.language, a.item
FROM edge AS e1 CROSS JOIN node AS m ON m.id = e1.o AND m.mediator = 1
CROSS JOIN attribute AS a ON a.node = e1.o AND a.p = :q
WHERE e1.s = :node AND e1.p = :p AND e1.o >= :a AND (e1.o, e1.n, a.n) > (:a, :b, :c) /* far: a.text */
ORDER BY e1.o, e1.n, a.n LIMIT :most
"""
"""One seek to the mediator the page starts in, then two for each row of the page."""

HEADS_THROUGH = """
SELECT e2.s, e2.n, e1.s, e1.n, e1.qualifiers, e2.qualifiers, m.key, v.key, v.label, v.mediator
FROM edge AS e2 CROSS JOIN node AS m ON m.id = e2.s AND m.mediator = 1
CROSS JOIN edge AS e1 ON e1.o = e2.s AND e1.p = :p AND e1.s <> e2.o CROSS JOIN node AS v ON v.id = e1.s
WHERE e2.o = :node AND e2.p = :q AND e2.s >= :a AND (e2.s, e2.n, e1.s, e1.n) > (:a, :b, :c, :d) /* far: e1.s */
ORDER BY e2.s, e2.n, e1.s, e1.n LIMIT :most
"""
"""One seek to the mediator the page starts in, then three for each row of the page."""

# Conditions on far ends ---------------------------------------------------------------------------------------------

_FAR_END_MARK = re.compile(r"/\* far: (\S+) \*/")
"""Marks where a query takes a condition on far ends, and which column they are: an entity's number or a text."""


class FarEndCondition(StrEnum):
    """Conditions on far ends, each with its cost."""

    AMONG_FOUND = "{far} IN (SELECT value FROM json_each(:found))"
    """One seek for each node found before, whatever the degree."""
    LABELLED = """
EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = {far} AND l.label IN (SELECT value FROM json_each(:labels)))
"""
    """One seek for each row scanned."""
    NAME_MATCHES = "kg_name_matches(v.key, v.label, v.mediator)"
    """Some microseconds for each row scanned; so does TEXT_MATCHES."""
    TEXT_MATCHES = "kg_text_matches({far})"


@cache
def narrowed(query: str, conditions: tuple[FarEndCondition, ...]) -> str:
    """Returns a query for rows with conditions on the far ends added.

    With AMONG_FOUND, SQLite should seek by the far end's number. A plus sign keeps it from using the start of the page
    for the index instead.
    """
    mark = _FAR_END_MARK.search(query)
    assert mark is not None, query  # noqa: S101 - every query for rows has the mark
    far = mark[1]
    if FarEndCondition.AMONG_FOUND in conditions:
        query = query.replace(f" AND ({far}, ", f" AND (+{far}, ")
    return _FAR_END_MARK.sub("".join(f"AND {condition.replace('{far}', far)} " for condition in conditions), query)
