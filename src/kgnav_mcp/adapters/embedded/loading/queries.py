"""The SQL statements of a load, its temporary tables, and bulk inserts.

The database `staging` has the rows in source order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

# Staging: one append each, in source order. `bulk` completes statements that end in VALUES with placeholders.
STAGE_TERM = "INSERT INTO staging.term (id, key) VALUES"
STAGE_TRIPLE = "INSERT INTO staging.triple VALUES"
STAGE_RELATIONSHIP = "INSERT INTO staging.relationship (s, p, o, qualifiers, source, line) VALUES"
STAGE_LITERAL = "INSERT INTO staging.literal VALUES"
STAGE_PROPERTY = "INSERT INTO staging.property (node, p, text, datatype, language, item) VALUES"
STAGE_NAMING = "INSERT INTO staging.naming VALUES"
STAGE_NAMED_KEY = "INSERT INTO staging.named_key VALUES"
STAGE_LABELLED = "INSERT INTO staging.labelled VALUES"
STAGE_REIFIER = "INSERT INTO staging.reifier (reifier, s, p, o, text, datatype, language) VALUES"

LAST_TRIPLE = "SELECT coalesce(max(rowid), 0) FROM staging.triple"

# One scan of the properties, for the error about a property that no node has.
STAGED_PROPERTIES = "SELECT DISTINCT p FROM staging.property"

# One scan of the terms between two numbers. In a table without names, the ids are the names.
STAGE_IDS_AS_NAMES = """
INSERT INTO staging.naming SELECT id, 0, ?3, NULL, key FROM staging.term
WHERE id > ?1 AND id <= ?2 AND substr(key, 1, 2) <> '_:'
"""
# One scan of the terms with an index probe each, then one row of the names for each match.
INDEX_NAMED_KEYS = "CREATE INDEX staging.named_key_key ON named_key (key)"
MATCH_NAMED_KEYS = """
INSERT INTO staging.key_match SELECT t.id, k.rowid FROM staging.term t CROSS JOIN staging.named_key k ON k.key = t.key
"""
STAGE_MATCHED_NAMES = """
INSERT INTO staging.naming
SELECT f.node, k.kind, k.rank, k.language, k.text
FROM staging.key_match f CROSS JOIN staging.named_key k ON k.rowid = f.named_key
"""
# One scan of the matching names, one probe for each relation; `?1` is a JSON list of relation keys.
COUNT_MATCHED_NAMES = """
SELECT count(*) FROM (
    SELECT named_key FROM staging.key_match WHERE named_key >= ?2 AND named_key < ?3
    UNION
    SELECT k.rowid FROM json_each(?1) r CROSS JOIN staging.named_key k ON k.key = r.value
    WHERE k.rowid >= ?2 AND k.rowid < ?3
)
"""
COUNT_NAMED_KEYS = "SELECT coalesce(max(rowid), 0) FROM staging.named_key"
NAMED_KEY = "SELECT key FROM staging.named_key WHERE rowid = ?"
FIRST_TERM = "SELECT key FROM staging.term WHERE substr(key, 1, 2) <> '_:' ORDER BY id LIMIT 1"

# Merges several numbers of one key, after the dictionary overflowed: one sort of all terms, one rewrite per table.
FIND_REPEATED_TERMS = """
INSERT INTO staging.remap
SELECT id, first FROM (SELECT id, min(id) OVER (PARTITION BY key) AS first FROM staging.term) WHERE id <> first
"""
FORGET_REPEATED_TERMS = "DELETE FROM staging.term WHERE id IN (SELECT old FROM staging.remap)"
UNIFY = tuple(
    f"UPDATE staging.{table} SET {column} = r.new FROM staging.remap r WHERE r.old = {column}"  # noqa: S608
    for table, column in (
        ("triple", "s"),
        ("triple", "o"),
        ("relationship", "s"),
        ("relationship", "o"),
        ("literal", "node"),
        ("property", "node"),
        ("naming", "node"),
        ("labelled", "node"),
        ("reifier", "reifier"),
        ("reifier", "s"),
        ("reifier", "o"),
    )
)

# Names blank nodes of RDF by their number, because the parser's names differ between runs: one scan of the terms.
NAME_BLANK_NODES = "UPDATE staging.term SET key = '_:b' || id WHERE id <= ? AND substr(key, 1, 2) = '_:'"

# Relationships of a property graph with an end that is in no node file: one scan of the relationships.
UNDECLARED_ENDS = """
SELECT r.source, r.line, (SELECT key FROM staging.term WHERE id = iif(r.s > ?1, r.s, r.o))
FROM staging.relationship r WHERE r.s > ?1 OR r.o > ?1 ORDER BY r.source, r.line
"""
FORGET_UNDECLARED_RELATIONSHIPS = "DELETE FROM staging.relationship WHERE s > ?1 OR o > ?1"
FORGET_UNDECLARED_TERMS = "DELETE FROM staging.term WHERE id > ?1"

# One external sort of all triples, then inserts in key order.
WRITE_EDGES = """
INSERT OR IGNORE INTO edge (s, p, o, n) SELECT s, p, o, 0 FROM staging.triple ORDER BY s, p, o
"""
# The same if triples have qualifiers or are parallel. The rows pass through Python, which numbers them.
SORTED_EDGES = """
SELECT s, p, o, 0 AS place, NULL FROM staging.triple
UNION ALL SELECT s, p, o, id, qualifiers FROM staging.relationship
ORDER BY 1, 2, 3, 4
"""
HAS_RELATIONSHIPS = "SELECT EXISTS (SELECT 1 FROM staging.relationship)"
WRITE_EDGE = "INSERT INTO edge (s, p, o, n, qualifiers) VALUES"
# One external sort of all literals; the rows pass through Python, which numbers the values of (node, p).
# A text of more than ?1 characters is left out of the sort, which keeps many rows in memory, and read afterwards.
SORTED_ATTRIBUTES = """
SELECT node, p, place, CASE WHEN long IS NULL THEN text WHEN place = 0 THEN
    (SELECT text FROM staging.literal WHERE rowid = long) ELSE (SELECT text FROM staging.property WHERE id = place) END,
    datatype, language, qualifiers, item
