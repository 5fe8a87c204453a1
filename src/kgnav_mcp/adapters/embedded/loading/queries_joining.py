"""SQL statements that join the ids of several sources. They run only if tables are loaded with other sources."""

from kgnav_mcp.adapters.embedded.loading.queries import FORGET_REPEATED_TERMS, UNIFY

TABLES = (
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
MERGE = (
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
