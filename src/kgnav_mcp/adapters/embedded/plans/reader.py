"""Runs plans: compiles a plan, runs the query, and returns a page of its rows."""

from __future__ import annotations

import sqlite3

from kgnav_mcp.adapters.embedded.plans.cells import Cells
from kgnav_mcp.adapters.embedded.plans.compiler import Compiled, compile_plan
from kgnav_mcp.adapters.embedded.plans.functions import Functions
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.statement import unsupported
from kgnav_mcp.adapters.embedded.plans.value_encoding import NotEncodableError
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.model import Count, PlanPage, PlanRow, Stop
from kgnav_mcp.plan import Plan
from kgnav_mcp.port.lists import items_before


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
                raise unsupported("a plan whose values are not of SQLite, too deep or too large") from error
            if isinstance(error, MemoryError) or error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG:
                raise unsupported("a plan with so much data") from error
            raise functions.failure or error from error

    def _total(self, functions: Functions, plan: Plan, rows: list[Row], start: int) -> int:
        if rows or not start:
            return int(rows[0][0]) if rows else 0
        _, before = self._run(functions, plan, 1, 0)
        return int(before[0][0]) if before else 0
