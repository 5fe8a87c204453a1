"""Folds class expressions of OWL into edges, so that an ontology is a graph of its classes.

`C SubClassOf (p some X)` becomes the edge C p X, and so does each part of an intersection that C is equivalent to or a
subclass of: C is a subclass of its named parts. All of these follow from what the ontology states. Other expressions
(`only`, `not`, unions, numbers) say no single edge; they stay nameless nodes, which are not counted as classes.
"""

from __future__ import annotations

import sqlite3

from kgnav_mcp.adapters.embedded.loading.reification import ADD_RELATION, FORGET_LOOSE
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.wellknown import OWL, RDF, RDF_TYPE, RDFS, RDFS_SUBCLASS

_RELATIONS = {
    "on_property": OWL + "onProperty",
    "some": OWL + "someValuesFrom",
    "value": OWL + "hasValue",
    "intersection": OWL + "intersectionOf",
    "equivalent": OWL + "equivalentClass",
    "subclass": RDFS_SUBCLASS,
    "first": RDF + "first",
    "rest": RDF + "rest",
    "type": RDF_TYPE,
}


def has_expressions(staging: Staging) -> bool:
    """Whether the sources describe classes by restrictions or intersections, as ontologies in OWL do."""
    return any(_RELATIONS[name] in staging.relations for name in ("on_property", "intersection"))


def fold_expressions(connection: sqlite3.Connection, staging: Staging) -> str:
    """Replaces class expressions by the edges that they imply. Relations must be written already.

    Statements about triples must be collected, but not attached yet. Returns a note with counts; empty if there are no
    expressions.
    """
    if not has_expressions(staging):
        return ""
    numbers = {name: staging.relations.get(key, 0) for name, key in _RELATIONS.items()}
    if not numbers["subclass"]:
        numbers["subclass"] = staging.relation(RDFS_SUBCLASS)
        connection.execute(ADD_RELATION, (numbers["subclass"], RDFS_SUBCLASS))
    for statement in TABLES.split(";"):
        connection.execute(statement)
    _run(connection, COLLECT, numbers)
    properties = [key for (key,) in connection.execute(RESTRICTED_PROPERTIES)]
    connection.executemany(ADD_RELATION, [(staging.relation(key), key) for key in properties])
    _run(connection, FIND_EXPRESSIONS, numbers)
    (restricted,) = connection.execute(COUNT_RESTRICTED, numbers).fetchone()
    (defined,) = connection.execute(COUNT_DEFINED, numbers).fetchone()
    _run(connection, FOLD, numbers)
    kinds = {"class": OWL + "Class", "restriction_class": OWL + "Restriction", "datatype_class": RDFS + "Datatype"}
    others = connection.execute(FORGET_TYPES_OF_EXPRESSIONS, numbers | kinds).rowcount
    connection.execute(LOOSEN_KINDS, kinds)
    _run(connection, FORGET_LOOSE, numbers)
    kept = f"; other class expressions, kept as nameless nodes: {others:,}" if others else ""
    return f"{restricted:,} x SubClassOf (p some X) and {defined:,} definitions became edges{kept}"


def _run(connection: sqlite3.Connection, statements: tuple[str, ...], numbers: dict[str, int]) -> None:
    for statement in statements:
        connection.execute(statement, numbers)


TABLES = """
CREATE TABLE staging.property_of (node INTEGER PRIMARY KEY, o INTEGER NOT NULL);
CREATE TABLE staging.filler (node INTEGER PRIMARY KEY, o INTEGER NOT NULL);
CREATE TABLE staging.members (node INTEGER PRIMARY KEY, cell INTEGER NOT NULL);
CREATE TABLE staging.first (node INTEGER PRIMARY KEY, o INTEGER NOT NULL);
CREATE TABLE staging.rest (node INTEGER PRIMARY KEY, o INTEGER NOT NULL);
CREATE TABLE staging.operand (node INTEGER NOT NULL, cell INTEGER NOT NULL, o INTEGER NOT NULL);
CREATE TABLE staging.restriction (node INTEGER PRIMARY KEY, p INTEGER NOT NULL, o INTEGER NOT NULL);
CREATE TABLE staging.implied (node INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL);
CREATE TABLE staging.expression (node INTEGER PRIMARY KEY);
CREATE TABLE staging.folded (node INTEGER PRIMARY KEY);
"""
"""`members` are intersections with their lists, `operand` what is in these, `implied` the edges of every expression.

`expression` are those that edges express in full; `folded` are the nodes of which they consist.
"""

COLLECT = (
    "INSERT OR IGNORE INTO staging.property_of SELECT s, o FROM staging.triple WHERE p = :on_property",
    "INSERT OR IGNORE INTO staging.filler SELECT s, o FROM staging.triple WHERE p IN (:some, :value)",
    "INSERT OR IGNORE INTO staging.members SELECT s, o FROM staging.triple WHERE p = :intersection",
    "INSERT OR IGNORE INTO staging.first SELECT s, o FROM staging.triple WHERE p = :first",
    "INSERT OR IGNORE INTO staging.rest SELECT s, o FROM staging.triple WHERE p = :rest",
    """
INSERT INTO staging.operand
WITH RECURSIVE walk (node, cell) AS (
    SELECT node, cell FROM staging.members
    UNION SELECT w.node, r.o FROM walk w JOIN staging.rest r ON r.node = w.cell
)
SELECT w.node, w.cell, f.o FROM walk w JOIN staging.first f ON f.node = w.cell
""",
    "CREATE INDEX staging.operand_node ON operand (node)",
)