FROM (
    SELECT node, p, 0 AS place, iif(length(text) > ?1, digest(text), text) AS text, datatype, language,
        NULL AS qualifiers, iif(length(text) > ?1, rowid, NULL) AS long, NULL AS item FROM staging.literal
    UNION ALL
    SELECT node, p, id, iif(length(text) > ?1, NULL, text), datatype, language,
        qualifiers, iif(length(text) > ?1, id, NULL), item FROM staging.property
    ORDER BY 1, 2, 3, 4, 5, 6 LIMIT -1
)
"""
WRITE_ATTRIBUTE = "INSERT INTO attribute VALUES"
WRITE_RELATION = "INSERT INTO relation (id, key) VALUES (?, ?)"
WRITE_LABEL = "INSERT INTO label (id, key) VALUES (?, ?)"

# Classes: scans of the staged triples with a test of the relation; `?1` is a JSON list of relation numbers.
FIND_CLASSES = """
INSERT OR IGNORE INTO staging.class (node)
SELECT o FROM staging.triple WHERE p IN (SELECT value FROM json_each(?1))
UNION SELECT o FROM staging.relationship WHERE p IN (SELECT value FROM json_each(?1))
"""
WRITE_CLASSES = """
INSERT OR IGNORE INTO label (key)
SELECT t.key
FROM staging.class c JOIN staging.term t ON t.id = c.node ORDER BY c.node
"""
NUMBER_CLASSES = """
UPDATE staging.class AS c SET label = l.id
FROM staging.term t, label l
WHERE t.id = c.node AND l.key = t.key
"""
WRITE_NODE_LABELS = """
INSERT OR IGNORE INTO node_label (node, label)
SELECT node, label FROM staging.labelled
UNION ALL SELECT t.s, c.label FROM staging.triple t CROSS JOIN staging.class c ON c.node = t.o
    WHERE t.p IN (SELECT value FROM json_each(?1))
UNION ALL SELECT t.s, c.label FROM staging.relationship t CROSS JOIN staging.class c ON c.node = t.o
    WHERE t.p IN (SELECT value FROM json_each(?1))
