"""Matches patterns edge by edge and joins the matches with the rows of a table.

A pattern is split into edges. The edges of the graph that match one of them are read as a table (source, edge, target)
for the set of nodes at its bound end, filtered by the conditions on these three alone, and then joined with the rows.
Bound edges come first, then those with the fewest rows to read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import prod

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Count, Direction
from kgnav_mcp.navigation.plans.evaluate.equality_joins import product_where
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.path_matching import Paths
from kgnav_mcp.navigation.plans.evaluate.patterns import (
    PROOF,
    bound_variables,
    column_of,
    direction_from,
    has_specific_edges,
    links_table,
    natural_join,
    paths_as_links,
    product_of,
    steps_of_bound_edge,
    with_paths,
    with_proof,
)
from kgnav_mcp.navigation.plans.evaluate.start_nodes import Start, start_of, start_of_single
from kgnav_mcp.navigation.plans.evaluate.table_evaluation import ExpressionEvaluator, nodes_of
from kgnav_mcp.navigation.plans.evaluate.values import Node, Row, Table
from kgnav_mcp.plan import EdgePattern, Match, NodePattern
from kgnav_mcp.plan.walking import conjuncts, equality_sides, node_patterns, variables_of

_PAIRS = 10_000
"""Pairs of ends of a path up to which both ends are bound before the search, not only one."""
_FEW = 100
"""If at most this many nodes have an id or a value, sets of a label are not counted: it may use up the store's time."""
_BY_ENDS = 10_000
"""Size of a set at the far end up to which edges are read by both ends, not by the near end only."""


