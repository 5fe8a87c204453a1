"""The tables and indexes of a graph file, as SQL. What they mean is written in `fileformat`."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE node (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, label TEXT, language TEXT, description TEXT,
    mediator INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE relation (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, label TEXT,
    edges INTEGER NOT NULL DEFAULT 0, attributes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE edge (
    s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, n INTEGER NOT NULL, qualifiers TEXT,
    PRIMARY KEY (s, p, o, n)
) WITHOUT ROWID;
CREATE TABLE attribute (
    node INTEGER NOT NULL, p INTEGER NOT NULL, n INTEGER NOT NULL,
    text TEXT NOT NULL, datatype TEXT, language TEXT, qualifiers TEXT,
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
CREATE TABLE edge_qualifier (
    p INTEGER NOT NULL, key TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (p, key)
) WITHOUT ROWID;
CREATE TABLE label_property (
    label INTEGER NOT NULL, p INTEGER NOT NULL, datatype TEXT NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (label, p, datatype)
) WITHOUT ROWID;
"""

INDEXES = """
CREATE UNIQUE INDEX node_key ON node (key);
CREATE INDEX edge_incoming ON edge (o, p, s, n);
CREATE INDEX edge_qualified ON edge (p, s, o, n) WHERE qualifiers IS NOT NULL;
CREATE INDEX attribute_value ON attribute (p, substr(text, 1, 64), node, n);
CREATE INDEX label_node ON node_label (label, node);
CREATE INDEX name_node ON name (node, kind);
CREATE INDEX name_text ON name (text, kind, node);
"""
"""Built after the rows, in the order of the rows: a bulk sort costs a fraction of keeping an index up to date."""
