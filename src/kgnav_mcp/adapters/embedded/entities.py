"""Reads entities by id, with label, types, description and degree."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row, text_or_none
from kgnav_mcp.model import Entity


def resolved(builder: Builder, ids: Iterable[str]) -> dict[str, Row]:
    """Returns the node row (id, key, label, description, mediator) of each known id.

    An id may be short or full; if both readings exist, the node that is printed as this text wins.
    """
    forms = {reference: builder.prefixes.preferred_keys(reference) for reference in ids}
    keys = {key for group in forms.values() for key in group}
    rows = {row[1]: row for row in builder.session.all(queries.entities.NODES_BY_KEY, json.dumps(sorted(keys)))}
    found: dict[str, Row] = {}
    for reference, keys_of_form in forms.items():
        for key in keys_of_form:
            if key in rows:
                found[reference] = rows[key]
                break
    return found


def described(builder: Builder, rows: Iterable[Row]) -> dict[int, Entity]:
    """Returns entities with types and descriptions, by node number, from node rows."""
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
    """Returns entities with types and descriptions, by node number."""
    if not numbers:
        return {}
    return described(builder, builder.session.all(queries.entities.NODES_BY_ID, json.dumps(list(numbers))))


def described_by_id(builder: Builder, ids: Sequence[str]) -> Mapping[str, Entity]:
    """Returns entities with types and descriptions by the id as given. Unknown ids are left out."""
    rows = resolved(builder, ids)
    by_number = described(builder, rows.values())
    return {reference: by_number[row[0]] for reference, row in rows.items()}


def degrees(builder: Builder, numbers: Sequence[int]) -> dict[int, int]:
    """Returns the number of triples of each node, literals included. A triple from a node to itself counts twice."""
    session = builder.session
    counted = {
        (number, side): rows
        for number, side, rows in session.all(queries.entities.HUB_DEGREES, json.dumps(list(numbers)))
    }
    for side, query in ((0, queries.entities.DEGREES_OUTGOING), (1, queries.entities.DEGREES_INCOMING)):
        small = [number for number in numbers if (number, side) not in counted]
        counted.update({(number, side): rows for number, rows in session.all(query, json.dumps(small))})
    return {number: counted[number, 0] + counted[number, 1] for number in numbers}
