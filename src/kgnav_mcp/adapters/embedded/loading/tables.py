"""Tab-separated sources: `head relation tail`, names being ids; and files of names, `id name`."""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.loading.names import NAME, NameRules
from kgnav_mcp.adapters.embedded.loading.rejects import Rejects
from kgnav_mcp.adapters.embedded.loading.sources import Source, lines, translated
from kgnav_mcp.adapters.embedded.loading.staging import BATCH, Staging

HEADERS = {("head", "relation", "tail"), ("subject", "predicate", "object"), ("subject", "property", "value")}
"""First lines that are column names and no triple."""


def read_triples(source: Source, staging: Staging, rejects: Rejects) -> None:
    """Stage every line of a table of triples.

    Raises:
        LoadError: the source cannot be read.
        BadLine: a line does not have three columns, and bad lines are not skipped.
    """
    known, add = staging.terms.ids.get, staging.terms.add
    relations, add_triple = staging.relations, staging.triples.append
    with translated(source), source.open() as reader:
        for number, line in lines(source, reader, rejects):
            columns = line.split("\t")
            if len(columns) != 3 or not all(columns):
                rejects.add(source.name, number, _columns_reason(columns))
            elif number > 1 or tuple(column.lower() for column in columns) not in HEADERS:
                head, name, tail = columns
                relation = relations.get(name) or staging.relation(name)
                add_triple((known(head) or add(head), relation, known(tail) or add(tail)))
                if len(staging.triples) >= BATCH:
                    staging.checkpoint(source.name, reader.position)
        staging.checkpoint(source.name, reader.position)


def _columns_reason(columns: list[str]) -> str:
    if len(columns) == 3:
        return "one of the three columns is empty"
    return f"three columns (head, relation, tail) separated by tabs are expected, {len(columns)} found"


def read_names(source: Source, staging: Staging, rules: NameRules, rejects: Rejects) -> None:
    """Stage every line of a table of names. Ids that no triple mentions are left out when the file is written.

    Raises:
        LoadError: the source cannot be read.
        BadLine: a line does not have two columns, and bad lines are not skipped.
    """
    rank = rules.rank(0, None)
    with translated(source), source.open() as reader:
        for number, line in lines(source, reader, rejects):
            key, _, name = line.partition("\t")
            if not key or not name.strip() or "\t" in name:
                rejects.add(source.name, number, "two columns (id, name) separated by a tab are expected")
                continue
            staging.named_keys.append((key, NAME, rank, None, name))
            if len(staging.named_keys) >= BATCH:
                staging.checkpoint(source.name, reader.position)
        staging.checkpoint(source.name, reader.position)
