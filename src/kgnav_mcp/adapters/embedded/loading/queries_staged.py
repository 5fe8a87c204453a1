"""SQL statements that change staged rows before they are written: ids joined, class expressions folded, reifiers.

They run only if the sources have such rows.
"""

from kgnav_mcp.adapters.embedded.loading.queries import FORGET_REPEATED_TERMS, UNIFY

# Short ids of tables that mean the entities of other sources.
SHORT_FORM_TABLES = (
    """
CREATE TABLE staging.short (id INTEGER PRIMARY KEY, full TEXT NOT NULL, declared INTEGER NOT NULL, entity INTEGER)
""",
    "CREATE INDEX staging.short_full ON short (full)",
)
SHORT_TERMS = "SELECT id, key FROM staging.term WHERE id > ? AND instr(key, ':') > 1 AND substr(key, 1, 2) <> '_:'"
STAGE_SHORT = "INSERT OR IGNORE INTO staging.short (id, full, declared) VALUES (?, ?, ?)"

# One scan of the terms with an index probe each.
FIND_FULL = """
UPDATE staging.short SET entity = t.id
FROM (
    SELECT min(t.id) AS id, s.full FROM staging.term t CROSS JOIN staging.short s INDEXED BY short_full
    ON s.full = t.key GROUP BY s.full
) t WHERE t.full = short.full
"""
COUNT_JOINED = "SELECT count(*) FROM staging.short WHERE entity IS NOT NULL AND entity <> id"
COUNT_TERMS = "SELECT count(*) FROM staging.term WHERE id > ?"
FIRST_JOINED = """
SELECT (SELECT key FROM staging.term WHERE id = s.id), full FROM staging.short s
WHERE entity IS NOT NULL AND entity <> id ORDER BY id LIMIT 1
"""
# Of several short forms of an IRI that no source has, the first becomes the entity.
FIND_DECLARED = """
UPDATE staging.short SET entity = f.id
FROM (SELECT full, min(id) AS id FROM staging.short GROUP BY full) f
WHERE entity IS NULL AND declared AND f.full = short.full
"""
FORGET_ID_NAMES = """
DELETE FROM staging.naming WHERE rank = ? AND node IN (SELECT id FROM staging.short WHERE entity <> id)
"""
EXPAND_DECLARED = """
UPDATE staging.term SET key = s.full FROM staging.short s WHERE s.id = term.id AND s.entity = s.id
"""
MERGE_SHORT_FORMS = (
    "INSERT INTO staging.remap SELECT id, entity FROM staging.short WHERE entity <> id",
    *UNIFY,
    FORGET_REPEATED_TERMS,
    "DELETE FROM staging.remap",
)

# One scan of the triples of RDF, the names and the properties.
FIND_ENDS = (
    "CREATE TABLE staging.table_end (side INTEGER, node INTEGER, PRIMARY KEY (side, node)) WITHOUT ROWID",
    "CREATE TABLE staging.described (node INTEGER PRIMARY KEY)",
    """
INSERT OR IGNORE INTO staging.table_end
SELECT 0, s FROM staging.triple WHERE rowid > :last UNION SELECT 1, o FROM staging.triple WHERE rowid > :last
UNION SELECT 0, s FROM staging.relationship UNION SELECT 1, o FROM staging.relationship
""",
    """
INSERT OR IGNORE INTO staging.described
SELECT s FROM staging.triple WHERE rowid <= :last
UNION SELECT node FROM staging.literal UNION SELECT node FROM staging.property UNION SELECT node FROM staging.labelled
UNION SELECT node FROM staging.naming WHERE rank <> :rank
""",
)
COUNT_ENDS = """
SELECT side, count(*), sum(node NOT IN (SELECT node FROM staging.described)) FROM staging.table_end
GROUP BY side ORDER BY side
"""
UNDESCRIBED = """
SELECT k.key FROM staging.table_end e JOIN staging.term k ON k.id = e.node
WHERE e.side = ? AND e.node NOT IN (SELECT node FROM staging.described) ORDER BY e.node LIMIT ?
"""
DESCRIBED = """
SELECT k.key FROM staging.described d JOIN staging.term k ON k.id = d.node
WHERE substr(k.key, 1, 2) <> '_:' ORDER BY k.id LIMIT ?
"""

