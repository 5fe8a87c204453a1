"""Makes one graph of several sources: ids that tables write in short form become the IRIs of the other sources.

A short form, such as `DOID:734`, is an IRI by a prefix that a source declares or the user gives. By a well-known prefix
or the rule of the OBO Foundry it is one only if another source has that IRI. Nothing else is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.queries import FORGET_REPEATED_TERMS, UNIFY
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.wellknown import PREFIXES
from kgnav_mcp.clipping import clipped

_EXAMPLES = 3
_MAX_COMPARED = 200_000
"""Ids of described entities that are compared with an id that no source describes."""
_MIN_SIMILAR = 60
_SHOWN = 40
"""Maximum characters of an id in a note."""


def join_short_ids(staging: Staging, first: int, id_rank: int, findings: LoadProblems) -> None:
    """Merges terms from number `first` on, which are those of tables, with the entities that their short forms mean.

    Notes how many were joined. `id_rank` is the rank of ids that serve as names.
    """
    connection = staging.connection
    staging.flush()
    for statement in TABLES:
        connection.execute(statement)
    declared = Prefixes(staging.prefixes)
    known = Prefixes(staging.prefixes, PREFIXES, unprefixed=staging.unprefixed)
    rows = connection.execute(SHORT_TERMS, (first,))
    connection.executemany(
        STAGE_SHORT,
        (
            (number, full, declared.declared(key) == full)
            for number, key in rows
            for full in known.keys(key)[1:]
            if "://" not in key
        ),
    )
    connection.execute(FIND_FULL)
    connection.execute(FIND_DECLARED)
    (joined,) = connection.execute(COUNT_JOINED).fetchone()
    (written,) = connection.execute(COUNT_TERMS, (first,)).fetchone()
    if joined:
        key, full = connection.execute(FIRST_JOINED).fetchone()
        example = f"{clipped(key, _SHOWN)} is {clipped(full, 2 * _SHOWN)}"
        findings.notes.append(f"joined: {joined:,} of {written:,} ids of tables with other sources, e.g. {example}")
    connection.execute(FORGET_ID_NAMES, (id_rank,))
    connection.execute(EXPAND_DECLARED)
    for statement in MERGE:
        connection.execute(statement)


def note_undescribed(staging: Staging, last_rdf_triple: int, id_rank: int, findings: LoadProblems) -> None:
    """Notes how many ends of the edges of tables no other source describes, with the nearest ids that one does.

    The triples up to `last_rdf_triple` come from RDF.
    """
    connection = staging.connection
    staging.flush()
    for statement in FIND_ENDS:
        connection.execute(statement, {"last": last_rdf_triple, "rank": id_rank})
    prefixes = Prefixes(staging.prefixes, PREFIXES, unprefixed=staging.unprefixed)
    counts = {side: (total, missing) for side, total, missing in connection.execute(COUNT_ENDS)}
    isolated = all(total == missing for total, missing in counts.values())
    for side, (total, missing) in counts.items():
        if not missing:
            continue
        keys = [prefixes.short(key) for (key,) in connection.execute(UNDESCRIBED, (side, _EXAMPLES))]
        described = (prefixes.short(key) for (key,) in connection.execute(DESCRIBED, (_MAX_COMPARED,)))
        text = f"no other source describes {missing:,} of {total:,} {'tails' if side else 'heads'} of edges of tables"
        example = ", ".join(clipped(key, _SHOWN) for key in keys)
        nearest = _nearest(keys, described)
        ending = f"; nearest: {', '.join(clipped(key, _SHOWN) for key in nearest)}" if nearest else ""
        (findings.warnings if isolated else findings.notes).append(f"{text}, e.g. {example}{ending}")
    if isolated and counts:
        findings.warnings.append(
            "the tables and the other sources have no id in common (--prefix X=IRI says what the short form X:id means)"
        )


def _nearest(keys: Iterable[str], described: Iterable[str]) -> list[str]:
    """The described ids most similar to each of some ids."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only ids without a description need it

    choices = list(described)
    found = (process.extractOne(key, choices, scorer=fuzz.ratio, score_cutoff=_MIN_SIMILAR) for key in keys)
    return list(dict.fromkeys(match[0] for match in found if match is not None))


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
