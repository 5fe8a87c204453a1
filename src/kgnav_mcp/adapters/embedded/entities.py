"""Entities by id, described: label, types, description, and how many triples they are in."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row, text_or_none
from kgnav_mcp.model import Entity


def resolved(builder: Builder, ids: Iterable[str]) -> dict[str, Row]:
    """The node rows (id, key, label, description, mediator) of ids in any form, a stored id first."""
    forms = {reference: builder.prefixes.keys(reference) for reference in ids}
    keys = {key for group in forms.values() for key in group}
    rows = {row[1]: row for row in builder.session.all(queries.entities.NODES_BY_KEY, json.dumps(sorted(keys)))}
    found: dict[str, Row] = {}
    for reference, group in forms.items():
        for key in group:
            if key in rows:
                found[reference] = rows[key]
                break
    return found


def described(builder: Builder, rows: Iterable[Row]) -> dict[int, Entity]:
    """Node rows as entities with types and descriptions, by node number."""
    nodes = {row[0]: row for row in rows}
    types: dict[int, list[str]] = defaultdict(list)
    if nodes:
        labels = builder.catalogue.labels(builder.session).entries
        for number, label in builder.session.all(queries.entities.NODE_LABELS, json.dumps(list(nodes))):
            types[number].append(labels[label].printed)
    return {
        number: Entity(
            builder.prefixes.short(key),
            text_or_none(builder.label(key, label, mediator)),
            tuple(types.get(number, ())),
            text_or_none(description),
            bool(mediator),
        )
        for number, key, label, description, mediator in nodes.values()
    }


def described_by_number(builder: Builder, numbers: Sequence[int]) -> dict[int, Entity]:
    """Entities with types and descriptions by node number."""
    if not numbers:
        return {}
    return described(builder, builder.session.all(queries.entities.NODES_BY_ID, json.dumps(list(numbers))))


def described_by_id(builder: Builder, ids: Sequence[str]) -> Mapping[str, Entity]:
    """Entities with types and descriptions by the id as given; unknown ones are absent."""
    rows = resolved(builder, ids)
    entities = described(builder, rows.values())
    return {reference: entities[row[0]] for reference, row in rows.items()}


def degrees(builder: Builder, numbers: Sequence[int]) -> dict[int, int]:
    """The triples each node is in, literals included; a triple that leaves and enters one node counts twice."""
    session = builder.session
    counted = {
        (number, side): rows
        for number, side, rows in session.all(queries.entities.HUB_DEGREES, json.dumps(list(numbers)))
    }
    for side, query in ((0, queries.entities.DEGREES_OUTGOING), (1, queries.entities.DEGREES_INCOMING)):
        small = [number for number in numbers if (number, side) not in counted]
        counted.update({(number, side): rows for number, rows in session.all(query, json.dumps(small))})
    return {number: counted[number, 0] + counted[number, 1] for number in numbers}