ORDER BY 1, 2
"""

# Terms that an ontology declares obsolete: one scan of the staged literals and properties.
FIND_DEPRECATED = """
INSERT OR IGNORE INTO staging.deprecated
SELECT node FROM staging.literal WHERE p = ?1 AND text IN ('true', '1')
UNION SELECT node FROM staging.property WHERE p = ?1 AND text IN ('true', '1')
"""

# Nodes and names: one scan of the terms, one sort of the names.
TERMS = "SELECT id, key, id IN (SELECT node FROM staging.deprecated) FROM staging.term ORDER BY id"
SORTED_NAMES = "SELECT node, kind, rank, language, text FROM staging.naming ORDER BY node, kind, rank, language, text"
WRITE_NODE = "INSERT INTO node (id, key, label, language, description) VALUES"
WRITE_NAME = "INSERT INTO name (node, kind, language, text) VALUES"
STAGE_UNNAMED = "INSERT INTO unnamed VALUES"
# One scan of the names.
WRITE_NAME_WORDS = "INSERT INTO name_words (name_words) VALUES ('rebuild')"

# Copies whole tables. FTS5 documents its index's tables as its storage.
COPY_NODES = (
    "INSERT INTO attribute SELECT * FROM nodes.attribute",
    "INSERT INTO node SELECT * FROM nodes.node",
    "INSERT INTO name SELECT * FROM nodes.name",
    "INSERT OR REPLACE INTO name_words_data SELECT * FROM nodes.name_words_data",
    "INSERT OR REPLACE INTO name_words_idx SELECT * FROM nodes.name_words_idx",
    "INSERT OR REPLACE INTO name_words_docsize SELECT * FROM nodes.name_words_docsize",
)

# Run after the indexes are built: probes for each relation, each label, each node that may be a mediator.
NAME_RELATIONS = """
UPDATE relation SET label = coalesce(
    (SELECT label FROM node WHERE node.key = relation.key),
    (SELECT text FROM staging.named_key k WHERE k.key = relation.key AND k.kind = 0 ORDER BY rank, language, text)
)
"""
NAME_LABELS = "UPDATE label SET name = (SELECT label FROM node WHERE node.key = label.key)"
COUNT_LABELS = "UPDATE label SET nodes = (SELECT count(*) FROM node_label WHERE node_label.label = label.id)"
MARK_MEDIATORS = """
UPDATE node SET mediator = 1
WHERE id IN (SELECT node FROM nodes.unnamed)
    AND (EXISTS (SELECT 1 FROM edge WHERE s = node.id) OR EXISTS (SELECT 1 FROM edge WHERE o = node.id))
