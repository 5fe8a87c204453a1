"""What a client of Neo4j would ask by itself for the facts of an answer: one statement each, by the degree store."""

from __future__ import annotations

from typing import LiteralString

NEIGHBOURHOOD: LiteralString = """
MATCH (n:Place {id: $id})
OPTIONAL MATCH (n)<-[r]-(m)
RETURN n.name, type(r), properties(r), labels(m), m.id, m.name
"""
"""The entity, and every edge that points at it with its far end."""

OF_ONE_RELATION: LiteralString = """
MATCH (n:Place {id: $id})
MATCH (n)<-[r:LIKES]-(m)
RETURN n.name, type(r), properties(r), labels(m), m.id, m.name LIMIT 1000
"""
"""The edges of one relation."""

RELATIONS: LiteralString = """
MATCH (n:Place {id: $id})
RETURN n.name,
  COUNT { (n)<-[:FOLLOWS]-() }, COLLECT { MATCH (n)<-[:FOLLOWS]-(m) RETURN [labels(m), m.id, m.name] LIMIT 2 },
  COUNT { (n)<-[:LIKES]-() }, COLLECT { MATCH (n)<-[:LIKES]-(m) RETURN [labels(m), m.id, m.name] LIMIT 2 },
  COUNT { (n)<-[:VISITED]-() }, COLLECT { MATCH (n)<-[:VISITED]-(m) RETURN [labels(m), m.id, m.name] LIMIT 2 }
"""
"""A hub's relations with their counts and two examples of each, for one who knows its relations already."""

NAMED: LiteralString = """
CALL db.index.fulltext.queryNodes('kgnav_names', $words) YIELD node, score
WITH node, score LIMIT 10
RETURN node.id, node.name, labels(node), COUNT { (node)--() }, score
"""
"""The ten best of the full-text index, misspelt words too."""
