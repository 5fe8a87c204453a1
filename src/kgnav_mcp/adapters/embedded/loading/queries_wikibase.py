"""SQL statements that turn the statements of a Wikibase's RDF into triples with qualifiers.

They run only if the sources have such RDF. Each is one scan of the staged triples, literals or terms with probes by
primary key, unless noted otherwise. Ranges of keys are given by their first key and by the first key after them
(`:entities`, `:entities_end`).
"""

TABLES = (
    "CREATE TABLE staging.wikibase_role (p INTEGER PRIMARY KEY, role TEXT NOT NULL, property INTEGER, part TEXT)",
    "CREATE TABLE staging.wikibase_class (node INTEGER PRIMARY KEY, role TEXT NOT NULL, property INTEGER)",
    "CREATE TABLE staging.wikibase_property (node INTEGER PRIMARY KEY, key TEXT NOT NULL)",
    "CREATE TABLE staging.wikibase_internal (node INTEGER PRIMARY KEY)",
    "CREATE TABLE staging.wikibase_about (node INTEGER PRIMARY KEY)",
    "CREATE TABLE staging.wikibase_stated (node INTEGER PRIMARY KEY)",
    "CREATE TABLE staging.wikibase_used (node INTEGER PRIMARY KEY)",
    """
CREATE TABLE staging.wikibase_part (
    node INTEGER NOT NULL, part TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (node, part)
) WITHOUT ROWID
""",
    "CREATE TABLE staging.wikibase_triple (s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL)",
    """
CREATE TABLE staging.wikibase_literal (
    node INTEGER NOT NULL, p INTEGER NOT NULL, text TEXT NOT NULL, datatype TEXT, language TEXT
)
""",
)
"""`wikibase_role`: the role of each predicate, and the number of its property's relation. `wikibase_class`: classes of
statements. `wikibase_internal`: nodes of statements, references, full values, sitelinks, ontology.
`wikibase_part`: parts of full values. `wikibase_triple`, `wikibase_literal`: what remains of the staged rows.
"""

ADD_ROLE = "INSERT INTO staging.wikibase_role VALUES (?, ?, ?, ?)"
ADD_CLASS = "INSERT INTO staging.wikibase_class VALUES (?, ?, ?)"
ADD_PROPERTY = "INSERT INTO staging.wikibase_property VALUES (?, ?)"
STAGE_RELATIONSHIP = "INSERT INTO staging.relationship (s, p, o, qualifiers) VALUES"
STAGE_PROPERTY = "INSERT INTO staging.property (node, p, text, datatype, language, qualifiers) VALUES"
STAGE_TRIPLE = "INSERT INTO staging.wikibase_triple VALUES"
STAGE_LITERAL = "INSERT INTO staging.wikibase_literal VALUES"
STAGE_NAME = "INSERT INTO staging.named_key VALUES (?, 0, ?, NULL, ?)"
USE = "INSERT OR IGNORE INTO staging.wikibase_used VALUES (?)"

# The properties, the classes of statements without a value, and the terms in the JSON list `:keys`.
NAMED_TERMS = """
SELECT id, key FROM staging.term WHERE (key >= :properties AND key < :properties_end)
    OR (key >= :no_values AND key < :no_values_end) OR key IN (SELECT value FROM json_each(:keys))
"""
DATATYPES = """
SELECT p.key, k.key FROM staging.triple t CROSS JOIN staging.wikibase_property p ON p.node = t.s
CROSS JOIN staging.term k ON k.id = t.o WHERE t.p = :property_type
"""

FIND_INTERNAL = (
    """
INSERT INTO staging.wikibase_internal SELECT id FROM staging.term
WHERE (key >= :predicates AND key < :predicates_end) OR (key >= :statements AND key < :statements_end)
    OR (key >= :values AND key < :values_end) OR (key >= :references AND key < :references_end)
    OR (key >= :ontology AND key < :ontology_end)
""",
    # Pages about entities. Those that are in a wiki or are datasets are sitelinks and descriptions of the export.
    """
INSERT OR IGNORE INTO staging.wikibase_about
SELECT t.s FROM staging.triple t CROSS JOIN staging.term k ON k.id = t.o
WHERE t.p IN (SELECT value FROM json_each(:about)) AND k.key >= :entities AND k.key < :entities_end
""",
    """
INSERT OR IGNORE INTO staging.wikibase_internal
SELECT t.s FROM staging.triple t CROSS JOIN staging.wikibase_about a ON a.node = t.s
WHERE t.p IN (SELECT value FROM json_each(:in_wiki)) OR (t.p = :type AND t.o IN (SELECT value FROM json_each(:dataset)))
""",
    # Blank nodes that define the classes of statements without a value.
    """
INSERT OR IGNORE INTO staging.wikibase_internal
SELECT t.o FROM staging.triple t CROSS JOIN staging.wikibase_internal i ON i.node = t.s WHERE t.p = :complement
""",
)

FIND_PARTS = (
    """
INSERT OR IGNORE INTO staging.wikibase_part
SELECT l.node, r.part, l.text FROM staging.literal l CROSS JOIN staging.wikibase_role r ON r.p = l.p
WHERE r.role = 'part'
""",
    """
INSERT OR IGNORE INTO staging.wikibase_part
SELECT t.s, r.part, k.key FROM staging.triple t CROSS JOIN staging.wikibase_role r ON r.p = t.p
CROSS JOIN staging.term k ON k.id = t.o WHERE r.role = 'part'
""",
    "INSERT OR IGNORE INTO staging.wikibase_stated SELECT t.s FROM staging.triple t "
    "CROSS JOIN staging.wikibase_role r ON r.p = t.p WHERE r.role = 'claim'",
)
# One scan of the triples and one of the names.
UNIT_NAMES = """
WITH unit AS MATERIALIZED (SELECT DISTINCT o FROM staging.triple WHERE p = :unit)
SELECT k.key, n.rank, n.language, n.text FROM staging.naming n CROSS JOIN staging.term k ON k.id = n.node
WHERE n.kind = 0 AND n.node IN (SELECT o FROM unit) ORDER BY 1, 2, 3, 4
"""

