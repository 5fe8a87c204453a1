"""What would make a graph better to walk, as an administrator can do it."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.cypher.builder import quoted
from kgnav_mcp.adapters.cypher.catalogue import Catalogue

_SHOWN = 5


def advice(catalogue: Catalogue, *, refuses_writes: bool) -> tuple[str, ...]:
    """One sentence for each thing that is missing."""
    found: list[str] = []
    if not refuses_writes:
        found.append(
            "This server takes writes in read mode: give the graph a user who may only read. Nothing here writes."
        )
    identified = {label for label, _ in catalogue.id_keys}
    bare = [label for label in catalogue.labels if label not in identified]
    if bare:
        found.append(
            f"No property identifies nodes of {_list(bare)}: their ids are Neo4j's own and may change. Make a "
            f"constraint, CREATE CONSTRAINT FOR (n:{quoted(bare[0])}) REQUIRE n.id IS UNIQUE, or name the "
            "property in the option keys."
        )
    indexed = {label for index in catalogue.full_text for label in index.labels}
    without = [label for label in catalogue.labels if label not in indexed]
    if without and catalogue.name_keys:
        found.append(
            f"Names of {_list(without)} are in no full-text index, so that they are found by scanning: CREATE FULLTEXT "
            f"INDEX FOR (n:{'|'.join(map(quoted, without[:_SHOWN]))}) ON EACH "
            f"[{', '.join(f'n.{quoted(key)}' for key in catalogue.name_keys[:_SHOWN])}]."
        )
    if not catalogue.name_keys:
        found.append("No property looks like a name: say which one is with the option names.")
    return tuple(found)


def _list(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - _SHOWN} more labels" if len(labels) > _SHOWN else ""
    return ", ".join(labels[:_SHOWN]) + more
