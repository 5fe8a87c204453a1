"""Patterns fitted around the rows of a table, set by set.

A pattern is taken apart into edges. Each is read as a table of its own (from, edge, to), for the set of nodes that its
bound end has in the rows so far, narrowed by what is asked of these three alone, and then joined to the rows. What is
bound, or smallest, comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Count, Direction
from kgnav_mcp.navigation.plans.asking import Asker, nodes_of
from kgnav_mcp.navigation.plans.paths import Paths
from kgnav_mcp.navigation.plans.patterns import (
    PROOF,
    bound_by,
    column_of,
    direction_from,
    joined,
    known_steps,
    looped,
    merged,
    of_certain_edges,
    paired,
    ways_as_links,
    with_paths,
    with_proof,
)
from kgnav_mcp.navigation.plans.reading import Reader
from kgnav_mcp.navigation.plans.starting import Start, start_of
from kgnav_mcp.navigation.plans.values import Node, Row, Table
from kgnav_mcp.plan import EdgePattern, Match, NodePattern
from kgnav_mcp.plan.walking import conjuncts, variables_of

_PAIRS = 10_000
"""Pairs of the ends of a path, by which it is searched instead of from one end alone."""
_FEW = 100
"""Ids beside which no other set is counted: counting all nodes may take a store its whole time."""
_BY_ENDS = 10_000
"""Nodes of a small set at the far end, by which edges are asked for instead of by the near end alone."""


class Fitting:
    """One pattern, as it is fitted around the rows of a table."""

    def __init__(self, reader: Reader, asker: Asker, match: Match, table: Table) -> None:
        self._reader, self._asker, self._match = reader, asker, match
        self._budget = reader.budget
        self._given = table.names
        self._table = table
        self._written = merged(match)
        self._patterns = dict(self._written)
        """Those that are written, with the labels that they mean."""
        self._edges = list(match.edges)
        own = {*self._patterns, *(edge.variable for edge in match.edges), *(path.variable for path in match.paths)}
        scope = own.union(self._given)
        self._waiting = [(variables_of(each) & scope, each) for each in conjuncts(match.where)]
        self._starts: dict[str, Start] = {}
        self._labelled_ends: set[str] = set()
        """Nodes that were read by their labels."""

    async def fitted(self) -> Table:
        """The rows with all that fits around them.

        Raises:
            PlanTooLarge: they are more than may be held.
        """
        self._budget.expect(self._match)
        await self._know_subclasses()
        for node in self._patterns.values():
            if node.variable in self._given:
                await self._settle(node)
        while self._table.rows and (self._edges or self._unbound()):
            edge = await self._next_edge()
            far = None if edge is None else await self._small_end(edge)
            if edge is None or far is not None:
                await self._begin(self._unbound() if far is None else [far])
            else:
                self._edges.remove(edge)
                await self._follow(edge)
        if self._table.rows and self._match.paths:
            table, match = self._table, self._match
            self._table = await in_thread(len(table.rows), lambda: with_paths(match, table))
        if self._table.rows:
            self._table = await self._asked(self._table)
        return await self._finished()

    async def _know_subclasses(self) -> None:
        """Take the labels of all subclasses for labels of which instances of subclasses count."""
        for name, node in self._written.items():
            if node.subclasses:
                groups = [await self._reader.with_subclasses(group, node) for group in node.labels]
                self._patterns[name] = replace(node, labels=tuple(groups))

    def _bound(self, variable: str) -> bool:
        return variable in self._table.names

    def _unbound(self) -> list[str]:
        return [name for name in self._patterns if not self._bound(name)]

    async def _settle(self, node: NodePattern) -> None:
        """Keep the rows whose node has the labels of its pattern, and for which all holds that can be asked now."""
        place = self._table.names.index(node.variable)
        self._table = Table(self._table.names, [row for row in self._table.rows if isinstance(row[place], Node)])
        self._table = await self._asked(await self._labelled(self._table, node))
        self._budget.measured(self._written[node.variable], len(await nodes_of(self._table, node.variable)))

    async def _labelled(self, table: Table, node: NodePattern) -> Table:
        """The rows whose node has a label of each group."""
        if not node.labels or not table.rows:
            return table
        reader, nodes = self._reader, await nodes_of(table, node.variable)
        await reader.classes.know(label for group in node.labels for label in group)
        await reader.describe(nodes)
        place = table.names.index(node.variable)

        def work() -> list[Row]:
            fit = {one for one in nodes if all(reader.has_label(one, group) for group in node.labels)}
            return [row for row in table.rows if row[place] in fit]

        return Table(table.names, await in_thread(len(table.rows), work))

    async def _asked(self, table: Table, *, only: bool = False) -> Table:
        """The rows for which all conditions hold that have their variables; `only`: of those that have all in here."""
        names = set(table.names)
        ready = [each for needed, each in self._waiting if needed <= names and (needed or not only)]
        if not only:
            self._waiting = [(needed, each) for needed, each in self._waiting if not needed <= names]
        return await self._asker.kept(table, ready)

    async def _next_edge(self) -> EdgePattern | None:
        """The edge to follow next: one between bound nodes, else the one with the fewest to read."""
        near = [edge for edge in self._edges if self._bound(edge.variable)]
        near = near or [edge for edge in self._edges if self._bound(edge.source) and self._bound(edge.target)]
        if near:
            return near[0]
        near = [edge for edge in self._edges if self._bound(edge.source) or self._bound(edge.target)]
        if len(near) < 2:
            return near[0] if near else None
        costs = [await self._cost(edge) for edge in near]
        return near[costs.index(min(costs))]

    async def _small_end(self, edge: EdgePattern) -> str | None:
        """The end of a path that is not bound, but named by an id or a value: a search ends where it knows its end."""
        far = edge.target if self._bound(edge.source) else edge.source
        if edge.path is None or self._bound(far) or not self._start(far).selective:
            return None
        ends = (await self._start(far).count(self._reader)).value
        return far if ends * len(self._table.rows) <= _PAIRS else None

    async def _cost(self, edge: EdgePattern) -> tuple[bool, int]:
        """What an edge costs to follow: paths last, then by the rows at the bound end."""
        bound = edge.source if self._bound(edge.source) else edge.target
        nodes = await nodes_of(self._table, bound)
        if edge.path is not None:
            return True, len(nodes)
        degrees, _ = await self._reader.degrees(nodes, direction_from(edge, bound), edge.relations)
        return False, degrees.total()

    async def _begin(self, names: Sequence[str]) -> None:
        """Bind the node with the smallest set, beside each row."""
        several = len(names) > 1 or len(self._table.rows) > 1
        few = [name for name in names if (ids := self._start(name).ids) is not None and len(ids) <= _FEW]
        counts = {name: await self._start(name).count(self._reader) for name in few or names if several}
        best = min(counts, key=lambda name: counts[name].value) if several else names[0]
        self._check_product(counts, best)
        node, written, start = self._patterns[best], self._written[best], self._start(best)
        found = await start.nodes(self._reader, written)
        alone = Table((node.variable,), await in_thread(len(found), lambda: [(one,) for one in found]))
        alone = await self._asked(alone if start.labelled else await self._labelled(alone, node), only=True)
        self._budget.check(len(self._table.rows) * len(alone.rows), written)
        self._table = await self._asked(
            await in_thread(len(self._table.rows) * len(alone.rows), lambda: paired(self._table, alone))
        )
        self._budget.measured(written, len(alone.rows))

    def _check_product(self, counts: Mapping[str, Count], first: str) -> None:
        """Refuse what would be a product of whole sets, before one of them is read."""
        whole = {name: count for name, count in counts.items() if self._start(name).whole}
        if self._edges or len(whole) < len(counts):
            whole = {name: count for name, count in whole.items() if name == first}
        self._budget.sizes |= {self._written[name]: count for name, count in whole.items()}
        self._budget.check(len(self._table.rows) * prod(count.value for count in whole.values()))

    def _start(self, name: str) -> Start:
        if name not in self._starts:
            own = [each for needed, each in self._waiting if needed == frozenset((name,))]
            self._starts[name] = start_of(self._patterns[name], own)
        return self._starts[name]

    async def _follow(self, edge: EdgePattern) -> None:
        """Join the rows with an edge, or a path."""
        links = await self._links(edge)
        for name in dict.fromkeys((edge.source, edge.target)):
            if not self._bound(name) and name not in self._labelled_ends:
                links = await self._labelled(links, self._patterns[name])
        await self._join(await self._asked(links, only=True), edge)
        self._budget.check(len(self._table.rows), edge)
        self._table = await self._asked(self._table)
        await self._measure(edge)

    async def _join(self, links: Table, edge: EdgePattern) -> None:
        """Join the rows with what may stand for an edge."""
        rows, bound, taken = self._table, self._budget.bound, self._taken(edge)
        size = len(rows.rows) + len(links.rows)
        self._table = await in_thread(size, lambda: joined(rows, links, edge.variable, taken, bound))

    def _taken(self, edge: EdgePattern) -> list[str]:
        """The edges and trails of this pattern that are already bound: no edge may stand for two of them."""
        if not self._match.edges_differ or not of_certain_edges(edge):
            return []
        return [
            one.variable
            for one in self._match.edges
            if one is not edge and of_certain_edges(one) and self._bound(one.variable)
        ]

    async def _measure(self, edge: EdgePattern) -> None:
        """Say how many edges, or paths, fitted, and how many nodes at their ends."""
        table = self._table
        ends = (edge.source, edge.target)
        own = (edge.variable,) if column_of(edge) == edge.variable else ends
        sizes = await in_thread(
            len(table.rows), lambda: [len(set(table.pick(names))) for names in (own, *((end,) for end in ends))]
        )
        self._budget.measured(edge, sizes[0])
        for name, size in zip(ends, sizes[1:], strict=True):
            if size:
                self._budget.measured(self._written[name], size)

    async def _links(self, edge: EdgePattern) -> Table:
        """The edges that may be meant: source, edge, target."""
        names = (edge.source, edge.variable, edge.target)
        if self._bound(edge.variable):
            return looped(names, known_steps(self._table, edge))
        if edge.path is not None:
            paths = Paths(self._reader, edge, proof=PROOF in self._given)
            ends = [
                await nodes_of(self._table, name) if self._bound(name) else None for name in (edge.source, edge.target)
            ]
            return ways_as_links(edge, await paths.between(*ends))
        heads, tails = await self._ends(edge)
        if heads is not None and tails is not None and not self._reader.two_hops(edge.relations):
            steps = await self._reader.joined(heads, tails, edge.relations, edge)
            if edge.either:
                back = await self._reader.joined(tails, heads, edge.relations, edge)
                steps += [(tail, one, head) for head, one, tail in back if head is not tail]
        elif heads is not None:
            side = None if edge.either else Direction.OUTGOING
            steps = await self._reader.expanded(heads, side, edge.relations, edge)
            if tails is not None:
                wanted = set(tails)
                steps = [step for step in steps if step[2] in wanted]
        else:
            side = None if edge.either else Direction.INCOMING
            back = await self._reader.expanded(tails or [], side, edge.relations, edge)
            steps = [(far, one, near) for near, one, far in back]
        return looped(names, list(steps))

    async def _ends(self, edge: EdgePattern) -> tuple[list[Node] | None, list[Node] | None]:
        """The nodes at either end of an edge, as far as they are known; also of an end that is not bound but small."""
        ends: list[list[Node] | None] = []
        for name in (edge.source, edge.target):
            if self._bound(name):
                ends.append(await nodes_of(self._table, name))
            elif self._start(name).selective and (await self._start(name).count(self._reader)).value <= _BY_ENDS:
                ends.append(await self._start(name).nodes(self._reader, self._written[name]))
                if self._start(name).labelled:
                    self._labelled_ends.add(name)
            else:
                ends.append(None)
        return ends[0], ends[1]

    async def _finished(self) -> Table:
        """The rows with all columns, the paths named, the edges of the pattern added to what they rest on."""
        table, match = self._table, self._match
        if not table.rows:
            return Table(tuple(dict.fromkeys((*self._given, *bound_by(match)))), [])
        return await in_thread(len(table.rows), lambda: with_proof(match, table))
