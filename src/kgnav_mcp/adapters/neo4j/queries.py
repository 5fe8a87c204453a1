"""Queries that are specific to Neo4j, with what each costs."""

from __future__ import annotations

WRITE = "CREATE ()"
"""Costs one write, in a transaction that is never committed. Tests whether the user has write access."""

DATABASE = "CALL db.info() YIELD id, name RETURN name, id"
"""Costs nothing."""

FUNCTIONS = "SHOW FUNCTIONS YIELD name WHERE name IN $names RETURN collect(name)"
"""Costs a read of the catalogue."""
