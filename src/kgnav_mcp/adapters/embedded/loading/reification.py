"""Turns statements about triples into qualifiers of those triples.

Three notations are supported: RDF 1.2 reifiers (`rdf:reifies`, also written `<< >>` and `{| |}`), RDF 1.1's
`rdf:Statement` with `rdf:subject`, `rdf:predicate` and `rdf:object`, and OWL's `owl:Axiom`. All other triples of a
reifier become qualifiers.
Two reifiers of one triple give two parallel triples, so that the qualifiers of each stay together. Several axioms
about one triple qualify one triple: they are its annotations, and OWL does not tell them apart.

A reifier of a triple that the sources do not assert stays a node with the triple's parts as its edges, so that nothing
is shown as a fact that no source states. A reifier that is itself the tail of a triple stays a node as well.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.wellknown import OWL, RDF_OBJECT, RDF_PREDICATE, RDF_STATEMENT, RDF_SUBJECT, RDF_TYPE

PARTS = (RDF_SUBJECT, RDF_PREDICATE, RDF_OBJECT)
PARTS_OF_AXIOMS = (OWL + "annotatedSource", OWL + "annotatedProperty", OWL + "annotatedTarget")

Fact = tuple[int, str, str, str | None, str | None, int]
"""Reifier, relation key, text, datatype, language, and 1 if the text is the key of a node."""


def collect_statements(connection: sqlite3.Connection, staging: Staging, *, axioms: bool) -> int:
    """Collects the statements of RDF 1.1 and, if wanted, the axioms of OWL. Returns the number of axioms.

    Relations must be written already.
    """
    connection.execute(PARTS_OF_STATEMENTS)
    _collect(connection, staging, PARTS, is_axiom=False)
    return _collect(connection, staging, PARTS_OF_AXIOMS, is_axiom=True) if axioms else 0


def _collect(connection: sqlite3.Connection, staging: Staging, parts: Sequence[str], *, is_axiom: bool) -> int:
    if not all(part in staging.relations for part in parts):
        return 0
    numbers = [staging.relations[part] for part in parts]
    named: dict[str, int] = dict(zip(("subject", "predicate", "object"), numbers, strict=True))
    connection.executemany(ADD_PART, ((number,) for number in numbers))
    first, *others = STAGE_STATEMENTS
    count = connection.execute(first, named | {"is_axiom": is_axiom}).rowcount
    for statement in others:
        connection.execute(statement, named)
    return count


def attach_qualifiers(connection: sqlite3.Connection, staging: Staging) -> None:
    """Moves the triples of reifiers and of collected statements from the staged triples to qualifiers.

    Relations must be written already. Relations that are first used here are written here.
    """
    connection.execute(STAGE_REIFIERS)
    if not connection.execute(HAS_REIFIERS).fetchone()[0]:
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
    connection.executemany(ADD_RELATION, zip((subject, predicate, tail), PARTS, strict=True))
    connection.executemany(ADD_PART, ((number,) for number in (subject, predicate, tail)))
    for statement in FIND_ASSERTED:
        connection.execute(statement)
    connection.execute(MERGE_AXIOMS)
    facts: Iterator[Fact] = connection.execute(REIFIER_FACTS, numbers)
    connection.executemany(STAGE_QUALIFIERS, _qualifiers(facts))
    for statement in QUALIFY:
        connection.execute(statement, numbers)


def _qualifiers(facts: Iterator[Fact]) -> Iterator[tuple[int, str]]:
    """Yields each reifier and its qualifiers as JSON, in the form described in `fileformat`."""
    for reifier, group in groupby(facts, key=itemgetter(0)):
        found: dict[str, list[object]] = {}
        for _, relation, text, datatype, language, is_node in group:
            found.setdefault(relation, []).append({"id": text} if is_node else [text, datatype, language])
        yield reifier, json.dumps(found, ensure_ascii=False, separators=(",", ":"))


HAS_REIFIERS = "SELECT EXISTS (SELECT 1 FROM staging.reifier)"
ADD_RELATION = "INSERT OR IGNORE INTO relation (id, key) VALUES (?, ?)"

STAGE_STATEMENTS = (
    """
INSERT OR IGNORE INTO staging.statement (reifier, s, is_axiom) SELECT s, o, :is_axiom FROM staging.triple
WHERE p = :subject
""",
    """