"""

# One scan of all triples each, in stored order. The reader adds up the counts, because grouping by relation alone
# would sort all rows. Grouping by tail gives the fewest counts, since edges of one tail share relations the most.
# Grouping attributes by node tells which relations have several values at one node.
ANY_EDGE = "SELECT 1 FROM edge LIMIT 1"
EDGE_RELATIONS = "SELECT p, count(*) FROM edge INDEXED BY edge_incoming GROUP BY o, p"
ATTRIBUTE_RELATIONS = "SELECT p, count(*), count(item) FROM attribute NOT INDEXED GROUP BY node, p"
WRITE_EDGE_COUNT = "UPDATE relation SET edges = ?2 WHERE id = ?1"
WRITE_ATTRIBUTE_COUNT = "UPDATE relation SET attributes = ?2, items = ?3, multivalued = ?4 WHERE id = ?1"
# One probe for each relation. Removes relations that occur only in reified triples or bad lines.
FORGET_UNUSED_RELATIONS = """
DELETE FROM relation WHERE edges = 0 AND attributes = 0 AND key NOT IN (SELECT key FROM edge_qualifier)
"""

# Degrees: one scan of all triples in either order, then only the rows of nodes above the degree floor.
WRITE_DEGREE = "INSERT INTO degree (node, direction, p, n) VALUES (?, ?, ?, ?)"
DEGREES_OUTGOING = """
WITH heavy AS MATERIALIZED (
    SELECT node FROM (
        SELECT s AS node, count(*) AS n FROM edge GROUP BY s
        UNION ALL SELECT node, count(*) FROM attribute GROUP BY node
    ) GROUP BY node HAVING sum(n) > ?1
)
SELECT node, 0, p, sum(n) FROM (
    SELECT s AS node, p, count(*) AS n FROM edge WHERE s IN (SELECT node FROM heavy) GROUP BY s, p
    UNION ALL
    SELECT node, p, count(*) FROM attribute WHERE node IN (SELECT node FROM heavy) GROUP BY node, p
) GROUP BY node, p
"""
DEGREES_INCOMING = """
WITH heavy AS MATERIALIZED (
    SELECT o AS node FROM edge INDEXED BY edge_incoming GROUP BY o HAVING count(*) > ?1
)
SELECT o, 1, p, count(*) FROM edge INDEXED BY edge_incoming WHERE o IN (SELECT node FROM heavy) GROUP BY o, p
"""

# Two-hop counts: counts the rows of mediators by relation, then follows one step from each heavy node.
HAS_MEDIATORS = "SELECT EXISTS (SELECT 1 FROM node WHERE mediator = 1)"
COUNT_OUTGOING_OF_MEDIATORS = """
INSERT INTO staging.mediated
SELECT 0, node, p, sum(n) FROM (
    SELECT s AS node, p, count(*) AS n FROM edge WHERE s IN (SELECT id FROM node WHERE mediator = 1) GROUP BY s, p
    UNION ALL
    SELECT node, p, count(*) FROM attribute WHERE node IN (SELECT id FROM node WHERE mediator = 1) GROUP BY node, p
) GROUP BY node, p
"""
COUNT_INCOMING_OF_MEDIATORS = """
INSERT INTO staging.mediated
SELECT 1, o, p, count(*) FROM edge INDEXED BY edge_incoming
WHERE o IN (SELECT id FROM node WHERE mediator = 1) GROUP BY o, p
"""
WRITE_THROUGH_OUTGOING = """
INSERT INTO through (node, direction, p1, p2, n)
SELECT node, 0, p1, p2, sum(n) FROM (
    SELECT e.s AS node, e.p AS p1, m.p AS p2,
        m.n - (SELECT count(*) FROM edge b WHERE b.s = e.o AND b.p = m.p AND b.o = e.s) AS n
    FROM (SELECT DISTINCT node FROM degree WHERE direction = 0) d
    CROSS JOIN edge e ON e.s = d.node
    CROSS JOIN staging.mediated m ON m.direction = 0 AND m.node = e.o
) GROUP BY node, p1, p2 HAVING sum(n) > 0
"""
WRITE_THROUGH_INCOMING = """
INSERT INTO through (node, direction, p1, p2, n)
SELECT node, 1, p1, p2, sum(n) FROM (
    SELECT e.o AS node, m.p AS p1, e.p AS p2,
        m.n - (SELECT count(*) FROM edge b WHERE b.s = e.o AND b.p = m.p AND b.o = e.s) AS n
    FROM (SELECT DISTINCT node FROM degree WHERE direction = 1) d
    CROSS JOIN edge e INDEXED BY edge_incoming ON e.o = d.node
    CROSS JOIN staging.mediated m ON m.direction = 1 AND m.node = e.s
) GROUP BY node, p1, p2 HAVING sum(n) > 0
"""

# Schema statistics: one scan. In a large graph every ?2-th triple, and all triples of relations with fewer than ?1.
HAS_LABELS = "SELECT EXISTS (SELECT 1 FROM node_label)"
FILL_EDGE_SAMPLE = """
INSERT INTO staging.edge_sample
SELECT p, s, o, iif(rare, 1, ?2) FROM (
    SELECT p, s, o, p IN (SELECT id FROM relation WHERE edges < ?1) AS rare FROM edge
) WHERE (s * 31 + o * 17) % ?2 = 0 OR rare
"""
WRITE_EDGE_HEADS = """
INSERT INTO edge_end (p, side, label, n)
SELECT e.p, 0, l.label, sum(e.weight) FROM staging.edge_sample e CROSS JOIN node_label l ON l.node = e.s
GROUP BY e.p, l.label
"""
WRITE_EDGE_TAILS = """
INSERT INTO edge_end (p, side, label, n)
SELECT e.p, 1, l.label, sum(e.weight) FROM staging.edge_sample e CROSS JOIN node_label l ON l.node = e.o
GROUP BY e.p, l.label
"""
WRITE_EDGE_JOINS = """
INSERT INTO edge_join (p, head, tail, n)
SELECT p, head, tail, n FROM (
    SELECT *, row_number() OVER (PARTITION BY p ORDER BY n DESC, head, tail) AS place FROM (
        SELECT e.p AS p, h.label AS head, t.label AS tail, sum(e.weight) AS n FROM staging.edge_sample e
        CROSS JOIN node_label h ON h.node = e.s CROSS JOIN node_label t ON t.node = e.o GROUP BY e.p, h.label, t.label
    )
) WHERE place <= ?
"""
HAS_QUALIFIED_ATTRIBUTES = "SELECT EXISTS (SELECT 1 FROM staging.property WHERE qualifiers IS NOT NULL)"
WRITE_QUALIFIERS = """
INSERT INTO edge_qualifier (p, key, datatype, n, items, multivalued)
SELECT triple.p, q.key, CASE v.type WHEN 'object' THEN 'node' ELSE coalesce(
    json_extract(v.value, '$[1]'), iif(json_extract(v.value, '$[2]') IS NULL, 'string', 'langString')
) END, count(*), sum(v.type = 'array' AND json_array_length(v.value) > 3), max(v.key > 0) FROM (
    SELECT p, qualifiers FROM edge INDEXED BY edge_qualified WHERE qualifiers IS NOT NULL
    UNION ALL SELECT p, qualifiers FROM attribute WHERE ?1 AND qualifiers IS NOT NULL
) triple, json_each(triple.qualifiers) q, json_each(q.value) v GROUP BY 1, 2, 3
"""
WRITE_LABEL_PROPERTIES = """
INSERT INTO label_property (label, p, datatype, n)
SELECT coalesce(l.label, 0), a.p, a.datatype, sum(a.weight) FROM (
    SELECT node, p, coalesce(datatype, iif(language IS NULL, 'string', 'langString')) AS datatype,
        iif(rare, 1, ?2) AS weight
    FROM (
        SELECT node, p, datatype, language, +p IN (SELECT id FROM relation WHERE attributes < ?1) AS rare
        FROM attribute WHERE node > 0
    ) WHERE (node * 31 + p) % ?2 = 0 OR rare
) a LEFT JOIN node_label l ON l.node = a.node
GROUP BY 1, 2, 3
"""

LAST_NODE = "SELECT coalesce(max(id), 0) FROM node"
KEYS_OF_NODES = "SELECT n.key FROM json_each(?) AS sampled JOIN node AS n ON n.id = sampled.value"
_TABLES_WITH_KEYS = ("node", "relation", "label")
_WITH_NAMESPACE = "SELECT 1 FROM {table} WHERE key >= ?1 AND key < ?1 || char(0x10FFFF)"
HAS_NAMESPACE = "SELECT EXISTS ({})".format(
    " UNION ALL ".join(_WITH_NAMESPACE.format(table=table) for table in _TABLES_WITH_KEYS)
)
"""Whether any id begins with a namespace."""
SHORT_FORMS = "CREATE TEMP TABLE short_form (prefix TEXT PRIMARY KEY, namespace TEXT NOT NULL) WITHOUT ROWID"
ADD_SHORT_FORMS = "INSERT INTO short_form (prefix, namespace) VALUES (?, ?)"
_TWO_READINGS = """
SELECT 1 FROM (
    SELECT substr(key, 1, colon - 1) AS prefix, substr(key, colon + 1) AS local
    FROM (SELECT key, instr(key, ':') AS colon FROM {table}) WHERE colon > 1 AND local NOT GLOB '/*'
) AS written LEFT JOIN short_form USING (prefix)
JOIN {table} AS meant ON meant.key = coalesce(namespace || local, :obo || prefix || '_' || local)
"""
HAS_TWO_READINGS = "SELECT EXISTS ({})".format(
    " UNION ALL ".join(_TWO_READINGS.format(table=table) for table in _TABLES_WITH_KEYS)
)
"""Whether an id, read as a short form by a prefix or the OBO Foundry's rule, means another id of the same table."""
USES_OF_RELATIONS = "SELECT key, edges + attributes FROM relation"
USES_OF_HUBS = "SELECT n.key, sum(d.n) FROM degree AS d JOIN node AS n ON n.id = d.node GROUP BY d.node"
WRITE_META = "INSERT INTO meta (key, value) VALUES (?, ?)"
COUNT_ALL = "SELECT (SELECT count(*) FROM node), (SELECT coalesce(sum(edges + attributes), 0) FROM relation)"


