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
"""Built after the rows, in the order of the rows: a bulk sort costs a fraction of keeping an index up to date."""

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
    language TEXT, qualifiers TEXT
);
CREATE TABLE staging.naming (
    node INTEGER NOT NULL, kind INTEGER NOT NULL, rank INTEGER NOT NULL, language TEXT, text TEXT NOT NULL
);
CREATE TABLE staging.named_key (
    key TEXT NOT NULL, kind INTEGER NOT NULL, rank INTEGER NOT NULL, language TEXT, text TEXT NOT NULL
);
CREATE TABLE staging.fitting (node INTEGER NOT NULL, named_key INTEGER NOT NULL);
CREATE TABLE staging.labelled (node INTEGER NOT NULL, label INTEGER NOT NULL);
CREATE TABLE staging.reifier (
    reifier INTEGER NOT NULL, s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER,
    text TEXT, datatype TEXT, language TEXT, asserted INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE staging.statement (
    reifier INTEGER PRIMARY KEY, s INTEGER NOT NULL, p INTEGER, o INTEGER, text TEXT, datatype TEXT, language TEXT
);
CREATE TABLE staging.qualifying (reifier INTEGER PRIMARY KEY);
CREATE TABLE staging.qualification (reifier INTEGER PRIMARY KEY, qualifiers TEXT NOT NULL);
CREATE TABLE staging.loose (node INTEGER PRIMARY KEY);
CREATE TABLE staging.class (node INTEGER PRIMARY KEY, label INTEGER);
CREATE TABLE staging.remap (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TABLE staging.mediated (
    direction INTEGER, node INTEGER, p INTEGER, n INTEGER, PRIMARY KEY (direction, node, p)
) WITHOUT ROWID;
CREATE TABLE staging.edge_sample (p INTEGER, s INTEGER, o INTEGER, weight INTEGER);
"""
"""Rows in the order of the sources, before they are sorted into the graph file.

`triple` and `literal` are sets, as in RDF; `relationship` and `property` are lists, as in a property graph, and hold
reified RDF triples, too. A `reifier` names a triple with the tail `o`, or with a literal tail where that is NULL.
"""

UNNAMED = "CREATE TABLE unnamed (node INTEGER PRIMARY KEY);"
"""Beside the nodes while they are made: those that are mediators if they have an edge."""
