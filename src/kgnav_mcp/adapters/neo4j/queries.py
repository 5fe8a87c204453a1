"""Queries that only Neo4j is asked, with what they cost."""

from __future__ import annotations

WRITE = "CREATE ()"
"""One write, for a transaction that is never committed."""

DATABASE = "CALL db.info() YIELD id, name RETURN name, id"
"""Nothing."""

FUNCTIONS = "SHOW FUNCTIONS YIELD name WHERE name IN $names RETURN collect(name)"
"""Reads the catalogue."""