RESTRICTED_PROPERTIES = """
SELECT DISTINCT k.key FROM staging.property_of p CROSS JOIN staging.term k ON k.id = p.o
WHERE substr(k.key, 1, 2) <> '_:'
"""

FIND_EXPRESSIONS = (
    """
INSERT INTO staging.restriction
SELECT f.node, r.id, f.o FROM staging.filler f
JOIN staging.property_of p ON p.node = f.node
JOIN staging.term k ON k.id = p.o
JOIN relation r ON r.key = k.key
JOIN staging.term filler ON filler.id = f.o
JOIN staging.term own ON own.id = f.node
WHERE substr(filler.key, 1, 2) <> '_:' AND substr(own.key, 1, 2) = '_:'
""",
    # An intersection is an expression unless some part of it, at any depth, is neither a name nor a restriction.
    """
INSERT INTO staging.expression
WITH RECURSIVE part (node, o) AS (
    SELECT node, o FROM staging.operand
    UNION SELECT part.node, o.o FROM part JOIN staging.operand o ON o.node = part.o
)
SELECT node FROM staging.members m JOIN staging.term own ON own.id = m.node WHERE substr(own.key, 1, 2) = '_:'
    AND node NOT IN (
        SELECT part.node FROM part JOIN staging.term k ON k.id = part.o
        WHERE substr(k.key, 1, 2) = '_:' AND part.o NOT IN (SELECT node FROM staging.restriction)
            AND part.o NOT IN (SELECT node FROM staging.members)
    )
UNION SELECT node FROM staging.restriction
""",
    # What an intersection implies holds even if it has other parts, too.
    """
INSERT INTO staging.implied
WITH RECURSIVE part (node, o) AS (
    SELECT node, o FROM staging.operand
    UNION SELECT part.node, o.o FROM part JOIN staging.operand o ON o.node = part.o
)
SELECT node, p, o FROM staging.restriction
UNION SELECT part.node, r.p, r.o FROM part JOIN staging.restriction r ON r.node = part.o
UNION SELECT part.node, :subclass, part.o FROM part JOIN staging.term k ON k.id = part.o
WHERE substr(k.key, 1, 2) <> '_:'
""",
    "CREATE INDEX staging.implied_node ON implied (node)",
)

COUNT_RESTRICTED = """
SELECT count(*) FROM staging.triple t JOIN staging.restriction r ON r.node = t.o JOIN staging.term k ON k.id = t.s
WHERE t.p = :subclass AND substr(k.key, 1, 2) <> '_:'
"""
COUNT_DEFINED = """
SELECT count(*) FROM staging.triple t JOIN staging.term k ON k.id = t.s
WHERE t.p IN (:subclass, :equivalent) AND substr(k.key, 1, 2) <> '_:' AND t.o IN (SELECT node FROM staging.implied)
    AND NOT (t.p = :subclass AND t.o IN (SELECT node FROM staging.restriction))
"""

FOLD = (
    """
INSERT INTO staging.triple
SELECT t.s, i.p, i.o FROM staging.triple t
CROSS JOIN staging.implied i ON i.node = t.o CROSS JOIN staging.term k ON k.id = t.s
WHERE t.p IN (:subclass, :equivalent) AND substr(k.key, 1, 2) <> '_:'
""",
    # An axiom about `SubClassOf (p some X)` is about the edge `p`.
    """
UPDATE staging.statement SET p = r.p, o = r.o FROM staging.restriction r
WHERE statement.o = r.node AND statement.p = :subclass
""",
    """
DELETE FROM staging.triple WHERE p IN (:subclass, :equivalent) AND o IN (SELECT node FROM staging.expression)
    AND s IN (SELECT id FROM staging.term WHERE substr(key, 1, 2) <> '_:')
""",
    # Expressions and their lists are removed, except those that something else refers to.
    """
INSERT OR IGNORE INTO staging.folded
SELECT node FROM staging.expression UNION SELECT cell FROM staging.operand
WHERE node IN (SELECT node FROM staging.expression)
""",
    """
DELETE FROM staging.folded WHERE node IN (
    WITH RECURSIVE inner_triple (s, o) AS MATERIALIZED (
        SELECT s, o FROM staging.triple WHERE o IN (SELECT node FROM staging.folded)
    ), kept (node) AS (
        SELECT o FROM inner_triple WHERE s NOT IN (SELECT node FROM staging.folded)
            AND s NOT IN (SELECT reifier FROM staging.statement)
        UNION SELECT i.o FROM kept JOIN inner_triple i ON i.s = kept.node
    )
    SELECT node FROM kept
)
""",
    """
INSERT OR IGNORE INTO staging.loose SELECT o FROM staging.triple WHERE s IN (SELECT node FROM staging.folded)
""",
    "DELETE FROM staging.triple WHERE s IN (SELECT node FROM staging.folded)",
    "DELETE FROM staging.triple WHERE o IN (SELECT node FROM staging.folded)",
    "DELETE FROM staging.literal WHERE node IN (SELECT node FROM staging.folded)",
    "DELETE FROM staging.term WHERE id IN (SELECT node FROM staging.folded)",
)

FORGET_TYPES_OF_EXPRESSIONS = """
DELETE FROM staging.triple WHERE p = :type
    AND o IN (SELECT id FROM staging.term WHERE key IN (:class, :restriction_class, :datatype_class))
    AND s IN (SELECT id FROM staging.term WHERE substr(key, 1, 2) = '_:')
"""
"""A nameless expression that stays is no class that the ontology declares."""

LOOSEN_KINDS = """
INSERT OR IGNORE INTO staging.loose
SELECT id FROM staging.term WHERE key IN (:class, :restriction_class, :datatype_class)
"""
