"""The graph file: one SQLite database, written once by the loader, only read afterwards; its tables and indexes."""

from __future__ import annotations

import re

from kgnav_mcp.adapters.embedded.queries.entities import any_row

APPLICATION_ID = 0x6B676E76
"""SQLite's application_id of a graph file: "kgnv"."""

FORMAT_VERSION = 4
"""SQLite's user_version. A file of another version is refused, with the command to load it again."""

DEGREE_FLOOR = 64
"""A node with more rows than this in one direction is a hub: the load stores its row counts by relation."""

EXACT_UP_TO = 2_000_000
"""Up to this number of triples, schema statistics count all. Above it, they use a sample of about half as many."""

RARE = 5_000
"""Relations with fewer rows are counted completely even in a sample, so that none is missing."""


def sample_step(triples: int) -> int:
    """Returns how many triples each one of the sample stands for; 1 if all are counted."""
    return max(1, -(-triples * 2 // EXACT_UP_TO)) if triples > EXACT_UP_TO else 1


TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE node (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, label TEXT, language TEXT, description TEXT,
    mediator INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE relation (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, label TEXT,
    edges INTEGER NOT NULL DEFAULT 0, attributes INTEGER NOT NULL DEFAULT 0,
    items INTEGER NOT NULL DEFAULT 0, multivalued INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE edge (
    s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, n INTEGER NOT NULL, qualifiers TEXT,
    PRIMARY KEY (s, p, o, n)
) WITHOUT ROWID;
CREATE TABLE attribute (
    node INTEGER NOT NULL, p INTEGER NOT NULL, n INTEGER NOT NULL,
    text TEXT NOT NULL, datatype TEXT, language TEXT, qualifiers TEXT, item INTEGER,
    PRIMARY KEY (node, p, n)
) WITHOUT ROWID;
CREATE TABLE label (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT, nodes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE node_label (node INTEGER NOT NULL, label INTEGER NOT NULL, PRIMARY KEY (node, label)) WITHOUT ROWID;
CREATE TABLE degree (
    node INTEGER NOT NULL, direction INTEGER NOT NULL, p INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (node, direction, p)
) WITHOUT ROWID;
CREATE TABLE through (
    node INTEGER NOT NULL, direction INTEGER NOT NULL, p1 INTEGER NOT NULL, p2 INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (node, direction, p1, p2)
) WITHOUT ROWID;
CREATE TABLE name (
    id INTEGER PRIMARY KEY, node INTEGER NOT NULL, kind INTEGER NOT NULL, language TEXT, text TEXT NOT NULL
);
CREATE VIRTUAL TABLE name_words USING fts5 (
    text, content = 'name', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE name_vocabulary USING fts5vocab (name_words, 'row');
CREATE TABLE edge_end (
    p INTEGER NOT NULL, side INTEGER NOT NULL, label INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (p, side, label)
) WITHOUT ROWID;
CREATE TABLE edge_join (
    p INTEGER NOT NULL, head INTEGER NOT NULL, tail INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (p, head, tail)
) WITHOUT ROWID;
CREATE TABLE edge_qualifier (
    p INTEGER NOT NULL, key TEXT NOT NULL, datatype TEXT NOT NULL, n INTEGER NOT NULL,
    items INTEGER NOT NULL, multivalued INTEGER NOT NULL,
    PRIMARY KEY (p, key, datatype)
) WITHOUT ROWID;
CREATE TABLE label_property (
    label INTEGER NOT NULL, p INTEGER NOT NULL, datatype TEXT NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (label, p, datatype)
) WITHOUT ROWID;
"""

EDGE_INDEXES = """
CREATE INDEX edge_incoming ON edge (o, p, s, n);
CREATE INDEX edge_qualified ON edge (p, s, o, n) WHERE qualifiers IS NOT NULL;
CREATE INDEX label_node ON node_label (label, node);
"""
NODE_INDEXES = """
CREATE UNIQUE INDEX node_key ON node (key);
CREATE INDEX attribute_value ON attribute (p, substr(text, 1, 64), node, n);
CREATE INDEX node_mediator ON node (id) WHERE mediator = 1;
CREATE INDEX name_node ON name (node, kind);
CREATE INDEX name_text ON name (text, kind, node);
"""
"""Built after the rows are written: sorting once costs a fraction of updating an index with every row."""

_FULL_TEXT_TABLES = (
    "CREATE TABLE 'name_words_data'(id INTEGER PRIMARY KEY, block BLOB)",
    "CREATE TABLE 'name_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
    "CREATE TABLE 'name_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB)",
    "CREATE TABLE 'name_words_config'(k PRIMARY KEY, v) WITHOUT ROWID",
)
"""Tables that SQLite itself makes for `name_words`, the same in every version of FTS5."""

SCHEMA = frozenset(_FULL_TEXT_TABLES).union(
    statement.strip() for statement in (TABLES + EDGE_INDEXES + NODE_INDEXES).split(";") if statement.strip()
)
"""All SQL definitions in a graph file, as SQLite stores them in `sqlite_schema`.

A file with any other definition is refused: a view or a trigger could run arbitrary SQL.
"""

_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*?)\)(?: WITHOUT ROWID)?;", re.DOTALL)
_COLUMN = re.compile(r"(\w+) (INTEGER|TEXT)( NOT NULL| PRIMARY KEY)?")


def _wrong_type_query(table: str, columns: str) -> str:
    conditions = (
        f"typeof({name}) NOT IN ('{kind.lower()}'{'' if constraint else ', ' + repr('null')})"
        for name, kind, constraint in _COLUMN.findall(columns)
    )
    return any_row(table, " OR ".join(conditions))


OTHER_VALUES = tuple(_wrong_type_query(*found) for found in _TABLE.findall(TABLES))
"""One query for each table: whether any value has another type than its column, which SQLite allows. Scans the table.
"""
