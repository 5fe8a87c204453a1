"""The triples that have a node as the value of a qualifier: a search, as a graph file has no index of qualifiers."""

from __future__ import annotations

import json

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.model import Triple

_READ = 500_000
"""Edges, and attributes, that are searched at most: 1.5 seconds for either."""


def qualified(builder: Builder, entity: str, limit: int) -> tuple[Triple, ...] | None:
    """The first of them; None: there is none among those that are searched, which are not all."""
    session = builder.session
    node = entities.resolved(builder, [entity]).get(entity)
    if node is None:
        return ()
    key = node[1]
    asked = {"key": key, "written": json.dumps(key, ensure_ascii=False), "limit": limit, "most": _READ}
    rows = session.named(queries.around.QUALIFIED, asked)
    if not rows:
        unread = session.named(queries.around.UNREAD, asked)
        return None if unread[0][0] else ()
    numbers = {number for head, _, tail, *_ in rows for number in (head, tail) if number is not None}
    nodes = {
        number: builder.entity(key, label, mediator)
        for number, key, label, _, mediator in session.all(queries.entities.NODES_BY_ID, json.dumps(sorted(numbers)))
    }
    return tuple(
        Triple(
            nodes[head],
            builder.relation(relation),
            builder.literal(*literal) if tail is None else nodes[tail],
            builder.qualifiers(qualifiers),
        )
        for head, relation, tail, *literal, qualifiers in rows
    )
