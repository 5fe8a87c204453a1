"""SoG's table as the paper prints it, for research runs (Search-on-Graph, section on observation format).

`N rows:`, then the headings, a rule and the rows; no cursor, no qualifiers, no counts. A hub shows only its distinct
properties. With several entities, which the paper does not have, each row begins with its entity.
"""

from __future__ import annotations

from kgnav_mcp.model import Neighbourhood, RelationFacts, Triple
from kgnav_mcp.render.text import printable_id, table_cell, value_and_label

_UNCLIPPED = 1 << 31


def table(found: Neighbourhood) -> str:
    """The neighbourhood in the paper's format, byte for byte."""
    if found.relations is not None:
        return _lines(("property", "propertyLabel"), [_property(facts) for facts in found.relations.items])
    rows = found.rows.items if found.rows else ()
    several = ("entity",) if len(found.entities) > 1 else ()
    columns = (*several, "property", "propertyLabel", "value", "valueLabel")
    return _lines(columns, [_row(triple, found) for triple in rows])


def _lines(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    rule = "|".join("--" for _ in columns)
    return "\n".join([f"{len(rows)} rows:", "|".join(columns), rule, *("|".join(map(table_cell, row)) for row in rows)])


def _property(facts: RelationFacts) -> tuple[str, ...]:
    return printable_id(facts.relation.id), facts.relation.label


def _row(triple: Triple, found: Neighbourhood) -> tuple[str, ...]:
    far = triple.far_end(found.direction)
    near = triple.far_end(found.direction.opposite)
    several = value_and_label(near, _UNCLIPPED)[:1] if len(found.entities) > 1 else ()
    return *several, printable_id(triple.relation.id), triple.relation.label, *value_and_label(far, _UNCLIPPED)
