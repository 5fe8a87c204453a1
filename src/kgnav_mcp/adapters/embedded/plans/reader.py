"""Runs the query of a plan and reads a page of its rows, cell by cell."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from kgnav_mcp.adapters.embedded import graphfile, queries
from kgnav_mcp.adapters.embedded.entities import described_by_number
from kgnav_mcp.adapters.embedded.plans.compiler import Compiled, compile_plan
from kgnav_mcp.adapters.embedded.plans.functions import Functions
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.path_tables import LIST, members
from kgnav_mcp.adapters.embedded.plans.statement import Term, TermKind, unsupported
from kgnav_mcp.adapters.embedded.plans.value_encoding import NotEncodableError, decode
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.model import Cell, Count, Entity, Path, PlanPage, PlanRow, Stop, Triple
from kgnav_mcp.plan import Plan
from kgnav_mcp.port.lists import items_before


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


class PlanReader:
    """Answers `run`, within one job."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._words = NameResolver(builder)

    def page(self, plan: Plan, limit: int, after: str | None) -> PlanPage:
        """Returns the page after a position.

        Raises:
            Unsupported: SQL cannot express a part of the plan, or a row has a value that the query cannot handle.
            InvalidCursor: the position is not one of a plan's answer.
        """
        start = items_before(after)
        with Functions.of(self._builder) as functions:
            query, rows = self._run(functions, plan, limit, start)
            total = start + len(rows) if plan.in_any_order else self._total(functions, plan, rows, start)
        cells = Cells(self._builder, query.terms, rows)
        more = len(rows) == limit if plan.in_any_order else start + len(rows) < total
        return PlanPage(
            tuple(PlanRow(cells.row(row)) for row in rows),
            tuple(str(start + place + 1) for place in range(len(rows))),
            Count.at_least(total) if plan.in_any_order and more else Count(total),
            Stop.LIMIT if more else Stop.COMPLETE,
            columns=plan.columns,
        )

    def _run(self, functions: Functions, plan: Plan, limit: int, start: int) -> tuple[Compiled, list[Row]]:
        """Compiles and runs the query for one page. Returns both the query and its rows.

        Raises:
            Unsupported: see `page`.
        """
        try:
            # in the `try`, because compiling may run queries to find paths
            query = compile_plan(self._words, plan, limit, start)
            return query, self._builder.session.all(query.query, *query.parameters)
        except (sqlite3.Error, MemoryError) as error:
            if isinstance(functions.failure, NotEncodableError | RecursionError) or "integer overflow" in str(error):
                raise unsupported(
                    "a plan with values that SQLite cannot represent, or that are too deep or too large"
                ) from error
            if (
                isinstance(error, MemoryError)
                or error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
                or graphfile.has_no_room(error)
            ):
                raise unsupported("a plan with this much data") from error
            raise functions.failure or error from error

    def _total(self, functions: Functions, plan: Plan, rows: list[Row], start: int) -> int:
        if rows or not start:
            return int(rows[0][0]) if rows else 0
        _, before = self._run(functions, plan, 1, 0)
        return int(before[0][0]) if before else 0
