"""Nodes that may match a pattern, found by the store: the pattern is then matched edge by edge among these only."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from kgnav_mcp.errors import InvalidStore, StoreTimeout, Unsupported
from kgnav_mcp.navigation.plans.evaluate.patterns import ids_of
from kgnav_mcp.navigation.plans.evaluate.values import Table
from kgnav_mcp.navigation.plans.pushdown.pushable import (
    edge_conditions,
    pushed_to_every_store,
    with_chains,
)
from kgnav_mcp.navigation.plans.pushdown.store_matching import PatternRequest, StoreMatcher, has_nodes
from kgnav_mcp.plan import Match
from kgnav_mcp.plan.walking import conjunction, conjuncts, node_patterns, variables_of
from kgnav_mcp.port.pattern_conditions import is_connected, qualifier_condition


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows with nodes that may match a pattern."""

    table: Table
    labelled: frozenset[str]
    """The variables of nodes that have the labels of the pattern."""


class CandidateFinder:
    """Finds candidates for the patterns of one evaluation."""

    def __init__(self, store: StoreMatcher) -> None:
        self._store, self._budget = store, store.reader.budget

    async def unless_too_large(
        self, match: Match, table: Table, work: Callable[[], Coroutine[Any, Any, Table]]
    ) -> Table | None:
        """The result of `work`, which matches a pattern edge by edge; None if the store says that it is too large.

        It is asked whether paths of one length alone are more than may be held: each is a path of the pattern.
        """
        chained, names = with_chains(match), frozenset(node_patterns(match))
        given = tuple(name for name in table.names if name in names)
        pushed = pushed_to_every_store(chained, frozenset(node_patterns(chained)))
        whole = len(pushed) == len(conjuncts(chained.where)) and is_connected(chained, table.names)
        if not whole or not has_nodes(table, given, or_null=False):
            return await work()
        pattern = replace(chained, where=conjunction(pushed))
        request = PatternRequest(pattern, given, ids_of(table, given), tuple(sorted(names - {*given})))
        return await self._store.unless_too_many(work, request)

    async def candidates(self, match: Match, table: Table) -> Candidates | None:
        """The rows extended by nodes that may match a pattern; None if the store cannot find them.

        Paths and conditions that not every store can express are left out, so some of these nodes may not match.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        edges = tuple(edge for edge in match.edges if edge.path is None and edge.variable not in table.names)
        edge_variables, known = {edge.variable for edge in edges}, {None, *node_patterns(match), *table.names}
        qualifiers = {
            condition: one
            for condition in edge_conditions(match)
            if (one := qualifier_condition(condition)) and one.owned.owner in edge_variables and one.node in known
        }
        connected = {end for edge in edges for end in (edge.source, edge.target)}
        connected |= {one.node for one in qualifiers.values() if one.node is not None}
        nodes = tuple(node for node in match.nodes if node.variable in connected)
        relaxed = replace(match, nodes=nodes, edges=edges, paths=(), where=None)
        names = frozenset(node_patterns(relaxed))
        if not edges or not is_connected(relaxed, table.names, tuple(qualifiers.values())):
            return None
        pushed = pushed_to_every_store(match, names, numbers=False)
        given = tuple(name for name in table.names if name in names or name in connected)
        if not has_nodes(table, given):
            return None
        remaining = tuple(one for one in conjuncts(match.where) if one not in pushed)
        with suppress(Unsupported, StoreTimeout, InvalidStore):
            pattern = await self._store.pattern(relaxed, (*pushed, *qualifiers), remaining, given)
            wanted = tuple(sorted(names - {*given}))
            found = await self._store.read(PatternRequest(pattern, given, ids_of(table, given), wanted, prefilter=True))
            if found is None:
                raise self._budget.too_large()
            return Candidates(await self._store.joined(table, found), names)
        return None

    async def by_edge_conditions(self, match: Match, table: Table) -> Candidates | None:
        """The rows extended by nodes that may match a pattern, found by conditions on properties of its edges.

        None if there are no such conditions, or if the store cannot find the nodes. If nothing matches, the rows are
        those for the first edge with such a condition alone, so that the part without a match can be named.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        if not edge_conditions(match):
            return None
        found = await self.candidates(match, table)
        if found is None or found.table.rows:
            return found
        for edge in match.edges:
            own = [one for one in conjuncts(match.where) if edge.variable in variables_of(one)]
            named = frozenset(name for one in own for name in variables_of(one))
            nodes = tuple(node for node in match.nodes if node.variable in named)
            single_edge = Match(nodes, (edge,), where=conjunction(own))
            partial_rows = await self.candidates(single_edge, table) if edge_conditions(single_edge) else None
            if partial_rows is not None:
                if not partial_rows.table.rows:
                    self._budget.expect(match)
                    self._budget.record_unmet_condition(own[0])
                return replace(partial_rows, labelled=frozenset())
        return found
