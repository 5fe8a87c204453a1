"""Parts of a plan that the store runs: its answers as rows, each with the number of equal rows that it stands for.

The store is asked for the clauses up to a projection, or for a single pattern around rows that are held here, with as
many of its conditions as the store takes. What is left of the plan is evaluated over those rows.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar

from kgnav_mcp.concurrency import in_thread, run_unless_stopped
from kgnav_mcp.errors import InvalidStore, PlanTooLarge, StepLimitReached, StoreTimeout, Unsupported
from kgnav_mcp.model import PlanPage, Stop
from kgnav_mcp.navigation.plans.check.entities import has_id
from kgnav_mcp.navigation.plans.evaluate.equality_joins import product_where
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.patterns import (
    MULTIPLICITY,
    PROOF,
    Found,
    ids_of,
    includes_edges,
    multiplicities,
    with_matches,
    with_paths,
    with_proof,
)
from kgnav_mcp.navigation.plans.evaluate.required_columns import RequiredColumns, counting_projection
from kgnav_mcp.navigation.plans.evaluate.start_nodes import start_of
from kgnav_mcp.navigation.plans.evaluate.table_evaluation import ExpressionEvaluator, nodes_of
from kgnav_mcp.navigation.plans.evaluate.values import Node, Row, Table
from kgnav_mcp.navigation.plans.lookups import MAX_IDS
from kgnav_mcp.navigation.plans.pushdown.pushable import (
    Conditions,
    by_length,
    condition_splits,
    is_open,
    returns_plain_columns,
)
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    Column,
    Compare,
    Comparison,
    Constant,
    GivenNodes,
    Match,
    NodePattern,
    Order,
    Pipeline,
    Plan,
    Project,
    Variable,
)
from kgnav_mcp.plan.walking import conjunction, conjuncts, equality_sides, node_patterns, variables_of
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.port.pattern_conditions import is_connected

T = TypeVar("T")

_PROBED_AFTER_S = 0.25
"""Seconds of matching after which the store is asked whether there are too many matches: most need less."""
_EXTRA_ROWS = 200
"""Rows that are read beyond those with the largest numbers, since more may tie with the last of them."""
_MANY_PAIRS = 200_000
"""Pairs of rows and nodes from which an equality is tested here: a graph file takes a second to compare as many."""
_PROPERTIES = 4
"""Properties of nodes that are read with the matches of a pattern at most: each makes matching slower."""


@dataclass(frozen=True, slots=True)
class PatternRequest:
    """What the store is asked about a pattern: the rows that it begins with, and the wanted columns."""

    pattern: Match
    given_nodes: tuple[str, ...]
    given_rows: tuple[tuple[str, ...], ...]
    """Ids of the given nodes."""
    nodes: tuple[str, ...]
    edges: tuple[str, ...] = ()
    counted: str | None = None
    """The node whose distinct matches are counted; None counts rows."""
    properties: tuple[tuple[str, str], ...] = ()
    prefilter: bool = False
    """Whether the matches are only candidates: then each combination of nodes is returned, without its number."""

    @property
    def counts(self) -> bool:
        """Whether several matches may have the same columns, so that they are counted."""
        shown = {*self.given_nodes, *self.nodes, *self.edges}
        every = {*node_patterns(self.pattern), *(edge.variable for edge in self.pattern.edges)}
        return not self.prefilter and (self.counted is not None or not every <= shown)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the answer."""
        return (*self.given_nodes, *self.nodes, *self.edges, MULTIPLICITY)

    def plan(self, *, largest_first: bool = False, least: int | None = None) -> Plan:
        """The plan that answers it, if matches are counted also with the largest first, or those of a least number."""
        columns = [Column(name, Variable(name)) for name in (*self.given_nodes, *self.nodes, *self.edges)]
        number = Variable(MULTIPLICITY)
        if self.counts:
            of = None if self.counted is None else Variable(self.counted)
            columns.append(Column(MULTIPLICITY, Aggregate(AggregateFunction.COUNT, of, distinct=of is not None)))
        project = Project(
            tuple(columns),
            distinct=self.prefilter,
            order=(Order(number, descending=True),) if largest_first else (),
            where=None if least is None else Compare(number, Comparison.AT_LEAST, Constant(least)),
        )
        given = GivenNodes(self.given_nodes, self.given_rows) if self.given_nodes else None
        return Plan(
            (Pipeline((self.pattern, project), given),),
            in_any_order=True,
            prefilter=self.prefilter,
            properties=self.properties,
        )