class PatternMatcher:
    """The matching of one pattern for the rows of a table."""

    def __init__(
        self, reader: Reader, evaluator: ExpressionEvaluator, match: Match, table: Table, labelled: Collection[str] = ()
    ) -> None:
        """`labelled` are columns of the table whose nodes are known to have the labels of the pattern."""
        self._reader, self._expressions, self._match = reader, evaluator, match
        self._budget = reader.budget
        self._given = table.names
        self._table = table
        self._written = node_patterns(match)
        self._patterns = dict(self._written)
        """The node patterns with subclasses added to their labels."""
        self._edges = list(match.edges)
        own = {*self._patterns, *(edge.variable for edge in match.edges), *(path.variable for path in match.paths)}
        scope = own.union(self._given)
        self._pending = [(variables_of(each) & scope, each) for each in conjuncts(match.where)]
        """Conditions that are not checked yet, each with the variables it needs."""
        self._starts: dict[str, Start] = {}
        self._labelled = {*labelled}
        """Variables whose nodes were found by their labels, so that the labels need no check."""

    async def matches(self) -> Table:
        """The rows extended by all matches of the pattern.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        self._budget.expect(self._match)
        await self._add_subclasses()
        for node in self._patterns.values():
            if node.variable in self._given:
                await self._check_bound_node(node)
        while self._table.rows and (self._edges or self._unbound()):
            edge = await self._next_edge()
            far = None if edge is None else await self._selective_end(edge)
            if edge is None or far is not None:
                await self._bind_smallest(self._unbound() if far is None else [far])
            else:
                self._edges.remove(edge)
                await self._follow(edge)
        if self._table.rows and self._match.paths:
            table, match = self._table, self._match
            self._table = await in_thread(len(table.rows), lambda: with_paths(match, table))
        if self._table.rows:
            self._table = await self._filter(self._table)
        return await self._with_all_columns()

    async def _add_subclasses(self) -> None:
        """Add subclasses to the labels of those nodes for which instances of subclasses count."""
        for name, node in self._written.items():
            if node.subclasses:
                groups = [await self._reader.with_subclasses(group, node) for group in node.labels]
                self._patterns[name] = replace(node, labels=tuple(groups))

    def _bound(self, variable: str) -> bool:
        return variable in self._table.names

    def _unbound(self) -> list[str]:
        return [name for name in self._patterns if not self._bound(name)]

    async def _check_bound_node(self, node: NodePattern) -> None:
        """Keep the rows whose node has the labels of its pattern and which meet the conditions that can be checked."""
        place = self._table.names.index(node.variable)
        self._table = Table(self._table.names, [row for row in self._table.rows if isinstance(row[place], Node)])
        self._table = await self._filter(await self._filter_by_labels(self._table, node))
        self._budget.record_size(self._written[node.variable], len(await nodes_of(self._table, node.variable)))

    async def _filter_by_labels(self, table: Table, node: NodePattern) -> Table:
        """The rows whose node has a label of each group."""
        if not node.labels or not table.rows or node.variable in self._labelled:
            return table
        reader, nodes = self._reader, await nodes_of(table, node.variable)
        await reader.classes.read_names(label for group in node.labels for label in group)
        await reader.describe(nodes)
        place = table.names.index(node.variable)

        def work() -> list[Row]:
            labelled = {one for one in nodes if all(reader.has_label(one, group) for group in node.labels)}
            return [row for row in table.rows if row[place] in labelled]

        return Table(table.names, await in_thread(len(table.rows), work))

    async def _filter(self, table: Table, *, partial: bool = False) -> Table:
        """The rows that meet all pending conditions whose variables are columns of the table.

        With `partial`, the table is not yet joined: conditions without variables are skipped, and all stay pending.
        """
        names = set(table.names)
        ready = [each for needed, each in self._pending if needed <= names and (needed or not partial)]
        if not partial:
            self._pending = [(needed, each) for needed, each in self._pending if not needed <= names]
        return await self._expressions.rows_where(table, ready)

    async def _next_edge(self) -> EdgePattern | None:
        """The edge to follow next: one that is bound or between bound nodes, otherwise the cheapest one."""
        candidates = [edge for edge in self._edges if self._bound(edge.variable)]
        candidates = candidates or [
            edge for edge in self._edges if self._bound(edge.source) and self._bound(edge.target)
        ]
        if candidates:
            return candidates[0]
        candidates = [edge for edge in self._edges if self._bound(edge.source) or self._bound(edge.target)]
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        costs = [await self._cost(edge) for edge in candidates]
        return candidates[costs.index(min(costs))]

    async def _selective_end(self, edge: EdgePattern) -> str | None:
        """The unbound end of a path if it is selected by an id or a value: a search with known ends stops earlier."""
        far = edge.target if self._bound(edge.source) else edge.source
        if edge.path is None or self._bound(far) or not self._start(far).selective:
            return None
        ends = (await self._start(far).count(self._reader)).value
        return far if ends * len(self._table.rows) <= _PAIRS else None

    async def _cost(self, edge: EdgePattern) -> tuple[bool, int]:
        """The cost of following an edge as a sort key: paths last, then by the number of edges at the bound end."""
        bound = edge.source if self._bound(edge.source) else edge.target
        nodes = await nodes_of(self._table, bound)
        if edge.path is not None:
            return True, len(nodes)
        degrees, _ = await self._reader.degrees(nodes, direction_from(edge, bound), edge.relations)
        return False, degrees.total()

    async def _bind_smallest(self, names: Sequence[str]) -> None:
        """Bind the node with the smallest set: each row is combined with each of its nodes."""
        first = self._start(names[0])
        is_same = len(names) == 1 or (bool(self._edges) and all(self._start(name) == first for name in names))
        several = len(self._table.rows) > 1 or not is_same
        selective = [name for name in names if self._start(name).selective] if several else []
        counts = {name: await self._start(name).count(self._reader) for name in selective}
        if several and not any(count.value <= _FEW for count in counts.values()):
            others = [name for name in names if name not in counts and not self._is_never_smallest(name, names)]
            counts |= {name: await self._start(name).count(self._reader) for name in others}
        best = min(counts, key=lambda name: self._row_count(name, counts[name])) if several else names[0]
        self._check_product(counts, best)
        node, written, start = self._patterns[best], self._written[best], self._start(best)
        found = await start.nodes(self._reader, written)
        if not found and start.condition is not None:
            self._budget.record_unmet_condition(start.condition)
        nodes_table = Table((node.variable,), await in_thread(len(found), lambda: [(one,) for one in found]))
        nodes_table = await self._filter(
            nodes_table if start.labelled else await self._filter_by_labels(nodes_table, node), partial=True
        )
        self._table = await self._filter(await self._product(nodes_table, written))
        self._budget.record_size(written, len(nodes_table.rows))

    async def _product(self, nodes: Table, part: NodePattern) -> Table:
        """Each row with each of some nodes. If conditions compare both, only the rows that meet these are held."""
        rows, (name,) = self._table, nodes.names
        both = {*rows.names, name}
        compared = [each for needed, each in self._pending if name in needed <= both and len(needed) > 1]
        self._pending = [(needed, each) for needed, each in self._pending if each not in compared]
        if not compared:
            self._budget.check(len(rows.rows) * len(nodes.rows), part)

        async def combine(table: Table, places: Sequence[Sequence[int]]) -> Table:
            return await in_thread(sum(map(len, places)), lambda: product_of(table, nodes, places))

        return await product_where(self._expressions, rows, nodes, compared, combine)

    def _row_count(self, name: str, count: Count) -> int:
        """The rows to expect when a node is bound: a product with all its nodes, unless an equality joins it."""
        rows = len(self._table.rows)
        return max(rows, count.value) if self._is_joined(name, self._table.names) else rows * count.value

    def _is_joined(self, name: str, others: Collection[str]) -> bool:
        """Whether an equality with other columns finds the rows for a node, so that no product with it is made."""
        return any(equality_sides(condition, others, (name,)) for _, condition in self._pending)

    def _is_never_smallest(self, name: str, names: Sequence[str]) -> bool:
        """Whether a node need not be counted: it may be any node of the graph, and others may not."""
        others_are_fewer = any(not self._start(other).is_everything for other in names)
        return bool(self._edges) and self._start(name).is_everything and others_are_fewer

    def _check_product(self, counts: Mapping[str, Count], first: str) -> None:
        """Refuse a product of unfiltered sets before one of them is read.

        Raises:
            PlanTooLarge: the product is larger than the bound.
        """
        unfiltered = {name: count for name, count in counts.items() if self._start(name).whole}
        bound = self._table.names
        joined = any(self._is_joined(name, {*bound, *unfiltered} - {name}) for name in unfiltered)
        if self._edges or joined or len(unfiltered) < len(counts):
            unfiltered = {name: count for name, count in unfiltered.items() if name == first}
        self._budget.sizes |= {self._written[name]: count for name, count in unfiltered.items()}
        rows = 1 if self._is_joined(first, bound) else len(self._table.rows)
        self._budget.check(rows * prod(count.value for count in unfiltered.values()))

    def _start(self, name: str) -> Start:
        if name not in self._starts:
            own = [each for needed, each in self._pending if needed == frozenset((name,))]
            starts = start_of if self._match.edges else start_of_single
            self._starts[name] = starts(self._patterns[name], own)
        return self._starts[name]

    async def _follow(self, edge: EdgePattern) -> None:
        """Join the rows with the matches of an edge or a path."""
        links = await self._links(edge)
        for name in dict.fromkeys((edge.source, edge.target)):
            if not self._bound(name):
                links = await self._filter_by_labels(links, self._patterns[name])
        await self._join(await self._filter(links, partial=True), edge)
        self._budget.check(len(self._table.rows), edge)
        self._table = await self._filter(self._table)
        await self._measure(edge)

    async def _join(self, links: Table, edge: EdgePattern) -> None:
        """Join the rows with the links of an edge."""
        rows, bound, taken = self._table, self._budget.bound, self._bound_edges(edge)
        size = len(rows.rows) + len(links.rows)
        self._table = await in_thread(size, lambda: natural_join(rows, links, edge.variable, taken, bound))

    def _bound_edges(self, edge: EdgePattern) -> list[str]:
        """The edges and trails of this pattern that are already bound: an edge of the graph must not match two."""
        if not self._match.edges_differ or not has_specific_edges(edge):
            return []
        return [
            one.variable
            for one in self._match.edges
            if one is not edge and has_specific_edges(one) and self._bound(one.variable)
        ]

    async def _measure(self, edge: EdgePattern) -> None:
        """Record how many edges or paths matched, and how many nodes at their ends."""
        table = self._table
        ends = (edge.source, edge.target)
        own = (edge.variable,) if column_of(edge) == edge.variable else ends
        sizes = await in_thread(
            len(table.rows), lambda: [len(set(table.pick(names))) for names in (own, *((end,) for end in ends))]
        )
        self._budget.record_size(edge, sizes[0])
        for name, size in zip(ends, sizes[1:], strict=True):
            if size:
                self._budget.record_size(self._written[name], size)

    async def _links(self, edge: EdgePattern) -> Table:
        """The candidates for an edge, as a table of source, edge and target."""
        names = (edge.source, edge.variable, edge.target)
        if self._bound(edge.variable):
            return links_table(names, steps_of_bound_edge(self._table, edge))
        if edge.path is not None:
            paths = Paths(self._reader, edge, proof=PROOF in self._given)
            ends = [
                await nodes_of(self._table, name) if self._bound(name) else None for name in (edge.source, edge.target)
            ]
            return paths_as_links(edge, await paths.between(*ends))
        heads, tails = await self._ends(edge)
        if heads is not None and tails is not None and not await self._reader.two_hops(edge.relations):
            steps = await self._reader.read_edges_between(heads, tails, edge.relations, edge)
            if edge.either:
                reversed_steps = await self._reader.read_edges_between(tails, heads, edge.relations, edge)
                steps += [(tail, one, head) for head, one, tail in reversed_steps if head is not tail]
        elif heads is not None:
            side = None if edge.either else Direction.OUTGOING
            steps = await self._reader.read_edges(heads, side, edge.relations, edge)
            if tails is not None:
                wanted = set(tails)
                steps = [step for step in steps if step[2] in wanted]
        else:
            side = None if edge.either else Direction.INCOMING
            reversed_steps = await self._reader.read_edges(tails or [], side, edge.relations, edge)
            steps = [(far, one, near) for near, one, far in reversed_steps]
        return links_table(names, list(steps))

    async def _ends(self, edge: EdgePattern) -> tuple[list[Node] | None, list[Node] | None]:
        """The nodes at the two ends of an edge: of bound ends, and of unbound ends with few nodes; otherwise None."""
        ends: list[list[Node] | None] = []
        for name in (edge.source, edge.target):
            if self._bound(name):
                ends.append(await nodes_of(self._table, name))
            elif self._start(name).selective and (await self._start(name).count(self._reader)).value <= _BY_ENDS:
                ends.append(await self._start(name).nodes(self._reader, self._written[name]))
                if self._start(name).labelled:
                    self._labelled.add(name)
            else:
                ends.append(None)
        return ends[0], ends[1]

    async def _with_all_columns(self) -> Table:
        """The rows with all columns of the pattern, and with its edges added to their proof."""
        table, match = self._table, self._match
        if not table.rows:
            return Table(tuple(dict.fromkeys((*self._given, *bound_variables(match)))), [])
        return await in_thread(len(table.rows), lambda: with_proof(match, table))
