"""Patterns that the store matches: its answer as rows, each with the number of equal rows that it stands for.

The store matches a pattern only if later clauses need nothing but its nodes. Conditions on nodes that the store cannot
express are evaluated here, on its rows.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from kgnav_mcp.concurrency import in_thread, run_unless_stopped
from kgnav_mcp.errors import InvalidStore, StoreTimeout, Unsupported
from kgnav_mcp.navigation.plans.check.entities import has_id
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.patterns import PROOF, TIMES, Found, ids_of, merged, times, with_matches
from kgnav_mcp.navigation.plans.evaluate.required_columns import RequiredColumns
from kgnav_mcp.navigation.plans.evaluate.start_nodes import start_of
from kgnav_mcp.navigation.plans.evaluate.table_evaluation import ExpressionEvaluator, nodes_of
from kgnav_mcp.navigation.plans.evaluate.values import Node, Row, Table
from kgnav_mcp.navigation.plans.pushdown.pushable import (
    Conditions,
    is_open,
    is_plain,
    qualifiers_asked,
    split,
    wanted_properties,
    with_chains,
)
from kgnav_mcp.plan import Match, NodePattern
from kgnav_mcp.plan.walking import conjunction, conjuncts, variables_of
from kgnav_mcp.port import Capability, GraphAdapter
from kgnav_mcp.port.pattern_queries import PatternMatch, PatternQuery

_PROBED_AFTER_S = 0.25
"""Seconds of matching after which the store is asked whether there are too many matches: most need less."""
_IDS = 1_000
"""Nodes with a given property value whose ids are passed to the store at most."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """Rows with nodes that may match a pattern."""

    table: Table
    labelled: frozenset[str]
    """The variables of nodes that have the labels of the pattern."""


class StoreMatcher:
    """Matches patterns of one evaluation in the store."""

    def __init__(self, graph: GraphAdapter, reader: Reader, asker: ExpressionEvaluator) -> None:
        self._graph, self._reader, self._asker = graph, reader, asker

    async def fitted(self, match: Match, table: Table, needs: RequiredColumns) -> Table | None:
        """The rows extended by the needed nodes of a pattern's matches; None if the store cannot match the pattern.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        inner = frozenset(edge.variable for edge in match.edges)
        if Capability.MATCH_PATTERN not in self._graph.capabilities or not table.rows or PROOF in table.names:
            return None
        if not is_plain(match, table.names) or inner & (needs.variables | {*table.names}):
            return None
        known = frozenset(merged(match)) | {*table.names}
        for conditions in dict.fromkeys(split(match, known, values=values) for values in (True, False)):
            with suppress(Unsupported):
                return await self._by_store(match, table, needs, *conditions)
        return None

    async def _by_store(
        self, match: Match, table: Table, needs: RequiredColumns, pushed: Conditions, remaining: Conditions
    ) -> Table | None:
        """As `fitted`: the store applies the conditions `pushed`, the others are evaluated on its rows.

        Raises:
            Unsupported: the store cannot express the pattern or these conditions.
        """
        nodes = frozenset(merged(match))
        asked_here = frozenset(name for condition in remaining for name in variables_of(condition))
        if asked_here & {edge.variable for edge in match.edges} or (remaining and (needs.counted or needs.top)):
            return None
        given = tuple(name for name in table.names if name in nodes or any(name in variables_of(one) for one in pushed))
        if any(not isinstance(value, Node | None) for name in given for value in table.column(name)):
            return None
        pattern = await self._pattern_for_store(match, pushed, remaining, given)
        variables = tuple(name for name in sorted(nodes - {*given}) if name in needs.variables | asked_here)
        question = PatternQuery(
            pattern,
            variables,
            given,
            ids_of(table, given),
            needs.counted,
            needs.top,
            properties=wanted_properties(needs, variables),
        )
        try:
            found = await self._matches(question)
        except (StoreTimeout, InvalidStore):
            return None  # too much for one query: the caller matches edge by edge
        if found is None or len(found) > self._reader.budget.bound:
            if remaining:
                return None  # too many to hold, though the remaining conditions might leave only a few
            self._reader.budget.expect(match)
            raise self._reader.budget.too_large()
        await self._reader.keep_values(question, found)
        rows = await self._join(table, question, found)
        kept = await self._asker.rows_where(rows, remaining)
        if kept.rows and needs.top is None:
            await self._measure(match, kept, edges=not (given or needs.counted))
        return kept

    async def _matches(self, question: PatternQuery) -> Sequence[PatternMatch] | None:
        """The matches, one more than may be held at most; None if the store soon finds out that there are more."""
        if not question.rows:
            return ()
        if is_open(question) and await self._has_too_many(question):
            return None  # a store may go on with a query that nobody waits for: a long one is not begun
        work = self._graph.match_pattern(question, limit=self._reader.budget.bound + 1)
        return await run_unless_stopped(work, lambda: self._has_too_many(question), _PROBED_AFTER_S)

    async def _has_too_many(self, question: PatternQuery) -> bool:
        """Whether there are certainly more matches than may be held."""
        with suppress(Unsupported, StoreTimeout, InvalidStore):
            return await self._graph.has_more_matches(question, self._reader.budget.bound)
        return False

    async def unless_too_large(self, match: Match, table: Table, work: Coroutine[Any, Any, Table]) -> Table | None:
        """The result of `work`, which matches a pattern edge by edge; None if the store says that it is too large.

        It is asked whether paths of one length alone are more than may be held: each is a path of the pattern.
        """
        chained = with_chains(match)
        names = frozenset(merged(match))
        given = tuple(name for name in table.names if name in names)
        pushed, remaining = split(chained, frozenset(merged(chained)), values=True)
        nodes_only = all(isinstance(value, Node) for name in given for value in table.column(name))
        if remaining or not nodes_only or not is_plain(chained, table.names):
            return await work
        pattern = replace(chained, where=conjunction(pushed))
        question = PatternQuery(pattern, tuple(sorted(names - {*given})), given, ids_of(table, given))
        if is_open(question) and await self._has_too_many(question):
            work.close()
            return None
        return await run_unless_stopped(work, lambda: self._has_too_many(question), _PROBED_AFTER_S)

    async def pruned(self, match: Match, table: Table) -> Pruned | None:
        """The rows extended by nodes that may match a pattern; None if the store cannot find them.

        Paths and conditions that the store cannot express are left out, so some of these nodes may not match.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        edges = tuple(edge for edge in match.edges if edge.path is None and edge.variable not in table.names)
        edge_variables, known = {edge.variable for edge in edges}, {None, *merged(match), *table.names}
        conditions = (one for one in qualifiers_asked(match) if one.owned.owner in edge_variables)
        qualifiers = tuple(one for one in conditions if one.node in known)
        connected = {end for edge in edges for end in (edge.source, edge.target)} | {one.node for one in qualifiers}
        nodes = tuple(node for node in match.nodes if node.variable in connected)
        relaxed = replace(match, nodes=nodes, edges=edges, paths=(), where=None)
        plain = edges and is_plain(relaxed, table.names, qualifiers)
        if Capability.MATCH_PATTERN not in self._graph.capabilities or not plain:
            return None
        names = frozenset(merged(relaxed))
        pushed, remaining = split(match, names, values=False)
        given = tuple(name for name in table.names if name in names or name in connected)
        if any(not isinstance(value, Node | None) for name in given for value in table.column(name)):
            return None
        with suppress(Unsupported, StoreTimeout, InvalidStore):
            pattern = await self._pattern_for_store(relaxed, pushed, remaining, given)
            variables = tuple(sorted(names - {*given}))
            question = PatternQuery(pattern, variables, given, ids_of(table, given), qualifiers=qualifiers)
            found = await self._graph.match_pattern(question, limit=self._reader.budget.bound + 1)
            rows = await self._join(table, question, [PatternMatch(one.nodes, 1) for one in found])
            return Pruned(rows, frozenset(merged(relaxed)))
        return None

    async def by_qualifiers(self, match: Match, table: Table) -> Pruned | None:
        """The rows extended by nodes that may match a pattern, found by conditions on properties of its edges.

        None if there are no such conditions, or if the store cannot find the nodes. If nothing matches, the rows are
        those for the first edge with such a condition alone, so that the part without a match can be named.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        if not qualifiers_asked(match):
            return None
        found = await self.pruned(match, table)
        if found is None or found.table.rows:
            return found
        for edge in match.edges:
            own = [one for one in conjuncts(match.where) if edge.variable in variables_of(one)]
            named = frozenset(name for one in own for name in variables_of(one))
            single_edge = Match(
                tuple(node for node in match.nodes if node.variable in named), (edge,), where=conjunction(own)
            )
            partial_rows = await self.pruned(single_edge, table) if qualifiers_asked(single_edge) else None
            if partial_rows is not None:
                if not partial_rows.table.rows:
                    self._reader.budget.expect(match)
                    self._reader.budget.record_unmet_condition(own[0])
                return replace(partial_rows, labelled=frozenset())
        return found

    async def _pattern_for_store(
        self, match: Match, pushed: Conditions, remaining: Conditions, given: Sequence[str]
    ) -> Match:
        """The pattern for the store: with ids for nodes that have a property value, and with subclasses of labels."""
        conditions = list(pushed)
        nodes: list[NodePattern] = []
        for written in merged(match).values():
            groups = [
                await self._reader.with_subclasses(group, written) if written.subclasses else group
                for group in written.labels
            ]
            node = replace(written, labels=tuple(groups), subclasses=False)
            nodes.append(node)
            start = start_of(node, [one for one in remaining if variables_of(one) == frozenset((node.variable,))])
            if node.variable in given or not start.selective:
                continue
            if (await start.count(self._reader)).value <= _IDS:
                conditions.append(has_id(node.variable, [one.id for one in await start.nodes(self._reader, written)]))
        return replace(match, nodes=tuple(nodes), where=conjunction(conditions), optional=False)

    async def _join(self, table: Table, question: PatternQuery, found: Sequence[PatternMatch]) -> Table:
        """The rows of a table extended by the matches.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        node, names = self._reader.node, (*question.given, *question.variables, TIMES)

        def work() -> Table:
            rows: list[Row] = [(*map(node, fit.nodes), fit.number) for fit in found]
            return with_matches(table, Found(len(question.given), names, rows), self._reader.budget.bound)

        rows = await in_thread(len(table.rows) + len(found), work)
        self._reader.budget.check(len(rows.rows))
        return rows

    async def _measure(self, match: Match, table: Table, *, edges: bool) -> None:
        """Record how many nodes matched, for columns of the table; and how many edges, if the pattern has only one."""
        budget = self._reader.budget
        budget.expect(match)
        for node in match.nodes:
            if node.variable in table.names:
                budget.measured(node, len(await nodes_of(table, node.variable)))
        if edges and len(match.edges) == 1:
            budget.measured(match.edges[0], sum(times(table)))
