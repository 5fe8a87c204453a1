"""Temporary tables of a load, as SQL. The tables of the finished file are in `filetables`."""

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
CREATE TABLE staging.fitting (node INTEGER NOT NULL, named_key INTEGER NOT NULL);
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
"""Used while the nodes are written: nodes that are mediators if they have an edge."""
