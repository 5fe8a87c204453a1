"""The statements of a plain Neo4j client for the facts of an answer, one for each call, using the degree store."""

from __future__ import annotations

from typing import LiteralString

NEIGHBOURHOOD: LiteralString = """
MATCH (n:Place {id: $id})
OPTIONAL MATCH (n)<-[r]-(m)
RETURN n.name, type(r), properties(r), labels(m), m.id, m.name
"""
"""The entity, and every incoming edge with its far end."""

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
"""A hub's relations with counts and two examples each, given that the relations are known already."""

NAMED: LiteralString = """
CALL db.index.fulltext.queryNodes('kgnav_names', $words) YIELD node, score
WITH node, score LIMIT 10
RETURN node.id, node.name, labels(node), COUNT { (node)--() }, score
"""
"""The ten best matches of the full-text index, including misspelt words."""
