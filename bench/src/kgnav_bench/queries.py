"""The benchmarks' own queries of a graph file: to choose nodes to measure at, and as the direct baseline."""

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
