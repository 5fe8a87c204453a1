"""The schema of a graph as a short page: labels, relations with their ends, properties; what is cut is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kgnav_mcp.model import EdgeFacts, LabelFacts, PropertyFacts, Relation, Schema, T
from kgnav_mcp.render.sheet import Said, Style, count_text, singular
from kgnav_mcp.render.text import cell, clean, identifier, quoted
from kgnav_mcp.render.tokens import count_tokens

OVERVIEW_TOKENS = 1900
"""An overview fits 2,000 tokens on any graph; this leaves room for its head."""

_FRAME = 80
"""Tokens of the head and of the line that says what to do next."""

_ENDS = 4


def overview(graph: str, schema: Schema, name: str | None, style: Style) -> Said:
    """The whole schema in at most 2,000 tokens, or the part around `name` within the budget."""
    budget = style.budget if name else min(style.budget, OVERVIEW_TOKENS)
    head = f"{clean(name)} in graph {graph}" if name else f"graph {graph}"
    size = f"{count_text(schema.entities)} entities, {count_text(schema.triples)} triples"
    lines = [f"{head}: {size}" + (f" ({clean(schema.sampled)})" if schema.sampled else "")]
    share = (budget - _FRAME) // 3
    lines += _section("labels", ("label", "name", "nodes"), schema.labels, _label, share)
    lines += _section("relations", ("relation", "triples", "from", "to", "qualifiers"), schema.relations, _edge, share)
    lines += _section("properties", ("property", "values", "types"), schema.properties, _property, share)
    lines.append(_next(schema, name))
    return Said("\n".join(lines), _facts(schema, lines[0], lines[-1]))


def _section(
    title: str, columns: Sequence[str], items: Sequence[T], row: Callable[[T], Sequence[str]], budget: int
) -> list[str]:
    if not items:
        return [f"no {title}"]
    rows = [row(item) for item in items]
    keep = [n for n in range(len(columns)) if any(cells[n] for cells in rows)]
    shown: list[str] = []
    left = budget - 40
    for cells in rows:
        line = "|".join(cell(cells[n]) for n in keep)
        left -= count_tokens(line) + 1
        if left < 0 and shown:
            break
        shown.append(line)
    columns = [columns[n] for n in keep]
    cut = "" if len(shown) == len(items) else f", the {len(shown):,} largest; describe_graph(name=...) shows any other"
    noun = title if len(items) > 1 else singular(title)
    return ["", f"{len(items):,} {noun}{cut}", "|".join(columns), "|".join("--" for _ in columns), *shown]


def _label(facts: LabelFacts) -> Sequence[str]:
    return facts.id, "" if facts.label == facts.id else facts.label, count_text(facts.count)


def _edge(facts: EdgeFacts) -> Sequence[str]:
    return _id(facts.relation), count_text(facts.count), _some(facts.heads), _some(facts.tails), _some(facts.qualifiers)


def _property(facts: PropertyFacts) -> Sequence[str]:
    return _id(facts.relation), count_text(facts.count), _some(facts.datatypes)


def _id(relation: Relation) -> str:
    return identifier(relation.id)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_ENDS]) + (f", and {len(names) - _ENDS} more" if len(names) > _ENDS else "")


def _next(schema: Schema, name: str | None) -> str:
    if name or not (schema.labels or schema.relations):
        return '\nNext: find_node(hint="...") gives an entity to start from.'
    known = schema.labels[0].label if schema.labels else schema.relations[0].relation.id
    return f'\nNext: find_node(hint="...") for an entity to start from, or describe_graph(name={quoted(known)}).'


def _facts(schema: Schema, head: str, step: str) -> dict[str, object]:
    rows: list[dict[str, object]] = [
        *(
            {"kind": "label", "id": facts.id, "name": facts.label, "count": facts.count.value}
            for facts in schema.labels
        ),
        *(
            {
                "kind": "relation",
                "id": facts.relation.id,
                "name": facts.relation.label,
                "count": facts.count.value,
                "from": list(facts.heads),
                "to": list(facts.tails),
                "qualifiers": list(facts.qualifiers),
            }
            for facts in schema.relations
        ),
        *(
            {
                "kind": "property",
                "id": facts.relation.id,
                "name": facts.relation.label,
                "count": facts.count.value,
                "datatypes": list(facts.datatypes),
            }
            for facts in schema.properties
        ),
    ]
    return {"completeness": {"shown": len(rows), "stop": "complete"}, "rows": rows, "notes": [head, step.strip()]}
