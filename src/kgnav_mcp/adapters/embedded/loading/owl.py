"""Folds class expressions of OWL into edges, so that an ontology is a graph of its classes.

`C SubClassOf (p some X)` becomes the edge C p X, and so does each part of an intersection that C is equivalent to or a
subclass of: C is a subclass of its named parts. All of these follow from what the ontology states. Other expressions
(`only`, `not`, unions, numbers) say no single edge; they stay nameless nodes, which are not counted as classes.
"""

from __future__ import annotations

import sqlite3

from kgnav_mcp.adapters.embedded.loading import queries_staged as queries
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
        connection.execute(queries.ADD_RELATION, (numbers["subclass"], RDFS_SUBCLASS))
    for statement in queries.EXPRESSION_TABLES.split(";"):
        connection.execute(statement)
    _run(connection, queries.COLLECT, numbers)
    properties = [key for (key,) in connection.execute(queries.RESTRICTED_PROPERTIES)]
    connection.executemany(queries.ADD_RELATION, [(staging.relation(key), key) for key in properties])
    _run(connection, queries.FIND_EXPRESSIONS, numbers)
    (restricted,) = connection.execute(queries.COUNT_RESTRICTED, numbers).fetchone()
    (defined,) = connection.execute(queries.COUNT_DEFINED, numbers).fetchone()
    _run(connection, queries.FOLD, numbers)
    kinds = {"class": OWL + "Class", "restriction_class": OWL + "Restriction", "datatype_class": RDFS + "Datatype"}
    others = connection.execute(queries.FORGET_TYPES_OF_EXPRESSIONS, numbers | kinds).rowcount
    connection.execute(queries.LOOSEN_KINDS, kinds)
    _run(connection, queries.FORGET_LOOSE, numbers)
    kept = f"; other class expressions, kept as nameless nodes: {others:,}" if others else ""
    return f"{restricted:,} x SubClassOf (p some X) and {defined:,} definitions became edges{kept}"


def _run(connection: sqlite3.Connection, statements: tuple[str, ...], numbers: dict[str, int]) -> None:
    for statement in statements:
        connection.execute(statement, numbers)