STAGING_TABLES = """
CREATE TABLE staging.term (id INTEGER PRIMARY KEY, key TEXT NOT NULL);
CREATE TABLE staging.triple (s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL);
CREATE TABLE staging.relationship (
    id INTEGER PRIMARY KEY, s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, qualifiers TEXT,
    source INTEGER, line INTEGER
);
CREATE TABLE staging.literal (
    node INTEGER NOT NULL, p INTEGER NOT NULL, text TEXT NOT NULL, datatype TEXT, language TEXT
);
CREATE TABLE staging.property (
    id INTEGER PRIMARY KEY, node INTEGER NOT NULL, p INTEGER NOT NULL, text TEXT NOT NULL, datatype TEXT,
    language TEXT, qualifiers TEXT, item INTEGER
);
CREATE TABLE staging.naming (
    node INTEGER NOT NULL, kind INTEGER NOT NULL, rank INTEGER NOT NULL, language TEXT, text TEXT NOT NULL
);
CREATE TABLE staging.named_key (
    key TEXT NOT NULL, kind INTEGER NOT NULL, rank INTEGER NOT NULL, language TEXT, text TEXT NOT NULL
);
CREATE TABLE staging.key_match (node INTEGER NOT NULL, named_key INTEGER NOT NULL);
CREATE TABLE staging.labelled (node INTEGER NOT NULL, label INTEGER NOT NULL);
CREATE TABLE staging.reifier (
    reifier INTEGER NOT NULL, s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER,
    text TEXT, datatype TEXT, language TEXT, asserted INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE staging.statement (
    reifier INTEGER PRIMARY KEY, s INTEGER NOT NULL, p INTEGER, o INTEGER, text TEXT, datatype TEXT, language TEXT,
    is_axiom INTEGER NOT NULL
);
CREATE TABLE staging.merged_axiom (reifier INTEGER PRIMARY KEY, first INTEGER NOT NULL);
CREATE TABLE staging.qualifying (reifier INTEGER PRIMARY KEY);
CREATE TABLE staging.qualification (reifier INTEGER PRIMARY KEY, qualifiers TEXT NOT NULL);
CREATE TABLE staging.loose (node INTEGER PRIMARY KEY);
CREATE TABLE staging.deprecated (node INTEGER PRIMARY KEY);
CREATE TABLE staging.class (node INTEGER PRIMARY KEY, label INTEGER);
CREATE TABLE staging.remap (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TABLE staging.mediated (
    direction INTEGER, node INTEGER, p INTEGER, n INTEGER, PRIMARY KEY (direction, node, p)
) WITHOUT ROWID;
CREATE TABLE staging.edge_sample (p INTEGER, s INTEGER, o INTEGER, weight INTEGER);
"""
"""Rows in source order, before they are sorted into the graph file.

`triple` and `literal` are sets, as in RDF. `relationship` and `property` are lists, as in a property graph; they also
hold reified RDF triples. A `reifier` refers to a triple with the tail `o` or, if that is NULL, with a literal tail.
`merged_axiom` has the axioms that annotate the same triple as an axiom before them, the `first`.
"""