# All rows of each statement: five scans, and one external sort of the rows of statements.
STATEMENT_ROWS = """
SELECT t.o, r.role, r.property, t.s, NULL, NULL, NULL
FROM staging.triple t CROSS JOIN staging.wikibase_role r ON r.p = t.p WHERE r.role = 'claim'
UNION ALL
SELECT t.s, r.role, r.property, t.o, k.key, NULL, NULL
FROM staging.triple t CROSS JOIN staging.wikibase_role r ON r.p = t.p CROSS JOIN staging.term k ON k.id = t.o
WHERE r.role IN ('value', 'qualifier', 'rank', 'reference')
UNION ALL
SELECT t.s, r.role, r.property, NULL,
    (SELECT json_group_object(f.part, f.text) FROM staging.wikibase_part f WHERE f.node = t.o), NULL, NULL
FROM staging.triple t CROSS JOIN staging.wikibase_role r ON r.p = t.p WHERE r.role = 'full'
UNION ALL
SELECT t.s, c.role, c.property, NULL, NULL, NULL, NULL
FROM staging.triple t CROSS JOIN staging.wikibase_class c ON c.node = t.o WHERE t.p = :type
UNION ALL
SELECT l.node, r.role, r.property, NULL, l.text, l.datatype, l.language
FROM staging.literal l CROSS JOIN staging.wikibase_role r ON r.p = l.p WHERE r.role IN ('value', 'qualifier')
ORDER BY 1, 2, 3, 4, 5, 6, 7
"""

# Values of entities whose statements are not among the sources, as in a truthy dump.
DIRECT_ROWS = """
SELECT t.s, r.property, t.o, k.key, NULL, NULL
FROM staging.triple t CROSS JOIN staging.wikibase_role r ON r.p = t.p CROSS JOIN staging.term k ON k.id = t.o
WHERE r.role = 'direct' AND t.s NOT IN (SELECT node FROM staging.wikibase_stated)
UNION ALL
SELECT l.node, r.property, NULL, l.text, l.datatype, l.language
FROM staging.literal l CROSS JOIN staging.wikibase_role r ON r.p = l.p
WHERE r.role = 'direct' AND l.node NOT IN (SELECT node FROM staging.wikibase_stated)
"""

KEEP_OTHERS = (
    """
INSERT INTO staging.wikibase_triple SELECT t.s, t.p, t.o FROM staging.triple t
WHERE coalesce((SELECT role FROM staging.wikibase_role r WHERE r.p = t.p), 'reference') = 'reference'
    AND t.s NOT IN (SELECT node FROM staging.wikibase_internal)
    AND t.o NOT IN (SELECT node FROM staging.wikibase_internal)
""",
    """
INSERT INTO staging.wikibase_literal SELECT l.* FROM staging.literal l
WHERE l.p NOT IN (SELECT p FROM staging.wikibase_role) AND l.node NOT IN (SELECT node FROM staging.wikibase_internal)
    AND NOT (l.p IN (SELECT value FROM json_each(:terms)) AND EXISTS (
        SELECT 1 FROM staging.term k WHERE k.id = l.node AND k.key >= :entities AND k.key < :entities_end
    ))
""",
    "DROP TABLE staging.triple",
    "ALTER TABLE staging.wikibase_triple RENAME TO triple",
    "DROP TABLE staging.literal",
    "ALTER TABLE staging.wikibase_literal RENAME TO literal",
    "DELETE FROM staging.naming WHERE node IN (SELECT node FROM staging.wikibase_internal)",
)
"""Keep rows that do not belong to the Wikibase's own vocabulary. Names of entities are not kept as values as well."""

FORGET_UNUSED_TERMS = (
    *(
        f"INSERT OR IGNORE INTO staging.wikibase_used SELECT {column} FROM staging.{table}"  # noqa: S608
        for table, column in (
            ("triple", "s"),
            ("triple", "o"),
            ("relationship", "s"),
            ("relationship", "o"),
            ("literal", "node"),
            ("property", "node"),
            ("naming", "node"),
            ("reifier", "reifier"),
            ("reifier", "s"),
        )
    ),
    "INSERT OR IGNORE INTO staging.wikibase_used SELECT o FROM staging.reifier WHERE o IS NOT NULL",
    "DELETE FROM staging.term WHERE id <= :last_rdf AND id NOT IN (SELECT node FROM staging.wikibase_used)",
)
"""Remove nodes that only occurred in the rows that were folded. One scan of each table."""

# One scan of the names. The names of a property are those of its relation.
NAME_PROPERTIES = (
    """
INSERT INTO staging.named_key SELECT p.key, n.kind, n.rank, n.language, n.text
FROM staging.naming n CROSS JOIN staging.wikibase_property p ON p.node = n.node WHERE n.kind = 0
""",
    "CREATE INDEX IF NOT EXISTS staging.named_key_key ON named_key (key)",
)
COUNT_NAMED_PROPERTIES = """
SELECT count(*) FROM json_each(?) r WHERE EXISTS (
    SELECT 1 FROM staging.named_key k WHERE k.key = r.value AND k.kind = 0
)
"""
# One scan of the rows up to the first of the relation.
IS_USED = """
SELECT EXISTS (SELECT 1 FROM staging.triple WHERE p = :relation)
    OR EXISTS (SELECT 1 FROM staging.relationship WHERE p = :relation)
"""