# Statements about triples.
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
"""Collect statements by the three relations to their subject, predicate and object."""

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

PART_TABLE = "CREATE TABLE staging.part (p INTEGER PRIMARY KEY)"
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
"""Remove the nodes in `loose` that nothing refers to any more. One scan of each table."""

QUALIFY = (
    # Triples with qualifiers or several statements move from the sets (`triple`, `literal`) to the lists
    # (`relationship`, `property`), once for each statement, also if statements are equal or have no qualifiers.
    """
INSERT INTO staging.relationship (s, p, o, qualifiers)
SELECT r.s, r.p, r.o, q.qualifiers FROM staging.reifier r LEFT JOIN staging.qualification q ON q.reifier = r.reifier
WHERE r.asserted = 1 AND r.o IS NOT NULL AND r.reifier NOT IN (SELECT reifier FROM staging.merged_axiom) AND EXISTS (
    SELECT 1 FROM staging.reifier n LEFT JOIN staging.qualification m ON m.reifier = n.reifier
    WHERE n.s = r.s AND n.p = r.p AND n.o = r.o AND (m.reifier IS NOT NULL OR n.reifier <> r.reifier)
)
GROUP BY r.reifier, r.s, r.p, r.o ORDER BY min(r.rowid)
""",
    """
DELETE FROM staging.triple WHERE (
    SELECT count(q.reifier) + count(DISTINCT r.reifier)
    FROM staging.reifier r LEFT JOIN staging.qualification q ON q.reifier = r.reifier
    WHERE r.s = triple.s AND r.p = triple.p AND r.o = triple.o
) > 1
""",
    """
INSERT INTO staging.property (node, p, text, datatype, language, qualifiers)
SELECT r.s, r.p, r.text, r.datatype, r.language, q.qualifiers
FROM staging.reifier r LEFT JOIN staging.qualification q ON q.reifier = r.reifier
WHERE r.asserted = 1 AND r.o IS NULL AND r.reifier NOT IN (SELECT reifier FROM staging.merged_axiom) AND EXISTS (
    SELECT 1 FROM staging.reifier n LEFT JOIN staging.qualification m ON m.reifier = n.reifier
    WHERE n.s = r.s AND n.p = r.p AND n.o IS NULL
        AND n.text = r.text AND n.datatype IS r.datatype AND n.language IS r.language
        AND (m.reifier IS NOT NULL OR n.reifier <> r.reifier)
)
GROUP BY r.reifier, r.s, r.p, r.text, r.datatype, r.language ORDER BY min(r.rowid)
""",
    """
DELETE FROM staging.literal WHERE (
    SELECT count(q.reifier) + count(DISTINCT r.reifier)
    FROM staging.reifier r LEFT JOIN staging.qualification q ON q.reifier = r.reifier
    WHERE r.s = literal.node AND r.p = literal.p AND r.o IS NULL AND r.asserted = 1
        AND r.text = literal.text AND r.datatype IS literal.datatype AND r.language IS literal.language
) > 1
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
"""Statements to be run in this order. Those on `reifier`, `qualifying` and `loose` alone scan only these tables."""

# Class expressions of OWL.
EXPRESSION_TABLES = """
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
"""`members`: intersections with their lists. `operand`: the members of these. `implied`: the edges of all expressions.

`expression`: expressions that edges replace completely. `folded`: the nodes of which these consist.
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
"""A nameless expression that remains is not a class that the ontology declares."""

LOOSEN_KINDS = """
INSERT OR IGNORE INTO staging.loose
SELECT id FROM staging.term WHERE key IN (:class, :restriction_class, :datatype_class)
"""
