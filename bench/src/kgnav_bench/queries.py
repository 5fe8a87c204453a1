"""The benchmarks' queries of a graph file: to choose nodes to measure at, and as the direct baseline.

The baseline reads the facts of an answer with queries in the form of the server's own, so that a call's other costs
become visible.
"""

from __future__ import annotations

HIGHEST_NODE = "SELECT max(id) FROM node"
"""One seek."""

DEGREE_OUTGOING = "SELECT count(*) FROM edge WHERE s = ?"
"""One seek and the edges of the node."""

DEGREE_INCOMING = "SELECT count(*) FROM edge WHERE o = ?"
"""One seek and the edges of the node."""

RELATION_OUTGOING = """
SELECT e.p, r.key FROM edge AS e CROSS JOIN relation AS r ON r.id = e.p WHERE e.s = ? LIMIT 1
"""
"""Two seeks."""

RELATION_INCOMING = """
SELECT e.p, r.key FROM edge AS e CROSS JOIN relation AS r ON r.id = e.p WHERE e.o = ? LIMIT 1
"""
"""Two seeks."""

NODE = "SELECT id, key, label FROM node WHERE id = ?"
"""One seek."""

LARGEST_HUBS = "SELECT node, direction, sum(n) AS rows FROM degree GROUP BY node, direction ORDER BY rows DESC LIMIT ?"
"""Reads the counts of all hubs: some milliseconds on ten million triples."""

NAMED = """
SELECT DISTINCT v.id, v.key, v.label FROM name AS n CROSS JOIN node AS v ON v.id = n.node WHERE n.text = ?
"""
"""One seek for the name and one for each entity with it: all that a client of the store needs for a known name."""

FIRST_KEY = "SELECT key FROM node ORDER BY id LIMIT 1"
"""One seek."""

SHOWN_NAMES = "SELECT DISTINCT label FROM node WHERE label IS NOT NULL"
"""Reads all nodes."""

ALL_NAMES = "SELECT text FROM name WHERE kind < 2"
"""Reads all names and aliases."""

RELATIONS = "SELECT id, key, label FROM relation"
"""Reads all relations."""

NODE_BY_KEY = """
SELECT v.id, v.key, v.label, v.description, v.mediator
FROM json_each(?) AS j CROSS JOIN node AS v ON v.key = j.value
"""
"""Two seeks for each key."""

TAILS = """
SELECT e.s, e.p, e.o, e.n, e.qualifiers, v.key, v.label, v.mediator
FROM json_each(:nodes) AS j CROSS JOIN edge AS e ON e.s = j.value CROSS JOIN node AS v ON v.id = e.o
WHERE (:relations IS NULL OR e.p IN (SELECT value FROM json_each(:relations)))
"""
"""One seek for each node, then one for each of its outgoing edges."""

HEADS = """
SELECT e.o, e.p, e.s, e.n, e.qualifiers, v.key, v.label, v.mediator
FROM json_each(:nodes) AS j CROSS JOIN edge AS e ON e.o = j.value CROSS JOIN node AS v ON v.id = e.s
WHERE (:relations IS NULL OR e.p IN (SELECT value FROM json_each(:relations)))
"""
"""One seek for each node, then two for each of its incoming edges."""

ATTRIBUTES = """
SELECT a.node, a.p, a.n, a.qualifiers, a.text, a.datatype, a.language, a.item
FROM json_each(:nodes) AS j CROSS JOIN attribute AS a ON a.node = j.value
WHERE (:relations IS NULL OR a.p IN (SELECT value FROM json_each(:relations)))
"""
"""One seek for each node, and its literals."""

TAILS_BY = """
SELECT e.s, e.p, e.o, e.n, e.qualifiers, v.key, v.label, v.mediator FROM edge AS e CROSS JOIN node AS v ON v.id = e.o
WHERE e.s = :node AND e.p = :p AND (e.o, e.n) > (:a, :b) ORDER BY e.o, e.n LIMIT :most
"""
"""One seek, then one for each row of the page."""

HEADS_BY = """
SELECT e.o, e.p, e.s, e.n, e.qualifiers, v.key, v.label, v.mediator FROM edge AS e CROSS JOIN node AS v ON v.id = e.s
WHERE e.o = :node AND e.p = :p AND (e.s, e.n) > (:a, :b) ORDER BY e.s, e.n LIMIT :most
"""
"""One seek, then two for each row of the page."""
