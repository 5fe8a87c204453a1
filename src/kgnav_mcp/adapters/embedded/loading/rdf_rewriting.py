"""Rewrites staged RDF: statements about triples become qualifiers, and class expressions of OWL become edges.

Three notations of statements are supported: RDF 1.2 reifiers (`rdf:reifies`, also written `<< >>` and `{| |}`),
RDF 1.1's `rdf:Statement` with `rdf:subject`, `rdf:predicate` and `rdf:object`, and OWL's `owl:Axiom`. All other triples
of a reifier become qualifiers. Two reifiers of one triple give two parallel triples, so that the qualifiers of each
stay together. Several axioms about one triple qualify one triple: they are its annotations, and OWL does not tell them
apart.

A reifier of a triple that the sources do not assert stays a node with the triple's parts as its edges, so that nothing
is shown as a fact that no source states. A reifier that is itself the tail of a triple stays a node as well.

`C SubClassOf (p some X)` becomes the edge C p X, and so does each part of an intersection that C is equivalent to or a
subclass of: C is a subclass of its named parts. All of these follow from what the ontology states. Other expressions
(`only`, `not`, unions, numbers) imply no single edge; they stay nameless nodes, which are not counted as classes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from kgnav_mcp.adapters.embedded.loading import queries_staged as queries
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.wellknown import (
    OWL,
    RDF,
    RDF_OBJECT,
    RDF_PREDICATE,
    RDF_STATEMENT,
    RDF_SUBJECT,
    RDF_TYPE,
    RDFS,
    RDFS_SUBCLASS,
)

PARTS = (RDF_SUBJECT, RDF_PREDICATE, RDF_OBJECT)
PARTS_OF_AXIOMS = (OWL + "annotatedSource", OWL + "annotatedProperty", OWL + "annotatedTarget")

Fact = tuple[int, str, str, str | None, str | None, int]
"""Reifier, relation key, text, datatype, language, and 1 if the text is the key of a node."""


def collect_statements(connection: sqlite3.Connection, staging: Staging, *, axioms: bool) -> int:
    """Collects the statements of RDF 1.1 and, if wanted, the axioms of OWL. Returns the number of axioms.

    Relations must be written already.
    """
    connection.execute(queries.PART_TABLE)
    _collect(connection, staging, PARTS, is_axiom=False)
    return _collect(connection, staging, PARTS_OF_AXIOMS, is_axiom=True) if axioms else 0


def _collect(connection: sqlite3.Connection, staging: Staging, parts: Sequence[str], *, is_axiom: bool) -> int:
    if not all(part in staging.relations for part in parts):
        return 0
    numbers = [staging.relations[part] for part in parts]
    named: dict[str, int] = dict(zip(("subject", "predicate", "object"), numbers, strict=True))
    connection.executemany(queries.ADD_PART, ((number,) for number in numbers))
    first, *others = queries.STAGE_STATEMENTS
    count = connection.execute(first, named | {"is_axiom": is_axiom}).rowcount
    for statement in others:
        connection.execute(statement, named)
    return count


def attach_qualifiers(connection: sqlite3.Connection, staging: Staging) -> None:
    """Moves the triples of reifiers and of collected statements from the staged triples to qualifiers.

    Relations must be written already. Relations that are first used here are written here.
    """
    connection.execute(queries.STAGE_REIFIERS)
    if not connection.execute(queries.HAS_REIFIERS).fetchone()[0]:
        return
    subject, predicate, tail = (staging.relation(part) for part in PARTS)
    numbers: dict[str, object] = {
        "subject": subject,
        "predicate": predicate,
        "object": tail,
        "type": staging.relations.get(RDF_TYPE),
        "statement": RDF_STATEMENT,
        "axiom": OWL + "Axiom",
    }
    connection.executemany(queries.ADD_RELATION, zip((subject, predicate, tail), PARTS, strict=True))
    connection.executemany(queries.ADD_PART, ((number,) for number in (subject, predicate, tail)))
    for statement in queries.FIND_ASSERTED:
        connection.execute(statement)
    connection.execute(queries.MERGE_AXIOMS)
    facts: Iterator[Fact] = connection.execute(queries.REIFIER_FACTS, numbers)
    connection.executemany(queries.STAGE_QUALIFIERS, _qualifiers(facts))
    for statement in queries.QUALIFY:
        connection.execute(statement, numbers)


def _qualifiers(facts: Iterator[Fact]) -> Iterator[tuple[int, str]]:
    """Yields each reifier and its qualifiers as JSON, in the form described in `fileformat`."""
    for reifier, group in groupby(facts, key=itemgetter(0)):
        qualifiers: dict[str, list[object]] = {}
        for _, relation, text, datatype, language, is_node in group:
            qualifiers.setdefault(relation, []).append({"id": text} if is_node else [text, datatype, language])
        yield reifier, json.dumps(qualifiers, ensure_ascii=False, separators=(",", ":"))


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
    remainder = f"; other class expressions, kept as nameless nodes: {others:,}" if others else ""
    return f"{restricted:,} x SubClassOf (p some X) and {defined:,} definitions became edges{remainder}"


def _run(connection: sqlite3.Connection, statements: tuple[str, ...], numbers: dict[str, int]) -> None:
    for statement in statements:
        connection.execute(statement, numbers)