class StoreMatcher:
    """Has the store run parts of the plan of one evaluation."""

    def __init__(self, graph: GraphAdapter, reader: Reader, expressions: ExpressionEvaluator) -> None:
        self._graph, self.reader, self.expressions = graph, reader, expressions

    async def run_first_clauses(self, clauses: Sequence[Clause], *, whole: bool) -> tuple[Table, int] | None:
        """The rows after as many clauses as the store can run, up to a projection, and the number of these clauses.

        `whole`: it may run all of them. None if it can run none, or if their rows have values whose kind in the graph
        an answer does not tell: only nodes and numbers are passed on.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        for place in reversed(range(len(clauses) if whole else len(clauses) - 1)):
            project, first = clauses[place], tuple(clauses[: place + 1])
            if not isinstance(project, Project) or not returns_plain_columns(first):
                continue
            if _has_rows_of_its_pattern(first, clauses[place + 1 :]):
                continue  # the pattern alone is asked next, with counts and values that later clauses need
            with suppress(Unsupported):
                plan = Plan((Pipeline(first),), in_any_order=not project.order)
                page = await self.run(plan)
                if page.stop is not Stop.COMPLETE:
                    raise self.reader.budget.too_large()
                return Table(tuple(column.name for column in project.columns), await self.rows(page)), place + 1
        return None

    async def match_rows(self, match: Match, table: Table, needs: RequiredColumns) -> Table | None:
        """The rows extended by the needed parts of a pattern's matches; None if the store cannot match the pattern.

        Conditions that the store cannot express are evaluated here, on its rows.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        if not table.rows or not is_connected(match, table.names):
            return None
        if needs.counted and len(table.rows) > 1:
            return None  # distinct nodes near several rows are not the sum of those near each
        values = [name for name in table.names if not has_nodes(table, [name])]
        if await self._is_large_product(match, table):
            values = list(table.names)  # an equality joins the rows here: a store may compare all pairs
        for pushed, remaining in condition_splits(match, frozenset(table.names), frozenset(values)):
            with suppress(Unsupported):
                return await self._by_store(match, table, needs, pushed, remaining)
        return await self._by_length(match, table, needs)

    async def _by_length(self, match: Match, table: Table, needs: RequiredColumns) -> Table | None:
        """As `match_rows`, for a pattern with a short path from any node: the store matches each of its lengths.

        Paths from a few nodes are found faster edge by edge.
        """
        nodes, conditions = node_patterns(match), conjuncts(match.where)
        used = needs.variables.union(*map(variables_of, conditions))
        if match.paths or PROOF in table.names or needs.counted or not nodes.keys().isdisjoint(table.names):
            return None
        if any(edge.variable in used for edge in match.edges if edge.path is not None):
            return None
        own = {name: [one for one in conditions if variables_of(one) == frozenset((name,))] for name in nodes}
        for name, node in nodes.items():
            start = start_of(node, own[name])
            if start.selective and (await start.count(self.reader)).value <= MAX_IDS:
                return None
        budget, sizes, found = self.reader.budget, dict(self.reader.budget.sizes), list[Table]()
        try:
            for chained in by_length(match):
                matches = await self.match_rows(chained, table, replace(needs, top=None))
                if matches is None:
                    return None
                found.append(matches)
                budget.check(sum(len(each.rows) for each in found))
        except PlanTooLarge:
            budget.sizes = sizes  # not those of the chains, which are no parts of the plan
            budget.expect(match)
            raise budget.too_large() from None
        if not found:
            return None
        budget.sizes = sizes
        whole = Table(found[0].names, [row for each in found for row in each.pick(found[0].names)])
        await self._measure(match, whole, edges=True)
        return whole

    async def _is_large_product(self, match: Match, table: Table) -> bool:
        """Whether only conditions tie a pattern to the rows, an equality among them, and its nodes make many pairs."""
        nodes, names, conditions = node_patterns(match), set(table.names), conjuncts(match.where)
        if len(table.rows) * self.bound <= _MANY_PAIRS or not names.isdisjoint(nodes):
            return False
        for name, node in nodes.items():
            if any(equality_sides(one, names, (name,)) for one in conditions):
                start = start_of(node, [one for one in conditions if variables_of(one) == frozenset((name,))])
                count = (await start.count(self.reader)).value
                if count <= self.bound and len(table.rows) * count > _MANY_PAIRS:
                    return True
        return False

    async def _by_store(
        self, match: Match, table: Table, needs: RequiredColumns, pushed: Conditions, remaining: Conditions
    ) -> Table | None:
        """As `match_rows`: the store applies the conditions `pushed`, the others are evaluated on its rows.

        Raises:
            Unsupported: the store cannot express the pattern or these conditions.
        """
        used_here = frozenset(name for condition in remaining for name in variables_of(condition))
        if used_here and (needs.counted or needs.top):
            return None
        wanted = needs.variables | used_here
        paths = tuple(path for path in match.paths if path.variable in wanted)
        wanted = wanted.union(*(path.elements for path in paths))
        valued = [edge for edge in match.edges if edge.path is None or includes_edges(edge.path.kind)]
        if PROOF in table.names and len(valued) < len(match.edges):
            return None
        given = self.given(match, table, pushed)
        if not has_nodes(table, given):
            return None
        nodes = tuple(sorted(name for name in node_patterns(match) if name in wanted and name not in given))
        properties = tuple(sorted(each for each in needs.properties if each[0] in nodes))
        request = PatternRequest(
            await self.pattern(match, pushed, remaining, given),
            given,
            ids_of(table, given),
            nodes,
            tuple(edge.variable for edge in valued if PROOF in table.names or edge.variable in wanted),
            needs.counted,
            properties if needs.top is None and len(properties) <= _PROPERTIES else (),
        )
        try:
            found = await self._matches(request, needs.top if len(table.rows) == 1 else None)
        except (StoreTimeout, InvalidStore) as error:
            self.raise_if_final(error)
            return None  # too much for one query: the caller matches edge by edge
        if found is None and remaining:
            return None  # too many to hold, though the remaining conditions might leave only a few
        if found is None:
            self.reader.budget.expect(match)
            raise self.reader.budget.too_large()
        absent = [one.variable for one in match.edges if one not in valued and one.variable in wanted]
        kept = with_proof(match, await self._extended(table, found, absent, replace(match, paths=paths), remaining))
        if kept.rows and needs.top is None:
            await self._measure(match, kept, edges=not (given or needs.counted))
        return kept

    @property
    def bound(self) -> int:
        """The rows that may be held."""
        return self.reader.budget.bound

    async def run(self, plan: Plan, *, limit: int | None = None) -> PlanPage:
        """The store's answer to a part of the plan, by default one row more than may be held. Raises as the verb."""
        return await self._graph.run(plan, limit=self.bound + 1 if limit is None else limit)

    @staticmethod
    def given(match: Match, table: Table, conditions: Conditions) -> tuple[str, ...]:
        """The columns of a table that a pattern or its conditions use."""
        nodes, used = node_patterns(match), frozenset(name for one in conditions for name in variables_of(one))
        return tuple(name for name in table.names if name in nodes or name in used)

    async def pattern(self, match: Match, pushed: Conditions, remaining: Conditions, given: Sequence[str]) -> Match:
        """The pattern for the store: with ids for nodes that have a property value, and with subclasses of labels."""
        conditions = list(pushed)
        nodes: list[NodePattern] = []
        for written in node_patterns(match).values():
            node = written
            if written.subclasses:
                groups = [await self.reader.with_subclasses(group, written) for group in written.labels]
                node = replace(written, labels=tuple(groups), subclasses=False)
            nodes.append(node)
            start = start_of(node, [one for one in remaining if variables_of(one) == frozenset((node.variable,))])
            if node.variable in given or not start.selective:
                continue
            if (await start.count(self.reader)).value <= MAX_IDS:
                ids = [one.id for one in await start.nodes(self.reader, written)]
                conditions += [has_id(node.variable, ids)] if len(ids) <= MAX_IDS else []
        used = frozenset(name for condition in pushed for name in variables_of(condition))
        paths = tuple(path for path in match.paths if path.variable in used)
        return replace(match, nodes=tuple(nodes), paths=paths, where=conjunction(conditions), optional=False)

    async def _matches(self, request: PatternRequest, top: int | None) -> Found | None:
        """The matches; None if there are more than may be held, found soon if the store can tell.

        With `top`, others than the matches with the largest numbers, and all ties with the last of them, may be absent.
        """
        if top and request.counts and (largest := await self._largest(request, top)):
            return await self._found(request, largest)  # a few of the matches, however many there are
        if request.counted or top:
            return await run_unless_stopped(self.read(request), lambda: self._has_too_many(request), _PROBED_AFTER_S)
        return await self.unless_too_many(lambda: self.read(request), request)

    async def unless_too_many(self, work: Callable[[], Coroutine[Any, Any, T]], request: PatternRequest) -> T | None:
        """The result of work; None if the store says that a pattern has more matches than may be held."""
        if is_open(request.pattern, request.nodes, request.given_nodes):
            # a store may go on with a query that nobody waits for: a long one is not begun
            return None if await self._has_too_many(request) else await work()
        return await run_unless_stopped(work(), lambda: self._has_too_many(request), _PROBED_AFTER_S)

    async def _has_too_many(self, request: PatternRequest) -> bool:
        """Whether there are certainly more matches than may be held."""
        with suppress(Unsupported, StoreTimeout, InvalidStore):
            return await self._graph.has_more_rows(request.plan(), self.bound)
        return False

    async def has_more_matches(self, match: Match, than: int) -> bool:
        """Whether the nodes of a pattern certainly have more combinations than this number."""
        conditions = tuple(conjuncts(match.where))
        pattern = await self.pattern(match, conditions, (), ())
        request = PatternRequest(pattern, (), (), tuple(sorted(node_patterns(match))))
        with suppress(Unsupported, StoreTimeout, InvalidStore):
            return await self._graph.has_more_rows(request.plan(), than)
        return False

    async def read(self, request: PatternRequest) -> Found | None:
        """The matches, as `_matches`, in any case by the query for all of them.

        Raises:
            Unsupported: the store cannot express the pattern.
        """
        if request.given_nodes and not request.given_rows:
            return Found(len(request.given_nodes), request.names, [])
        return await self._found(request, await self.run(request.plan()))

    async def _found(self, request: PatternRequest, page: PlanPage) -> Found | None:
        """The matches in a store's answer; None if there are more than may be held."""
        if len(page.items) > self.bound:
            return None
        await self.reader.keep_values(page.values)
        rows = await self.rows(page)
        if not request.counts:
            rows = [(*row, 1) for row in rows]
        return Found(len(request.given_nodes), request.names, [row for row in rows if row[-1]])

    async def _largest(self, request: PatternRequest, top: int) -> PlanPage | None:
        """The matches with the largest numbers, with all that tie with the last; None if the store cannot sort them."""
        most = top + _EXTRA_ROWS
        if most > self.bound or (request.given_nodes and not request.given_rows):
            return None
        with suppress(Unsupported):
            page = await self._graph.run(request.plan(largest_first=True), limit=most)
            if len(page.items) < most:
                return page
            least, last = (page.items[place].cells[-1] for place in (top - 1, -1))
            if least == last and isinstance(least, int):  # more may tie with them
                return await self.run(request.plan(least=least))
            ties = takewhile(lambda row: row.cells[-1] == least, page.items[top:])
            return replace(page, items=(*page.items[:top], *ties))  # values of the others need not be read
        return None

    async def rows(self, page: PlanPage) -> list[Row]:
        """The rows of a store's answer as values."""
        value = self.reader.answers()
        return await in_thread(
            len(page.items), lambda: [tuple(value(cell) for cell in row.cells) for row in page.items]
        )

    async def _extended(
        self, table: Table, found: Found, absent: Sequence[str], match: Match, conditions: Conditions
    ) -> Table:
        """The rows extended by the matches and the paths of a pattern, with nulls for `absent` edges.

        Only those that meet the conditions are held: `UNWIND names AS x MATCH (p {name: x})` compares all with all.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """

        async def extended(rows: Table, places: Sequence[Sequence[int]] | None = None) -> Table:
            new = _with_nulls(await self.joined(rows, found, places), absent)
            return await in_thread(len(new.rows), partial(with_paths, match, new)) if match.paths else new

        if conditions and not found.given:
            matches = Table(found.names, found.rows)
            return await product_where(self.expressions, table, matches, conditions, extended)
        return await self.expressions.rows_where(await extended(table), conditions)

    async def joined(self, table: Table, found: Found, places: Sequence[Sequence[int]] | None = None) -> Table:
        """The rows of a table extended by the matches; `places` as for `with_matches`.

        Raises:
            PlanTooLarge: there are more rows than may be held.
        """
        size = len(table.rows) + (len(found.rows) if places is None else sum(map(len, places)))
        rows = await in_thread(size, lambda: with_matches(table, found, self.bound, places))
        self.reader.budget.check(len(rows.rows))
        return rows

    def raise_if_final(self, error: StoreTimeout | InvalidStore) -> None:
        """Raise an error after which the pattern is not matched edge by edge: there is no time left for that."""
        if isinstance(error, StepLimitReached) or not self.reader.budget.has_time():
            raise error

    async def _measure(self, match: Match, table: Table, *, edges: bool) -> None:
        """Record how many nodes matched, for columns of the table; and how many edges, if the pattern has only one."""
        budget = self.reader.budget
        budget.expect(match)
        for node in match.nodes:
            if node.variable in table.names:
                budget.record_size(node, len(await nodes_of(table, node.variable)))
        if edges and len(match.edges) == 1:
            budget.record_size(match.edges[0], sum(multiplicities(table)))


def has_nodes(table: Table, names: Sequence[str], *, or_null: bool = True) -> bool:
    """Whether all values of these columns are nodes, or null."""
    kind = Node | None if or_null else Node
    return all(isinstance(value, kind) for name in names for value in table.column(name))


def _with_nulls(table: Table, names: Sequence[str]) -> Table:
    """The table with columns of nulls for these variables."""
    return table if not names else Table((*table.names, *names), [(*row, *(None for _ in names)) for row in table.rows])


def _has_rows_of_its_pattern(clauses: Sequence[Clause], later: Sequence[Clause]) -> bool:
    """Whether clauses have as few rows as the matches of their pattern, with numbers for equal ones."""
    match clauses:
        case (Match(optional=False) as match, Project(skip=0, limit=None, where=None) as project):
            groups = all(isinstance(column.value, Variable) for column in project.columns)
            return groups or counting_projection(match, project, later) is not None
        case _:
            return False
