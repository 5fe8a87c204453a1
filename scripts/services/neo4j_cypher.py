"""The statements that fill a Neo4j. Names come from files and are quoted. Values are parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString, cast

CREATE_NODES = "UNWIND $rows AS row CREATE (n{labels}) SET n = row RETURN elementId(n)"
"""One write for each row."""

CREATE_EDGES = """
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.start
MATCH (b) WHERE elementId(b) = row.end
CREATE (a)-[r{labels}]->(b) SET r = row.properties
"""
"""Two seeks and one write for each row."""

CONSTRAINTS = "SHOW CONSTRAINTS YIELD name RETURN name"
"""Reads the catalogue."""

INDEXES = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"
"""Reads the catalogue."""

DROP_CONSTRAINT = "DROP CONSTRAINT {name}"
"""Changes the catalogue."""

DROP_INDEX = "DROP INDEX {name} IF EXISTS"
"""Changes the catalogue."""

DELETE_EDGES = "MATCH ()-[r]->() CALL (r) { DELETE r } IN TRANSACTIONS OF $batch ROWS"
"""One write for each edge."""

DELETE_NODES = "MATCH (n) CALL (n) { DELETE n } IN TRANSACTIONS OF $batch ROWS"
"""One write for each node."""

AWAIT_INDEXES = "CALL db.awaitIndexes(600)"
"""Waits until every node is indexed."""

_UNIQUE = "CREATE CONSTRAINT IF NOT EXISTS FOR (n:{label}) REQUIRE n.{key} IS UNIQUE"
_FULL_TEXT = "CREATE FULLTEXT INDEX kgnav_names IF NOT EXISTS FOR (n:{labels}) ON EACH [{keys}]"


def quoted(name: str) -> str:
    """A label, a type or a property key quoted for Cypher."""
    return "`" + name.replace("`", "``") + "`"


def statement(template: str, *names: str) -> LiteralString:
    """A statement with labels, a type or another name filled in."""
    labels = "".join(f":{quoted(name)}" for name in names)
    return _as_literal(template.replace("{labels}", labels).replace("{name}", quoted(names[0]) if names else ""))


def unique_constraint(label: str, key: str) -> LiteralString:
    """The statement that makes a property the unique id of a label's nodes."""
    return _as_literal(_UNIQUE.replace("{label}", quoted(label)).replace("{key}", quoted(key)))


def full_text_index(labels: Sequence[str], keys: Sequence[str]) -> LiteralString:
    """The statement for a full-text index of these properties on nodes with these labels."""
    of_labels = "|".join(quoted(label) for label in labels)
    each = ", ".join(f"n.{quoted(key)}" for key in keys)
    return _as_literal(_FULL_TEXT.replace("{keys}", each).replace("{labels}", of_labels))


def _as_literal(text: str) -> LiteralString:
    """A text made only of this module's templates and quoted names, typed as safe for the driver."""
    return cast("LiteralString", text)
