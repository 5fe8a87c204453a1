"""Converts rows of a query to cells of the answer. All entities of a page are read at once, and so are all edges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.entities import described_by_number
from kgnav_mcp.adapters.embedded.plans.sort_keys import LIST, members
from kgnav_mcp.adapters.embedded.plans.statement import Term, TermKind
from kgnav_mcp.adapters.embedded.plans.value_encoding import decode
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.model import Cell, Entity, Path, Triple


class Cells:
    """Makes the cells of one page."""

    def __init__(self, builder: Builder, terms: Sequence[Term], rows: Iterable[Row]) -> None:
        self._builder = builder
        self._terms: list[tuple[TermKind, int]] = []
        place = 1
        for term in terms:
            self._terms.append((term.kind, place))
            place += len(term.sql)
        found = list(rows)
        nodes: set[Any] = {row[place] for kind, place in self._terms for row in found if kind is TermKind.NODE}
        edges: set[Any] = {
            tuple(row[place : place + 4]) for kind, place in self._terms for row in found if kind is TermKind.EDGE
        }
        for member in members(
            row[place] for kind, place in self._terms for row in found if kind is TermKind.PATH_OR_LIST
        ):
            (edges if isinstance(member, tuple) else nodes).add(member)
        self._nodes = described_by_number(builder, sorted(node for node in nodes if node is not None))
        self._edges = _edges(builder, sorted(edge for edge in edges if edge[0] is not None))

    def row(self, row: Row) -> tuple[Cell, ...]:
        """Returns the cells of a row."""
        return tuple(self._cell(kind, place, row) for kind, place in self._terms)

    def _cell(self, kind: TermKind, place: int, row: Row) -> Cell:
        value = row[place]
        if value is None:
            return None
        match kind:
            case TermKind.NODE:
                return self._nodes[value]
            case TermKind.EDGE:
                return self._edges[tuple(row[place : place + 4])]
            case TermKind.TRUTH:
                return value == 1
            case TermKind.PATH_OR_LIST:
                return self._things(json.loads(value))
            case _:
                return decode(value)

    def _things(self, stored: list[Any]) -> Cell:
        """Returns a path, or a list of nodes or edges."""
        if stored[0] == LIST:
            return tuple(self._nodes[one] if isinstance(one, int) else self._edges[tuple(one)] for one in stored[1:])
        _, nodes, edges = stored
        return Path(tuple(self._nodes[one] for one in nodes), tuple(self._edges[tuple(one)] for one in edges))


def _edges(builder: Builder, keys: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Triple]:
    if not keys:
        return {}
    numbers = sorted({number for s, _, o, _ in keys for number in (s, o)})
    rows = builder.session.all(queries.entities.NODES_BY_ID, json.dumps(numbers))
    ends: dict[int, Entity] = {number: builder.entity(key, label, mediator) for number, key, label, _, mediator in rows}
    found: dict[tuple[int, ...], Triple] = {}
    for s, p, o, n, qualifiers in builder.session.all(queries.plans.EDGES_AT, json.dumps(list(keys))):
        found[s, p, o, n] = Triple(ends[s], builder.relation(p), ends[o], builder.qualifiers(qualifiers))
    return found
