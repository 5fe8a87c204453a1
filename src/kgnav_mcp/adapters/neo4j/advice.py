"""Advice to the administrator of a database: indexes, constraints and rights that would make its graph better."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.cypher.builder import quoted
from kgnav_mcp.adapters.cypher.catalogue import Catalogue

_MAX_SHOWN = 5


def advice(catalogue: Catalogue, *, refuses_writes: bool) -> tuple[str, ...]:
    """Advice as text, one sentence for each thing that is missing."""
    sentences: list[str] = []
    if not refuses_writes:
        sentences.append(
            "This server takes writes in read mode: give the graph a user who may only read. Nothing here writes."
        )
    identified = {label for label, _ in catalogue.id_keys}
    without_key = [label for label in catalogue.labels if label not in identified]
    if without_key:
        sentences.append(
            f"No property identifies nodes of {_list(without_key)}: their ids are Neo4j's own and may change. Make a "
            f"constraint, CREATE CONSTRAINT FOR (n:{quoted(without_key[0])}) REQUIRE n.id IS UNIQUE, or name the "
            "property in the option keys."
        )
    indexed = {label for index in catalogue.full_text for label in index.labels}
    unindexed = [label for label in catalogue.labels if label not in indexed]
    if unindexed and catalogue.name_keys:
        sentences.append(
            f"Names of {_list(unindexed)} are in no full-text index, so that they are found by scanning: "
            f"CREATE FULLTEXT INDEX FOR (n:{'|'.join(map(quoted, unindexed[:_MAX_SHOWN]))}) ON EACH "
            f"[{', '.join(f'n.{quoted(key)}' for key in catalogue.name_keys[:_MAX_SHOWN])}]."
        )
    if not catalogue.name_keys:
        sentences.append("No property looks like a name: say which one is with the option names.")
    return tuple(sentences)


def _list(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - _MAX_SHOWN} more labels" if len(labels) > _MAX_SHOWN else ""
    return ", ".join(labels[:_MAX_SHOWN]) + more
