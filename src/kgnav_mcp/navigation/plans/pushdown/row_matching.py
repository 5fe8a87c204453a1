"""Patterns that a store matches by a plan of its own: rows of nodes and edges, each with the number of equal rows.

A store that runs plans is asked for the parts of a plan that it can express: the clauses up to a projection, or a
single pattern around rows that are held here. What is left of the plan is evaluated over those rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import PlanPage, Stop
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.patterns import (
    PROOF,
    TIMES,
    Found,
    has_value,
    ids_of,
    merged,
    with_matches,
    with_paths,
    with_proof,
)
from kgnav_mcp.navigation.plans.evaluate.required_columns import RequiredColumns
from kgnav_mcp.navigation.plans.evaluate.table_evaluation import ExpressionEvaluator, nodes_of
from kgnav_mcp.navigation.plans.evaluate.values import Node, Row, Table
from kgnav_mcp.navigation.plans.pushdown.pushable import Conditions, is_connected, splits
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    Column,
    GivenNodes,
    Match,
    Pipeline,
    Plan,
    Project,
    Unwind,
    Variable,
)
from kgnav_mcp.plan.walking import conjunction, variables_of
from kgnav_mcp.port import GraphAdapter

_NUMBERS = frozenset((AggregateFunction.COUNT, AggregateFunction.SUM, AggregateFunction.AVERAGE))


@dataclass(frozen=True, slots=True)
class _Question:
    """What the store is asked about a pattern: the rows that it begins with, and the wanted columns."""

    pattern: Match
    given: tuple[str, ...]
    nodes: tuple[str, ...]
    edges: tuple[str, ...]
    counted: str | None
    """The node whose distinct matches are counted; None counts rows."""

    @property
    def counts(self) -> bool:
        """Whether several matches may have the same columns, so that they are counted."""
        shown = {*self.given, *self.nodes, *self.edges}
        every = {*merged(self.pattern), *(edge.variable for edge in self.pattern.edges)}
        return self.counted is not None or not every <= shown

    def plan(self, rows: tuple[tuple[str, ...], ...]) -> Plan:
        """The plan that answers it."""
        columns = [Column(name, Variable(name)) for name in (*self.given, *self.nodes, *self.edges)]
        if self.counts:
            of = None if self.counted is None else Variable(self.counted)
            columns.append(Column(TIMES, Aggregate(AggregateFunction.COUNT, of, distinct=of is not None)))
        given = GivenNodes(self.given, rows) if self.given else None
        return Plan((Pipeline((self.pattern, Project(tuple(columns))), given),), in_any_order=True)


class RowMatcher:
    """Matches patterns of one evaluation in a store that runs plans."""

    def __init__(self, graph: GraphAdapter, reader: Reader, asker: ExpressionEvaluator) -> None:
        self._graph, self._reader, self._asker = graph, reader, asker

    async def begun(self, clauses: Sequence[Clause], *, whole: bool) -> tuple[Table, int] | None:
        """The rows after as many clauses as the store can run, up to a projection, and the number of these clauses.

        `whole`: it may run all of them. None if it can run none, or if their rows have values whose kind in the graph
        an answer does not tell: only nodes and numbers are passed on.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        for place in reversed(range(len(clauses) if whole else len(clauses) - 1)):
            project = clauses[place]
            if not isinstance(project, Project) or not _are_plain(clauses[: place + 1]):
                continue
            with suppress(Unsupported):
                plan = Plan((Pipeline(tuple(clauses[: place + 1])),), in_any_order=not project.order)
                rows = await self._rows(await self._run(plan))
                return Table(tuple(column.name for column in project.columns), rows), place + 1
        return None

    async def fitted(self, match: Match, table: Table, needs: RequiredColumns) -> Table | None:
        """The rows extended by the needed parts of a pattern's matches; None if the store cannot match the pattern.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        if not table.rows or not is_connected(match, table.names):
            return None
        values = [name for name in table.names if not all(isinstance(one, Node | None) for one in table.column(name))]
        for pushed, remaining in splits(match, frozenset(table.names), frozenset(values)):
            with suppress(Unsupported):
                return await self._by_store(match, table, needs, pushed, remaining)
        return None

    async def _by_store(
        self, match: Match, table: Table, needs: RequiredColumns, pushed: Conditions, remaining: Conditions
    ) -> Table | None:
        """As `fitted`: the store applies the conditions `pushed`, the others are evaluated on its rows.

        Raises:
            Unsupported: the store cannot express the pattern or these conditions.
        """
        nodes = merged(match)
        used_here = frozenset(name for condition in remaining for name in variables_of(condition))
        if used_here and (needs.counted or needs.top):
            return None
        wanted = needs.variables | used_here
        paths = tuple(path for path in match.paths if path.variable in wanted)
        wanted = wanted.union(*(path.elements for path in paths))
        proof = PROOF in table.names
        valued = [edge for edge in match.edges if edge.path is None or has_value(edge.path.kind)]
        if proof and len(valued) < len(match.edges):
            return None
        used_there = frozenset(name for condition in pushed for name in variables_of(condition))
        given = tuple(name for name in table.names if name in nodes or name in used_there)
        question = _Question(
            await self._pattern(match, pushed),
            given,
            tuple(sorted(name for name in nodes if name in wanted and name not in given)),
            tuple(edge.variable for edge in valued if proof or edge.variable in wanted),
            needs.counted,
        )
        if any(not isinstance(value, Node | None) for name in given for value in table.column(name)):
            return None
        found = await self._matches(question, table)
        if found is None and remaining:
            return None  # too many to hold, though the remaining conditions might leave only a few
        if found is None:
            self._reader.budget.expect(match)
            raise self._reader.budget.too_large()
        unshown = [edge.variable for edge in match.edges if edge not in valued and edge.variable in wanted]
        rows = await in_thread(len(table.rows) + len(found.rows), lambda: with_matches(table, found, self._bound))
        self._reader.budget.check(len(rows.rows))
        rows = _with_nulls(rows, unshown)
        if paths:
            rows = await in_thread(len(rows.rows), lambda: with_paths(replace(match, paths=paths), rows))
        kept = await self._asker.rows_where(rows, remaining)
        if proof:
            kept = with_proof(match, kept)
        if kept.rows:
            await self._measure(match, kept)
        return kept

    @property
    def _bound(self) -> int:
        return self._reader.budget.bound

    async def _matches(self, question: _Question, table: Table) -> Found | None:
        """The matches of a pattern; None if there are more than may be held."""
        rows = ids_of(table, question.given)
        names = (*question.given, *question.nodes, *question.edges, TIMES)
        if question.given and not rows:
            return Found(len(question.given), names, [])
        page = await self._graph.run(question.plan(rows), limit=self._bound + 1)
        if len(page.items) > self._bound:
            return None
        found = await self._rows(page)
        if not question.counts:
            found = [(*row, 1) for row in found]
        return Found(len(question.given), names, [row for row in found if row[-1]])

    async def _run(self, plan: Plan) -> PlanPage:
        """All rows of a plan.

        Raises:
            Unsupported: the store cannot express the plan.
            PlanTooLarge: there are more rows than may be held.
        """
        page = await self._graph.run(plan, limit=self._bound + 1)
        if page.stop is not Stop.COMPLETE:
            raise self._reader.budget.too_large()
        return page

    async def _rows(self, page: PlanPage) -> list[Row]:
        """The rows of a store's answer as values."""
        value = self._reader.answers()
        return await in_thread(
            len(page.items), lambda: [tuple(value(cell) for cell in row.cells) for row in page.items]
        )

    async def _pattern(self, match: Match, pushed: Conditions) -> Match:
        """The pattern for the store: with subclasses of labels, and with the conditions that it applies."""
        nodes = [
            replace(
                node,
                labels=tuple([await self._reader.with_subclasses(group, node) for group in node.labels]),
                subclasses=False,
            )
            if node.subclasses
            else node
            for node in match.nodes
        ]
        used = frozenset(name for condition in pushed for name in variables_of(condition))
        paths = tuple(path for path in match.paths if path.variable in used)
        return replace(match, nodes=tuple(nodes), paths=paths, where=conjunction(pushed), optional=False)

    async def _measure(self, match: Match, table: Table) -> None:
        """Record how many nodes matched, for columns of the table."""
        self._reader.budget.expect(match)
        for node in match.nodes:
            if node.variable in table.names:
                self._reader.budget.measured(node, len(await nodes_of(table, node.variable)))


def _with_nulls(table: Table, names: Sequence[str]) -> Table:
    """The table with columns of nulls for these variables."""
    return table if not names else Table((*table.names, *names), [(*row, *(None for _ in names)) for row in table.rows])


def _are_plain(clauses: Sequence[Clause]) -> bool:
    """Whether all columns of the last clause, a projection, are nodes or numbers."""
    plain: set[str] = set()
    names: set[str] = set()
    for clause in clauses:
        match clause:
            case Match():
                plain |= merged(clause).keys() - names
                names |= variables_of(clause)
            case Unwind():
                names.add(clause.variable)
            case Project():
                plain = {column.name for column in clause.columns if _is_plain(column, plain)}
                names = {column.name for column in clause.columns}
    return plain == names


def _is_plain(column: Column, plain: set[str]) -> bool:
    match column.value:
        case Variable(name):
            return name in plain
        case Aggregate(function):
            return function in _NUMBERS
        case _:
            return False
