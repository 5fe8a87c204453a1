"""Tables without a header: `head relation tail`, with tabs between them; names are the ids."""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.loading.rejects import Rejects
from kgnav_mcp.adapters.embedded.loading.sources import Source, lines, translated
from kgnav_mcp.adapters.embedded.loading.staging import BATCH, Staging


def read_triples(source: Source, staging: Staging, rejects: Rejects) -> None:
    """Stage every line of a table of triples.

    Raises:
        LoadError: the source cannot be read.
        BadLine: a line does not have three columns, and bad lines are not skipped.
    """
    known, add = staging.terms.ids.get, staging.terms.add
    relations, add_triple = staging.relations, staging.triples.append
    with translated(source), source.open() as reader:
        for number, line in lines(source, rejects, reader):
            columns = line.split("\t")
            if len(columns) != 3 or not all(columns):
                rejects.add(source.name, number, _columns_reason(columns))
                continue
            head, name, tail = columns
            relation = relations.get(name) or staging.relation(name)
            add_triple((known(head) or add(head), relation, known(tail) or add(tail)))
            if len(staging.triples) >= BATCH:
                staging.checkpoint(source.name, reader.position)
        staging.checkpoint(source.name, reader.position)


def _columns_reason(columns: list[str]) -> str:
    if len(columns) == 3:
        return "one of the three columns is empty"
    reason = f"three columns (head, relation, tail) separated by tabs are expected, {len(columns)} found"
    if len(columns) < 3:
        return reason
    return f"{reason}; further ones are qualifiers where the first line of the file names its columns"
