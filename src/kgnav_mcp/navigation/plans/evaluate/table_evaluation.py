"""Expressions evaluated for the rows of a table: the facts they need are read in sets, then all rows are computed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress

from kgnav_mcp.concurrency import MAX_INLINE, in_thread, mapped_in_thread
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.navigation.plans.evaluate.expressions import Compiler, MatchCounts
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.functions import as_list
from kgnav_mcp.navigation.plans.evaluate.patterns import direction_of_all_edges, multiplicities
from kgnav_mcp.navigation.plans.evaluate.values import Node, Row, Table, Value, identity
from kgnav_mcp.plan import (
    NAME,
    Call,
    Compare,
    Comparison,
    Comprehension,
    Constant,
    CountOf,
    Exists,
    Expression,
    Function,
    HasLabel,
    Match,
    Property,
    Quantified,
    Reduction,
)
from kgnav_mcp.plan.walking import READ_BEFORE, members_of, needs_facts, parts, variables_of
from kgnav_mcp.values.functions import FUNCTIONS

_ROW = "\0row"
"""The column with the number of the outer row that a row belongs to. No variable has this name."""
_MANY_BYTES = 1_000_000
"""Bytes that a plan has made from which one more value may take long: counting those of nested lists does."""
FindMatches = Callable[[Match, Table], Awaitable[Table]]


async def nodes_of(table: Table, name: str) -> list[Node]:
    """The distinct nodes of a column."""
    return await in_thread(len(table.rows), lambda: table.nodes(name))


@dataclass(slots=True, eq=False)
class ExpressionEvaluator:
    """Evaluates expressions for the rows of tables. `find_matches` matches the patterns within conditions."""

    reader: Reader
    find_matches: FindMatches
    _match_counts: dict[Expression, MatchCounts] = field(default_factory=dict[Expression, MatchCounts])

    async def values(self, table: Table, expressions: Sequence[Expression]) -> list[Row]:
        """The values of some expressions for each row of a table.

        Raises:
            PlanOverBudget: their texts and lists have too many bytes.
        """
        await self._prepare(table, expressions)
        compiler, budget = self._compiler(table), self.reader.budget
        functions = [compiler.value(expression) for expression in expressions]
        rows: list[Row] = await mapped_in_thread(
            self._work(table, expressions), table.rows, lambda row: tuple([function(row) for function in functions])
        )
        await in_thread(
            Table((), rows).size, lambda: budget.check_bytes(rows, lambda place: write_part(expressions[place]))
        )
        return rows

    async def rows_where(self, table: Table, conditions: Sequence[Expression]) -> Table:
        """The rows for which all conditions are true."""
        for condition in conditions:
            if not table.rows:
                return table
            if await self._is_known(condition, table):
                continue
            await self._prepare(table, [condition])
            holds = self._compiler(table).condition(condition)
            kept = await mapped_in_thread(self._work(table, [condition]), table.rows, holds)
            table = Table(table.names, list(compress(table.rows, kept)))
            if not table.rows:
                self.reader.budget.record_unmet_condition(condition)
        return table

    async def _is_known(self, condition: Expression, table: Table) -> bool:
        """Whether a condition is known to be true for all rows, because their nodes were found by it."""
        match condition:
            case Compare(Property(owner, _, ids), Comparison.EQUAL, Constant(str() as text)) if ids:
                column = set(table.column(owner))
                nodes = [value for value in column if isinstance(value, Node)]
                return len(nodes) == len(column) and await self.reader.scans.have_text(nodes, ids, text)
            case _:
                return False

    def _work(self, table: Table, expressions: Sequence[Expression]) -> int:
        """The size of the work on the rows of a table: large if one row may take long, however short it is."""
        if self.reader.budget.growth.made > _MANY_BYTES or any(map(_may_take_long, parts(tuple(expressions)))):
            return max(table.size, MAX_INLINE + 1)
        return table.size

    def _compiler(self, table: Table) -> Compiler:
        return Compiler(table.places, self.reader, self._match_counts)

    async def _prepare(self, table: Table, expressions: Iterable[Expression]) -> None:
        """Read the facts of the graph that expressions need for the rows of a table."""
        owners: dict[str, list[Node]] = defaultdict(list)
        for expression in dict.fromkeys(part for one in expressions for part in parts(one, members=False)):
            match expression:
                case Comprehension() | Quantified() | Reduction():
                    await self._prepare_members(table, expression)
                case Property(owner, name, ids):
                    nodes = await nodes_of(table, owner)
                    if name == NAME and not ids:
                        await self.reader.describe(nodes)
                    for relation in ids if name == NAME else ids or (name,):
                        owners[relation] += nodes
                case HasLabel(variable, labels):
                    await self.reader.classes.read_names(labels)
                    await self.reader.describe(await nodes_of(table, variable))
                case Call(function, arguments) if function in READ_BEFORE:
                    await self._read_facts(table, function, arguments)
                case Exists(match) | CountOf(match):
                    await self._count_matches(table, expression, match)
                case _:
                    pass
        for relation, nodes in owners.items():
            await self.reader.read_values(nodes, relation)

    async def _read_facts(self, table: Table, function: Function, arguments: Sequence[Expression]) -> None:
        rows = await self.values(table, arguments)
        nodes = [value for row in rows for value in row if isinstance(value, Node)]
        if function is Function.LABELS:
            await self.reader.describe(nodes)
        else:
            await self.reader.read_all_values(nodes)

    async def _prepare_members(self, table: Table, expression: Comprehension | Quantified | Reduction) -> None:
        """Read the facts that an expression over the members of lists needs, for all members at once."""
        inner = [one for one in members_of(expression) if any(map(needs_facts, parts(one)))]
        if not inner:
            return
        rows: list[Row] = []
        lists = await self.values(table, [expression.of])
        for row, (value,) in zip(table.rows, lists, strict=True):
            rows += ((*row, member) for member in (() if value is None else as_list(value)))
            self.reader.budget.check(len(rows))
        await self._prepare(Table((*table.names, expression.variable), rows), inner)

    async def _count_matches(self, table: Table, expression: Exists | CountOf, match: Match) -> None:
        """Count the matches of a pattern, once for each distinct row of the outer variables that it uses."""
        named = variables_of(match)
        outer = tuple(name for name in table.names if name in named)
        match_counts = self._match_counts.setdefault(expression, MatchCounts(outer))
        if match_counts.outer != outer:
            match_counts = self._match_counts[expression] = MatchCounts(outer)
        row_by_key = await in_thread(table.size, lambda: _distinct_rows(table, outer))
        new_keys = [key for key in row_by_key if key not in match_counts.counts]
        if await self._counted_by_store(
            match, match_counts, [row_by_key[key] for key in new_keys], exists=isinstance(expression, Exists)
        ):
            return
        match_counts.counts.update((key, 0) for key in new_keys)
        unmatched = self.reader.budget.unmatched
        rows: list[Row] = [(*row_by_key[key], number) for number, key in enumerate(new_keys)]
        found = await self.find_matches(match, Table((*outer, _ROW), rows)) if rows else Table((*outer, _ROW), [])
        for number, match_count in zip(found.column(_ROW), multiplicities(found), strict=True):
            if isinstance(number, int):
                match_counts.counts[new_keys[number]] += match_count
        self.reader.budget.unmatched = unmatched

    async def _counted_by_store(
        self, match: Match, match_counts: MatchCounts, rows: Sequence[Row], *, exists: bool
    ) -> bool:
        """Count edges of nodes without reading them. False: the pattern needs more, or the store's count is inexact."""
        side = direction_of_all_edges(match, match_counts.outer)
        if side is None:
            return False
        nodes = [row[0] for row in rows if isinstance(row[0], Node)]
        degrees, exact = await self.reader.degrees(nodes, side, match.edges[0].relations)
        if not exact and not (exists and all(degrees[node.id] for node in nodes)):
            return False
        match_counts.counts.update(
            ((identity(row[0]),), degrees[row[0].id] if isinstance(row[0], Node) else 0) for row in rows
        )
        return True


def _may_take_long(part: object) -> bool:
    if isinstance(part, Call):
        return FUNCTIONS[part.function].size is not None
    return isinstance(part, Comprehension | Quantified | Reduction)


def _distinct_rows(table: Table, names: Sequence[str]) -> dict[tuple[object, ...], tuple[Value, ...]]:
    """The distinct rows of some columns, by their identity."""
    places = [table.names.index(name) for name in names]
    rows = (tuple(row[place] for place in places) for row in table.rows)
    return {tuple(map(identity, row)): row for row in rows}