UPDATE staging.statement SET p = r.id FROM staging.triple t, staging.term k, relation r
WHERE t.p = :predicate AND t.s = reifier AND k.id = t.o AND r.key = k.key
""",
    "UPDATE staging.statement SET o = t.o FROM staging.triple t WHERE t.p = :object AND t.s = reifier",
    """
UPDATE staging.statement SET text = l.text, datatype = l.datatype, language = l.language
FROM staging.literal l WHERE l.p = :object AND l.node = reifier
""",
)
"""Collect statements by the relations to their three parts."""

STAGE_REIFIERS = """
INSERT INTO staging.reifier (reifier, s, p, o, text, datatype, language)
SELECT reifier, s, p, o, text, datatype, language FROM staging.statement
WHERE p IS NOT NULL AND (o IS NOT NULL OR text IS NOT NULL)
"""
"""Collects statements into rows of `reifier`. One scan of the statements."""

MERGE_AXIOMS = """
INSERT INTO staging.merged_axiom
SELECT reifier, first FROM (
    SELECT reifier, min(reifier) OVER (PARTITION BY s, p, o, text, datatype, language) AS first
    FROM staging.statement WHERE is_axiom AND p IS NOT NULL AND (o IS NOT NULL OR text IS NOT NULL)
) WHERE reifier <> first
"""
"""One sort of the axioms."""

PARTS_OF_STATEMENTS = "CREATE TABLE staging.part (p INTEGER PRIMARY KEY)"
ADD_PART = "INSERT OR IGNORE INTO staging.part VALUES (?)"

FIND_ASSERTED = (
    "CREATE INDEX staging.reifier_triple ON reifier (s, p, o)",
    """
UPDATE staging.reifier SET asserted = 1 WHERE rowid IN (
    SELECT r.rowid FROM staging.triple t CROSS JOIN staging.reifier r ON r.s = t.s AND r.p = t.p AND r.o = t.o
)
""",
    """
UPDATE staging.reifier SET asserted = 1 WHERE rowid IN (
    SELECT r.rowid FROM staging.literal l CROSS JOIN staging.reifier r
    ON r.s = l.node AND r.p = l.p AND r.o IS NULL
    WHERE r.text = l.text AND r.datatype IS l.datatype AND r.language IS l.language
)
""",
    # One scan of the reifiers.
    "INSERT OR IGNORE INTO staging.qualifying SELECT reifier FROM staging.reifier WHERE asserted = 1",
)
"""Mark reified triples that are also asserted, and collect their reifiers in `qualifying`."""

REIFIER_FACTS = """
SELECT coalesce(m.first, t.s), r.key, k.key, NULL, NULL, 1
FROM staging.triple t
CROSS JOIN staging.qualifying q ON q.reifier = t.s
LEFT JOIN staging.merged_axiom m ON m.reifier = t.s
CROSS JOIN relation r ON r.id = t.p
CROSS JOIN staging.term k ON k.id = t.o
WHERE t.p NOT IN (SELECT p FROM staging.part) AND NOT (t.p IS :type AND k.key IN (:statement, :axiom))
UNION
SELECT coalesce(m.first, l.node), r.key, l.text, l.datatype, l.language, 0
FROM staging.literal l
CROSS JOIN staging.qualifying q ON q.reifier = l.node
LEFT JOIN staging.merged_axiom m ON m.reifier = l.node
CROSS JOIN relation r ON r.id = l.p
WHERE l.p NOT IN (SELECT p FROM staging.part)
ORDER BY 1, 2, 6, 3, 4, 5
"""
"""The qualifiers of each reifier, those of axioms about one triple together."""
STAGE_QUALIFIERS = "INSERT INTO staging.qualification VALUES (?, ?)"

FORGET_LOOSE = (
    "DELETE FROM staging.loose WHERE node IN (SELECT s FROM staging.triple UNION SELECT o FROM staging.triple)",
    """
DELETE FROM staging.loose WHERE node IN (SELECT s FROM staging.relationship UNION SELECT o FROM staging.relationship)
""",
    """
