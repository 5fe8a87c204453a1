"""Answers the verb `run`: a page of a plan's rows, with what is known of the sizes of its parts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from kgnav_mcp.adapters.embedded.plans.cells import Cells
from kgnav_mcp.adapters.embedded.plans.compiling import Compiled, compiled
from kgnav_mcp.adapters.embedded.plans.counting import edge_size, node_size
from kgnav_mcp.adapters.embedded.plans.functions import Functions
from kgnav_mcp.adapters.embedded.plans.statement import refused
from kgnav_mcp.adapters.embedded.plans.words import Words
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Count, PartSize, PlanPage, PlanRow, Stop
from kgnav_mcp.plan import EdgePattern, NodePattern, Plan
from kgnav_mcp.port.lists import items_before
from kgnav_mcp.spelling.cypher import write_part


class PlanReader:
    """Answers `run`, within one job."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._words = Words(builder)

    def page(self, plan: Plan, limit: int, after: str | None, *, proof: bool) -> PlanPage:
        """The page behind a position.

        Raises:
            Unsupported: SQL has no words for a part of the plan, or a row has a value that it cannot hold.
            InvalidCursor: the position is none of a plan's answer.
        """
        if proof:
            raise refused("the edges that rows rest on")
        start = items_before(after)
        with Functions.of(self._builder) as functions:
            query, rows = self._run(functions, plan, limit, start)
            total = self._total(functions, plan, rows, start)
        cells = Cells(self._builder, query.terms, rows)
        return PlanPage(
            tuple(PlanRow(cells.row(row)) for row in rows),
            tuple(str(start + place + 1) for place in range(len(rows))),
            Count(total),
            Stop.LIMIT if start + len(rows) < total else Stop.COMPLETE,
            columns=plan.columns,
            sizes=tuple(self._sizes(plan)),
        )

    def _run(self, functions: Functions, plan: Plan, limit: int, start: int) -> tuple[Compiled, list[Row]]:
        """A plan as a query, and the rows of a page."""
        try:
            query = compiled(self._words, plan, limit, start)  # searches paths by queries of its own
            return query, self._builder.session.all(query.query, *query.parameters)
        except sqlite3.OperationalError as error:
            if not functions.refused and "integer overflow" not in str(error):
                raise
            raise Unsupported(
                "a value that the plan reads has no form in a query", next_step="It is evaluated instead."
            ) from error

    def _total(self, functions: Functions, plan: Plan, rows: list[Row], start: int) -> int:
        if rows or not start:
            return int(rows[0][0]) if rows else 0
        _, before = self._run(functions, plan, 1, 0)
        return int(before[0][0]) if before else 0

    def _sizes(self, plan: Plan) -> Iterator[PartSize]:
        """How many nodes and edges fit each part by itself, where the catalogue says it."""
        parts: dict[NodePattern | EdgePattern, int | None] = {}
        for pipeline in plan.pipelines:
            for match in pipeline.matches:
                parts |= {node: node_size(self._words, node) for node in match.nodes if node.labels}
                parts |= {edge: edge_size(self._words, edge) for edge in match.edges}
        return (PartSize(write_part(part), Count(size)) for part, size in parts.items() if size is not None)