UNNAMED = "CREATE TABLE unnamed (node INTEGER PRIMARY KEY);"
"""Nodes that are mediators if they have an edge. Used while the nodes are written."""


PARAMETERS = 900
"""Maximum number of parameters of one statement. Every SQLite allows 999."""

BATCH = 50_000
"""Maximum number of rows in a batch. Progress is reported after each batch from a source."""

BATCH_TEXT = 64 * 1024 * 1024
"""Maximum number of characters in a batch, because a single text may have millions.

Few sources reach it in 50,000 rows.
"""

Row = TypeVar("Row")


def insert(connection: sqlite3.Connection, into: str, rows: Sequence[Sequence[object]]) -> None:
    """Inserts rows of equal width. `into` is a statement that ends in VALUES."""
    if rows:
        insert_values(connection, into, len(rows[0]), list(chain.from_iterable(rows)))


def insert_values(connection: sqlite3.Connection, into: str, width: int, values: Sequence[Any]) -> None:
    """Inserts rows of this width, given as one flat sequence of values."""
    placeholders = f"({', '.join('?' * width)})"
    rows_per_statement = PARAMETERS // width
    values_per_statement = rows_per_statement * width
    statement = f"{into} {', '.join([placeholders] * rows_per_statement)}"
    full_length = len(values) - len(values) % values_per_statement
    for start in range(0, full_length, values_per_statement):
        connection.execute(statement, values[start : start + values_per_statement])
    rest = values[full_length:]
    connection.executemany(f"{into} {placeholders}", zip(*(rest[place::width] for place in range(width)), strict=True))


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yields lists of `BATCH` rows; the last may be shorter."""
    source = iter(rows)
    while batch := list(islice(source, BATCH)):
        yield batch


def text_batches(rows: Iterable[Sequence[Any]], column: int) -> Iterator[list[Sequence[Any]]]:
    """Yields lists of up to `BATCH` rows that end early when the texts in one column reach `BATCH_TEXT`."""
    batch: list[Sequence[Any]] = []
    text_length = 0
    for row in rows:
        batch.append(row)
        text_length += len(row[column])
        if text_length >= BATCH_TEXT or len(batch) == BATCH:
            yield batch
            batch, text_length = [], 0
    if batch:
        yield batch