DELETE FROM staging.loose WHERE node IN (SELECT node FROM staging.literal UNION SELECT node FROM staging.property)
""",
    "DELETE FROM staging.loose WHERE node IN (SELECT s FROM staging.reifier UNION SELECT o FROM staging.reifier)",
    "DELETE FROM staging.loose WHERE node IN (SELECT s FROM staging.statement UNION SELECT o FROM staging.statement)",
    "DELETE FROM staging.term WHERE id IN (SELECT node FROM staging.loose)",
    "DELETE FROM staging.loose",
)
"""Remove those of the nodes in `loose` that nothing refers to any more. One scan of each table."""

QUALIFY = (
    # Qualified triples move from the sets (`triple`, `literal`) to the lists (`relationship`, `property`).
    """
INSERT INTO staging.relationship (s, p, o, qualifiers)
SELECT r.s, r.p, r.o, q.qualifiers FROM staging.reifier r JOIN staging.qualification q ON q.reifier = r.reifier
WHERE r.asserted = 1 AND r.o IS NOT NULL GROUP BY r.s, r.p, r.o, q.qualifiers ORDER BY min(r.rowid)
""",
    """
DELETE FROM staging.triple WHERE EXISTS (
    SELECT 1 FROM staging.reifier r JOIN staging.qualification q ON q.reifier = r.reifier
    WHERE r.s = triple.s AND r.p = triple.p AND r.o = triple.o
)
""",
    """
INSERT INTO staging.property (node, p, text, datatype, language, qualifiers)
SELECT r.s, r.p, r.text, r.datatype, r.language, q.qualifiers
FROM staging.reifier r JOIN staging.qualification q ON q.reifier = r.reifier
WHERE r.asserted = 1 AND r.o IS NULL
GROUP BY r.s, r.p, r.text, r.datatype, r.language, q.qualifiers ORDER BY min(r.rowid)
""",
    """
DELETE FROM staging.literal WHERE EXISTS (
    SELECT 1 FROM staging.reifier r JOIN staging.qualification q ON q.reifier = r.reifier
    WHERE r.s = literal.node AND r.p = literal.p AND r.o IS NULL AND r.asserted = 1
        AND r.text = literal.text AND r.datatype IS literal.datatype AND r.language IS literal.language
)
""",
    # Removes reifiers that only served as such, and nodes that only they referred to.
    """
DELETE FROM staging.qualifying WHERE reifier IN (SELECT reifier FROM staging.reifier WHERE asserted = 0)
    OR reifier IN (SELECT o FROM staging.triple) OR reifier IN (SELECT o FROM staging.relationship)
""",
    """
INSERT OR IGNORE INTO staging.loose SELECT t.o FROM staging.triple t CROSS JOIN staging.qualifying q ON q.reifier = t.s
WHERE t.p IN (SELECT p FROM staging.part) OR t.p IS :type
""",
    "DELETE FROM staging.triple WHERE s IN (SELECT reifier FROM staging.qualifying)",
    "DELETE FROM staging.literal WHERE node IN (SELECT reifier FROM staging.qualifying)",
    "DELETE FROM staging.naming WHERE node IN (SELECT reifier FROM staging.qualifying)",
    "DELETE FROM staging.term WHERE id IN (SELECT reifier FROM staging.qualifying)",
    *FORGET_LOOSE,
    # Reifiers of unasserted triples get the triple's parts as edges, which statements of RDF 1.1 and OWL have already.
    """
INSERT INTO staging.triple SELECT reifier, :subject, s FROM staging.reifier
WHERE asserted = 0 AND reifier NOT IN (SELECT reifier FROM staging.statement)
""",
    """
INSERT INTO staging.literal
SELECT f.reifier, :predicate, r.key, 'xsd:anyURI', NULL FROM staging.reifier f JOIN relation r ON r.id = f.p
WHERE f.asserted = 0 AND f.reifier NOT IN (SELECT reifier FROM staging.statement)
""",
    """
INSERT INTO staging.triple SELECT reifier, :object, o FROM staging.reifier
WHERE asserted = 0 AND o IS NOT NULL AND reifier NOT IN (SELECT reifier FROM staging.statement)
""",
    """
INSERT INTO staging.literal
SELECT reifier, :object, text, datatype, language FROM staging.reifier
WHERE asserted = 0 AND o IS NULL AND reifier NOT IN (SELECT reifier FROM staging.statement)
""",
)
"""To be run in this order. Statements on `reifier`, `qualifying` and `loose` alone scan only these tables."""
