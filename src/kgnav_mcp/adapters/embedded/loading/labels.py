"""Reads files of names for entities and relations. Names for ids that are not in the graph are left out and counted."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.embedded.loading.columns import is_node_header
from kgnav_mcp.adapters.embedded.loading.entries import lines, stage_entries
from kgnav_mcp.adapters.embedded.loading.names import NAME, NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.rdf import read_rdf_names
from kgnav_mcp.adapters.embedded.loading.sources import Source
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.wellknown import PREFIXES
from kgnav_mcp.clipping import clipped


def read_labels(files: Sequence[Source], staging: Staging, rules: NameRules, findings: LoadProblems) -> None:
    """Stages the names in files, and notes how many were used. All other sources must be read before.

    Raises:
        LoadError: a file cannot be read.
        BadLine: a line is wrong, and bad lines are not skipped.
    """
    prefixes = Prefixes(staging.prefixes, PREFIXES, unprefixed=staging.unprefixed)
    read_files: list[tuple[Source, range, int]] = []
    for source in files:
        rows_before = _count_named_keys(staging)
        if source.form.kind == "rdf":
            read_rdf_names(source, staging, rules, findings)
            count = _count_named_keys(staging) - rows_before
        else:
            count = _read_table(source, staging, rules, prefixes, findings)
        read_files.append((source, range(rows_before + 1, _count_named_keys(staging) + 1), count))
    staging.connection.execute(queries.INDEX_NAMED_KEYS)
    staging.connection.execute(queries.FIT_NAMED_KEYS)
    staging.connection.execute(queries.STAGE_FITTING_NAMES)
    relations = json.dumps(list(staging.relations))
    for source, rows, count in read_files:
        (used,) = staging.connection.execute(queries.COUNT_FITTING, (relations, rows.start, rows.stop)).fetchone()
        if used:
            findings.notes.append(f"{source.name}: names used: {used:,} of {count:,}")
        elif count:
            first, *_ = staging.connection.execute(queries.NAMED_KEY, (rows.start,)).fetchone()
            (key,) = staging.connection.execute(queries.FIRST_TERM).fetchone() or ("",)
            named, node = (clipped(repr(each), 50) for each in (first, prefixes.short(key)))
            findings.warnings.append(
                f"{source.name}: not one of its {count:,} names is used, for its ids, such as {named}, are none of "
                f"the graph, whose ids are such as {node}"
            )
        else:
            findings.warnings.append(
                f"{source.name}: it names no entity (--name-relation gives the relation with names)"
            )


def _count_named_keys(staging: Staging) -> int:
    (rows,) = staging.connection.execute(queries.COUNT_NAMED_KEYS).fetchone()
    return int(rows)


def _read_table(source: Source, staging: Staging, rules: NameRules, prefixes: Prefixes, findings: LoadProblems) -> int:
    """Stages every line of a table of names, and returns their number.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """
    rank = rules.rank(0, None)
    count = 0

    def stage(number: int, line: str) -> None:
        nonlocal count
        reference, _, name = line.partition("\t")
        if not reference or not name.strip() or "\t" in name:
            raise ValueError("two columns (id, name) separated by a tab are expected")
        if number > 1 or not is_node_header([reference, name]):
            count += 1
            staging.named_keys += [(key, NAME, rank, None, name) for key in prefixes.keys(reference)]

    stage_entries(source, staging, findings, lines, stage)
    return count
