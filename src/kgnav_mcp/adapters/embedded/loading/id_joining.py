"""Joins several sources into one graph: ids that tables write in short form become the IRIs of the other sources.

A short form, such as `DOID:734`, is expanded by a prefix that a source declares or the user gives. By a well-known
prefix or the rule of the OBO Foundry it is expanded only if another source has that IRI. Nothing else is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgnav_mcp.adapters.embedded.loading import queries_staged as queries
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
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


def join_short_ids(staging: Staging, first: int, id_rank: int, problems: LoadProblems) -> None:
    """Merges terms of tables, which are those from number `first` on, with the entities that their short forms mean.

    Notes how many were joined. `id_rank` is the rank of ids that serve as names.
    """
    connection = staging.connection
    staging.flush()
    for statement in queries.SHORT_FORM_TABLES:
        connection.execute(statement)
    declared = Prefixes(staging.prefixes)
    prefixes = Prefixes(staging.prefixes, PREFIXES, unprefixed=staging.unprefixed)
    rows = connection.execute(queries.SHORT_TERMS, (first,))
    connection.executemany(
        queries.STAGE_SHORT,
        (
            (number, full, declared.declared(key) == full)
            for number, key in rows
            for full in prefixes.keys(key)[1:]
            if "://" not in key
        ),
    )
    connection.execute(queries.FIND_FULL)
    connection.execute(queries.FIND_DECLARED)
    (joined,) = connection.execute(queries.COUNT_JOINED).fetchone()
    (written,) = connection.execute(queries.COUNT_TERMS, (first,)).fetchone()
    if joined:
        key, full = connection.execute(queries.FIRST_JOINED).fetchone()
        example = f"{clipped(key, _SHOWN)} is {clipped(full, 2 * _SHOWN)}"
        problems.notes.append(f"joined: {joined:,} of {written:,} ids of tables with other sources, e.g. {example}")
    connection.execute(queries.FORGET_ID_NAMES, (id_rank,))
    connection.execute(queries.EXPAND_DECLARED)
    for statement in queries.MERGE_SHORT_FORMS:
        connection.execute(statement)


def note_undescribed(staging: Staging, last_rdf_triple: int, id_rank: int, problems: LoadProblems) -> None:
    """Notes how many ends of edges in tables no other source describes, with the most similar ids of the other sources.

    The triples up to `last_rdf_triple` come from RDF.
    """
    connection = staging.connection
    staging.flush()
    for statement in queries.FIND_ENDS:
        connection.execute(statement, {"last": last_rdf_triple, "rank": id_rank})
    prefixes = Prefixes(staging.prefixes, PREFIXES, unprefixed=staging.unprefixed)
    counts = {side: (total, missing) for side, total, missing in connection.execute(queries.COUNT_ENDS)}
    isolated = all(total == missing for total, missing in counts.values())
    for side, (total, missing) in counts.items():
        if not missing:
            continue
        keys = [prefixes.short(key) for (key,) in connection.execute(queries.UNDESCRIBED, (side, _EXAMPLES))]
        described = (prefixes.short(key) for (key,) in connection.execute(queries.DESCRIBED, (_MAX_COMPARED,)))
        text = f"no other source describes {missing:,} of {total:,} {'tails' if side else 'heads'} of edges of tables"
        example = ", ".join(clipped(key, _SHOWN) for key in keys)
        nearest = _nearest(keys, described)
        ending = f"; nearest: {', '.join(clipped(key, _SHOWN) for key in nearest)}" if nearest else ""
        (problems.warnings if isolated else problems.notes).append(f"{text}, e.g. {example}{ending}")
    if isolated and counts:
        problems.warnings.append(
            "the tables and the other sources have no id in common (--prefix X=IRI says what the short form X:id means)"
        )


def _nearest(keys: Iterable[str], described: Iterable[str]) -> list[str]:
    """The described ids most similar to each of some ids."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only ids without a description need it

    choices = list(described)
    matches = (process.extractOne(key, choices, scorer=fuzz.ratio, score_cutoff=_MIN_SIMILAR) for key in keys)
    return list(dict.fromkeys(match[0] for match in matches if match is not None))
