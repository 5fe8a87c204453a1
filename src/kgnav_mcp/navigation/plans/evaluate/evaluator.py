"""The reference evaluator: runs a checked plan over any adapter, using only the port's set verbs.

It runs plans that an adapter does not compile, and tests compare compiled plans with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from kgnav_mcp.concurrency import Progress, in_thread, mapped_in_thread, reporting
from kgnav_mcp.errors import PlanTooLarge, StoreTimeout
from kgnav_mcp.model import Cell, Count, Entity, Path, PlanPage, PlanRow, Stop
from kgnav_mcp.navigation.plans.budget import Budget, Deadline, known, time_limit
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.evaluate.edge_exists import any_edge_answer
from kgnav_mcp.navigation.plans.evaluate.edge_matching import PatternMatcher
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.independent_patterns import refuse_products
from kgnav_mcp.navigation.plans.evaluate.paging import answer_offset, answer_tag, rows_before
from kgnav_mcp.navigation.plans.evaluate.patterns import (
    MULTIPLICITY,
    PROOF,
    bound_variables,
    numbered_rows,
    with_multiplicity,
    with_unmatched,
)
from kgnav_mcp.navigation.plans.evaluate.projections import distinct, in_canonical_order, projected
from kgnav_mcp.navigation.plans.evaluate.required_columns import (
    RequiredColumns,
    counting_projection,
    counting_rows,
    needs_after,
    uses_edges,
)
from kgnav_mcp.navigation.plans.evaluate.several_values import several_values_note
from kgnav_mcp.navigation.plans.evaluate.start_nodes import has_no_start, with_start_pattern
from kgnav_mcp.navigation.plans.evaluate.table_evaluation import ExpressionEvaluator
from kgnav_mcp.navigation.plans.evaluate.values import Edge, Node, PathValue, Row, Table, Value, flat
from kgnav_mcp.navigation.plans.explain.empty_answers import is_empty_answer, is_zero_count, no_match_note
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.plans.pushdown.candidates import CandidateFinder
from kgnav_mcp.navigation.plans.pushdown.grouping import group_in_store, makes_groups
from kgnav_mcp.navigation.plans.pushdown.large_answers import LargeAnswer, has_first_rows, shows_edges
from kgnav_mcp.navigation.plans.pushdown.store_counts import count_in_store
from kgnav_mcp.navigation.plans.pushdown.store_matching import StoreMatcher
from kgnav_mcp.navigation.plans.pushdown.unwound_groups import counted_before_unwinding
from kgnav_mcp.plan import Call, Clause, Function, Match, Pipeline, Plan, Project, Property, Unwind, Variable
from kgnav_mcp.plan.walking import conjuncts, node_patterns, parts
from kgnav_mcp.port import Capability, GraphAdapter, ValueOwner

_HELD = (PROOF, MULTIPLICITY)
"""Columns that every row keeps, whatever later clauses name."""
_EXPLAINED_SHARE = 0.5
"""Share of the plan's remaining time for finding the part of a pattern without a match: the answer does not need it."""
_MANY_EDGES = 5_000
"""Edges of which properties are read at most for a page that shows only some of them."""
_PART_READ = {
    Stop.ROW_CAP: "the store returns no more rows at once",
    Stop.TIME_OUT: "the store timed out",
    Stop.UNORDERED: "the store could not sort a long list",
}


async def evaluate(
    graph: GraphAdapter,
    plan: Plan,
    *,
    limit: int,
    after: str | None = None,
    proof: bool = False,
    bound: int = 100_000,
    deadline: Deadline | None = None,
    progress: Progress | None = None,
    by_store: bool = True,
    lookups: Lookups | None = None,
) -> PlanPage:
    """A page of a checked plan's answer: at most `limit` rows after the position `after`.

    With `proof` each row has the edges that prove it. At most `bound` rows are held at once. `progress` receives
    messages about the parts that were read. `by_store`: patterns are matched by the store if it can. `lookups`: what
    was read while the plan was checked.

    Raises:
        PlanTooLarge: more rows would be held; the error has the sizes of the parts as far as they are known.
        PlanOverBudget: it makes or compares too many values.
        StoreTimeout: it did not end by the deadline; the message says how many parts were read.
        InvalidCursor: the answer has changed since the position was returned.
        InvalidArgument: a regular expression of the plan is invalid.
    """
    budget = Budget(bound, deadline)
    edge_ids = not proof and not uses_edges(plan)
    evaluation = _Evaluation(graph, budget, lookups, by_store=by_store, edge_ids=edge_ids)
    try:
        async with time_limit(deadline, budget.position), reporting(progress, budget.progress):
            if many_edges := await evaluation.reads_many_edges(plan):
                with suppress(PlanTooLarge):
                    page = await evaluation.page_of_large_answer(plan, limit, after, proof=proof)
                    if page is not None:
                        return page
            try:
                table = await evaluation.answer(plan, proof=proof)
            except PlanTooLarge:
                if many_edges or has_first_rows(plan, bound):
                    raise
                page = await evaluation.page_of_large_answer(plan, limit, after, proof=proof)
                if page is None:
                    raise
                return page
            return await evaluation.page(plan, table, limit, after)
    finally:
        evaluation.end()


class _Evaluation:
    """One evaluation of a plan."""

    def __init__(
        self, graph: GraphAdapter, budget: Budget, lookups: Lookups | None, *, by_store: bool, edge_ids: bool
    ) -> None:
        self._graph, self._budget = graph, budget
        self._lookups = lookups or Lookups(graph)
        self._reader = Reader(graph, budget, self._lookups, edge_ids=edge_ids)
        self._expressions = ExpressionEvaluator(self._reader, self._match)
        runs_plans = by_store and Capability.PLANS in graph.capabilities
        self._store = StoreMatcher(graph, self._reader, self._expressions) if runs_plans else None

    def end(self) -> None:
        """Drop what refers to this object, so that its nodes and edges are freed now, not by a garbage collection."""
        del self._expressions, self._store

    async def answer(self, plan: Plan, *, proof: bool) -> Table:
        """All rows of a plan."""
        whole = len(plan.pipelines) > 1
        tables = [await self._run_pipeline(pipeline, proof, whole=whole) for pipeline in plan.pipelines]
        table = tables[0]
        if len(tables) > 1:
            table = Table(table.names, [row for each in tables for row in each.rows])
            await self._check(table)
            table = table if plan.keep_duplicates else distinct(table)
            rows, width = table.rows, len(plan.columns)
            table = Table(table.names, await in_thread(table.size, lambda: in_canonical_order(rows, width)))
        return Table(table.names, table.rows[:1]) if plan.only_exists else table

    async def page(self, plan: Plan, table: Table, limit: int, after: str | None) -> PlanPage:
        """The page of the answer after a position."""
        width, rows = len(plan.columns), table.rows
        tag = await in_thread(table.size, lambda: answer_tag(rows, width))
        start = answer_offset(after, tag)
        total = self._budget.count(len(rows))
        return await self._page(plan, rows[start : start + limit], start, total, tag)

    async def reads_many_edges(self, plan: Plan) -> bool:
        """Whether a plan shows what a store must be asked for each edge, of so many edges that a page is read alone."""
        match plan.pipelines:
            case (Pipeline((Match() as match, Project(distinct=False) as project), None),) if self._store:
                if not shows_edges(match, project):
                    return False
                return await self._store.has_more_matches(match, _MANY_EDGES)
            case _:
                return False

    async def page_of_large_answer(self, plan: Plan, limit: int, after: str | None, *, proof: bool) -> PlanPage | None:
        """The page of an answer that has more rows than may be held; None if its rows are not found without the others.

        Raises PlanTooLarge as `LargeAnswer.window`.
        """
        match plan.pipelines:
            case (Pipeline((Match() as match, Project() as project), None),) if self._store and not plan.only_exists:
                pass
            case _:
                return None
        start = rows_before(after)
        most = limit if project.limit is None else min(limit, max(project.limit - start, 0))
        first = project.skip + start
        answer = LargeAnswer(self._store, match, project, self._match)
        window = await answer.window(first, most + 1, proof=proof)
        if window is None:
            return None
        tag = await in_thread(len(window.tag), lambda: answer_tag(window.tag, len(window.tag[0])))
        answer_offset(after, tag)
        shown = window.table.rows[:most]
        if window.total is None:
            total = Count.at_least(start + len(window.table.rows))
        else:
            rows = max(window.total - project.skip, 0)
            total = self._budget.count(rows if project.limit is None else min(rows, project.limit))
        return await self._page(plan, shown, start, total, tag)

    async def _page(self, plan: Plan, shown: Sequence[Row], start: int, total: Count, tag: str) -> PlanPage:
        """The page with some rows, from the place `start` of the answer on."""
        width = len(plan.columns)
        await self._reader.describe(node for row in shown for value in row[:width] for node in _nodes([value]))
        items = await mapped_in_thread(
            len(shown),
            shown,
            lambda row: PlanRow(
                tuple(map(self._cell, row[:width])), tuple(edge.triple for edge in _edges(row[width:]))
            ),
        )
        page = PlanPage(
            tuple(items),
            tuple(f"{start + place + 1}.{tag}" for place in range(len(shown))),
            total,
            Stop.LIMIT if start + len(shown) < total.value else self._budget.stop,
            columns=plan.columns,
            sizes=known(self._budget.part_sizes()),
        )
        return replace(page, note=" ".join(filter(None, (self._note(plan, page), await self._several_values()))))

    async def _run_pipeline(self, pipeline: Pipeline, proof: bool, *, whole: bool) -> Table:
        """The rows of a pipeline. `whole`: the store has not been asked for all of it yet."""
        only_count = None if proof else await count_in_store(self._graph, pipeline, self._budget)
        if only_count is not None:
            return only_count
        by_store = self._store is not None
        only_existence = (
            None if proof else await any_edge_answer(self._graph, self._reader, pipeline, by_store=by_store)
        )
        if only_existence is not None:
            return only_existence
        clauses = counting_rows(pipeline)
        if not proof and self._store is not None:
            first = await self._store.run_first_clauses(clauses, whole=whole)
            if first is not None:
                table, number = first
                return await self._run_clauses(clauses[number:], table, clauses[number - 1])
        start = Table((PROOF,), [((),)]) if proof else Table((), [()])
        anchored_clauses = clauses if proof else with_start_pattern(clauses)
        if anchored_clauses is not clauses:
            sizes = dict(self._budget.sizes)
            with suppress(PlanTooLarge):  # a few nodes may have more edges than may be held
                return await self._run_clauses(anchored_clauses, start)
            self._budget.sizes = sizes
        return await self._run_clauses(clauses, start)

    async def _run_clauses(self, clauses: Sequence[Clause], table: Table, previous: Clause | None = None) -> Table:
        """The rows of a table after clauses. `previous`: the clause that made the table."""
        await refuse_products(self._graph, self._budget, clauses, self._lookups)
        try:
            return await self._run_each(clauses, table, previous)
        except PlanTooLarge:
            counted = None if table.names else counted_before_unwinding(clauses)
            if counted is not None:
                return await self._run_clauses(counted, table, previous)
            groups = await self._grouped_by_lists(clauses, table)
            if groups is not None:
                return await self._run_each([groups[1], *clauses[2:]], groups[0])
            first = await self._first_rows(clauses, table)
            if first is None:
                raise
            return await self._run_each(clauses[2:], first, clauses[1])

    async def _first_rows(self, clauses: Sequence[Clause], table: Table) -> Table | None:
        """The rows that the first projection keeps of a pattern's; None if it keeps all."""
        match clauses:
            case (Match() as match, Project(limit=int() as most) as project, *_) if self._store is not None:
                pass
            case _:
                return None
        if not {*table.names} <= {PROOF} or most > self._budget.bound:
            return None
        answer = LargeAnswer(self._store, match, project, self._match)
        window = await answer.window(project.skip, most, proof=PROOF in table.names)
        return window and await self._expressions.rows_where(window.table, conjuncts(project.where))

    async def _grouped_by_lists(self, clauses: Sequence[Clause], table: Table) -> tuple[Table, Project] | None:
        """The groups of the first pattern by labels or by lists of values; None if there are none in its projection.

        A store makes such lists of all nodes of the graph, which pays only if the matches are too many.
        """
        match clauses:
            case (Match() as match, Project() as project, *_) if (
                self._store is not None and not table.names and makes_groups(project)
            ):
                used = list(parts(project))
            case _:
                return None
        nodes = node_patterns(match)
        names = [name for one in used if isinstance(one, Property) and one.owner in nodes for name in one.ids]
        has_labels = any(isinstance(one, Call) and one.function is Function.LABELS for one in used)
        with suppress(StoreTimeout):  # that the matches are too many says more
            schema_names = await SchemaNames.of(self._graph)
            if has_labels or await schema_names.may_have_several_values(names, ValueOwner.NODE):
                return await group_in_store(self._store, match, project, lists=True)
        return None

    async def _run_each(self, clauses: Sequence[Clause], table: Table, previous: Clause | None = None) -> Table:
        """The rows of a table after clauses, one after the other, or the first of them at once."""
        counted_rows = await self._counted_by_store(clauses, table)
        if counted_rows is not None:
            table, clauses = counted_rows
        for place, clause in enumerate(clauses):
            match clause:
                case Match():
                    table = await self._run_match(clause, table, needs_after(clauses[place + 1 :]))
                case Unwind():
                    table = await self._run_unwind(clause, table, needs_after(clauses[place + 1 :]).variables)
                case Project():
                    in_order = isinstance(previous, Project) and bool(previous.order)
                    last = place == len(clauses) - 1
                    table = await projected(self._expressions, clause, table, sorted_before=in_order, is_last=last)
            if not isinstance(clause, Project):  # whose values were checked before they were sorted
                await self._check(table)
            previous = clause
        return table

    async def _check(self, table: Table) -> None:
        """Check that a table may be held."""
        await in_thread(table.size, lambda: self._budget.check_table(table))

    async def _counted_by_store(self, clauses: Sequence[Clause], table: Table) -> tuple[Table, Sequence[Clause]] | None:
        """Row counts of the first pattern, computed by the store, and the remaining clauses.

        None if later clauses need the rows themselves, or if the store cannot count them.
        """
        match clauses:
            case (Match() as match, Project() as project, *rest) if PROOF not in table.names:
                groups = (
                    None if self._store is None or table.names else await group_in_store(self._store, match, project)
                )
                if groups is not None:
                    return groups[0], (groups[1], *rest)
                counts = counting_projection(match, project, rest)
            case _:
                return None
        found = None if counts is None else await self._matches_in_store(match, table, counts[0])
        if counts is None or found is None:
            return None
        return await self._or_explain(match, table, found), (counts[1], *rest)

    async def _match(self, match: Match, table: Table, needs: RequiredColumns | None = None) -> Table:
        """The rows extended by the matches of a pattern, reduced to what is needed; None needs only their number."""
        found = await self._matches_in_store(match, table, needs or RequiredColumns())
        if found is None:
            return await self._match_edge_by_edge(match, table)
        return found if needs is None else await self._or_explain(match, table, found)

    async def _matches_in_store(self, match: Match, table: Table, needs: RequiredColumns) -> Table | None:
        """The rows extended by the matches that the store finds; None if it cannot match the pattern."""
        return None if self._store is None else await self._store.match_rows(match, table, needs)

    async def _or_explain(self, match: Match, table: Table, found: Table) -> Table:
        """The matches that the store found. If there are none, the pattern is read to find the part without a match."""
        if found.rows or match.optional or self._budget.unmatched is not None:
            return found
        with suppress(PlanTooLarge, StoreTimeout, TimeoutError):
            deadline = self._budget.deadline
            async with asyncio.timeout(None if deadline is None else deadline.seconds_left() * _EXPLAINED_SHARE):
                by_edges = await self._match_by_edge_conditions(match, table)
                return await self._read(match, table) if by_edges is None else by_edges
        return found

    async def _match_edge_by_edge(self, match: Match, table: Table) -> Table:
        """The rows extended by the matches of a pattern, found edge by edge.

        If that is too much, the store first reduces the rows to nodes that may match. It does so from the start if
        conditions on properties of edges select the edges, or if all nodes of the graph would have to be read.
        """
        if self._store is None:
            return await self._read(match, table)
        selected = await self._match_by_edge_conditions(match, table)
        if selected is not None:
            return selected
        finder = CandidateFinder(self._store)
        sizes, anywhere = dict(self._budget.sizes), has_no_start(match, table.names)
        read = self._read_candidates if anywhere else self._read
        try:
            if (matched := await finder.unless_too_large(match, table, lambda: read(match, table))) is not None:
                return matched
        except PlanTooLarge:
            found = None if anywhere else await finder.candidates(match, table)
            if found is None:
                raise
        else:
            raise self._budget.too_large()
        self._budget.sizes = sizes
        return await self._read(match, found.table, found.labelled)

    async def _match_by_edge_conditions(self, match: Match, table: Table) -> Table | None:
        """As `_match_edge_by_edge`, for edges that conditions on their properties select; None without these."""
        found = None
        if self._store is not None:
            found = await CandidateFinder(self._store).by_edge_conditions(match, table)
        return None if found is None else await self._read(match, found.table, found.labelled)

    async def _read(self, match: Match, table: Table, labelled: Collection[str] = ()) -> Table:
        return await PatternMatcher(self._reader, self._expressions, match, table, labelled).matches()

    async def _read_candidates(self, match: Match, table: Table) -> Table:
        """The rows extended by the matches of a pattern among the nodes that may match, if the store finds them."""
        found = None
        with suppress(PlanTooLarge):
            found = None if self._store is None else await CandidateFinder(self._store).candidates(match, table)
        if found is None:
            return await self._read(match, table)
        if not found.table.rows:
            columns = tuple(dict.fromkeys((*table.names, *bound_variables(match))))
            return await self._or_explain(match, table, Table(columns, []))
        return await self._read(match, found.table, found.labelled)

    async def _run_match(self, match: Match, table: Table, needs: RequiredColumns) -> Table:
        if not match.optional:
            return await self._match(match, table, needs)
        size, unmatched = len(table.rows), self._budget.unmatched
        numbered = await in_thread(size, lambda: numbered_rows(with_multiplicity(table)))
        found = await self._match(match, numbered, needs.if_matched())
        self._budget.unmatched = unmatched
        size += len(found.rows)
        return await in_thread(size, lambda: with_unmatched(match, numbered, found, needs.only_counted))

    async def _run_unwind(self, clause: Unwind, table: Table, needed: Collection[str]) -> Table:
        lists = await self._expressions.values(table, [clause.of])
        bound, kept = self._budget.bound, tuple(name for name in table.names if name in needed or name in _HELD)

        def work() -> list[Row]:
            return _unwind(list(table.pick(kept)), lists, bound)

        rows = await in_thread(Table(("list",), lists).size, work)
        self._budget.check(len(rows), Variable(clause.variable))
        return Table((*kept, clause.variable), rows)

    def _cell(self, value: Value) -> Cell:
        match value:
            case Node():
                return self._reader.entity(value)
            case Edge():
                return value.triple
            case PathValue():
                nodes: tuple[Entity, ...] = tuple(map(self._reader.entity, value.nodes))
                return Path(nodes, tuple(edge.triple for edge in value.edges))
            case tuple():
                return tuple(map(self._cell, value))
            case _:
                return value

    async def _several_values(self) -> str:
        """The note about properties with several values of which the schema does not say so: the check names those."""
        found = self._reader.several.properties()
        if not found:
            return ""
        schema_names = await SchemaNames.of(self._graph)
        return several_values_note([one for one in found if not await _is_known_to_have_several(schema_names, one)])

    def _note(self, plan: Plan, page: PlanPage) -> str:
        notes: list[str] = []
        if self._budget.stop is not Stop.COMPLETE:
            why = _PART_READ.get(self._budget.stop, "the store returned only a part")
            notes.append(
                f"Only a part of the graph was read: {why}. Counts and sums are lower bounds, and rows may be missing "
                f"or wrong where something must not exist."
            )
        part = self._budget.unmatched
        if part is not None and is_empty_answer(page) and not is_zero_count(page):
            notes.append(no_match_note(plan, part))
        return " ".join(notes)


async def _is_known_to_have_several(schema_names: SchemaNames, value: Property | Variable) -> bool:
    if not isinstance(value, Property):
        return False
    ids = value.ids
    return schema_names.have_several_values(ids) or await schema_names.qualifiers_have_several_values((), ids)


def _unwind(before: list[Row], lists: list[Row], bound: int) -> list[Row]:
    """Each row with each member of its list. Stops soon after the bound."""
    rows: list[Row] = []
    for row, (value,) in zip(before, lists, strict=True):
        members = value if isinstance(value, tuple) else () if value is None else (value,)
        rows += ((*row, member) for member in members[: bound + 1])
        if len(rows) > bound:
            break
    return rows


def _nodes(values: Iterable[Value]) -> Iterable[Node]:
    for value in flat(values):
        if isinstance(value, Node):
            yield value
        elif isinstance(value, PathValue):
            yield from value.nodes


def _edges(values: Iterable[Value]) -> Iterable[Edge]:
    return (value for value in flat(values) if isinstance(value, Edge))
