"""Parts of answers that have more rows than may be held: only the matches around the wanted rows are read.

The matches of a pattern are grouped by what its rows are sorted by first. These groups are sorted, and the matches of
those groups are read to which the wanted rows belong.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from operator import itemgetter

from kgnav_mcp.concurrency import in_thread, sorted_in_runs
from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.navigation.plans.evaluate.patterns import MULTIPLICITY, PROOF, multiplicities
from kgnav_mcp.navigation.plans.evaluate.projections import check_order, projected
from kgnav_mcp.navigation.plans.evaluate.required_columns import RequiredColumns, needs_after
from kgnav_mcp.navigation.plans.evaluate.values import Row, Table, Value, rank
from kgnav_mcp.navigation.plans.pushdown.grouping import group_in_store
from kgnav_mcp.navigation.plans.pushdown.store_matching import StoreMatcher
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Column,
    Compare,
    Comparison,
    Connective,
    Constant,
    Expression,
    Function,
    Joined,
    ListOf,
    Match,
    Order,
    Plan,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import (
    aggregates,
    conjunction,
    conjuncts,
    node_patterns,
    parts,
    variables_of,
    without_columns,
)

_ALL_MATCHES = Table((MULTIPLICITY,), [(1,)])
"""The rows before any sort key: one, for all matches."""
_MAX_LENGTH = 32
"""Characters by which values are grouped at most."""
_MAX_BEGINNINGS = 10
"""Beginnings of texts that are looked for at once."""
MatchRows = Callable[[Match, Table, RequiredColumns], Awaitable[Table]]


@dataclass(frozen=True, slots=True)
class Window:
    """Some of a projection's rows, in its order."""

    table: Table
    total: int | None
    """The number of all rows; None if it is not known, because equal rows are one row."""
    tag: Sequence[Row]
    """What identifies the whole answer."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Matches with equal values of sort keys: the rows of given columns that they have, and their number."""

    rows: Sequence[Row]
    number: int


@dataclass(frozen=True, slots=True)
class _Selection:
    """The groups to which some rows belong."""

    table: Table
    """The columns that the sort keys use, and the numbers of matches."""
    before: int
    """The matches before them."""
    number: int
    """Their matches."""
    total: int
    """All matches of the pattern."""
    tag: Sequence[Row]
    """The rows of all groups by the first sort key."""


class LargeAnswer:
    """The rows of a pattern and a projection that are too many to be held."""

    def __init__(
        self,
        store: StoreMatcher,
        match: Match,
        project: Project,
        extended: MatchRows,
        lengths: Sequence[int | None] = (None, 2),
    ) -> None:
        """`extended` extends rows by the matches of the pattern, however they are found.

        `lengths`: by how many first characters the values of the first sort key may be grouped; None is all of them.
        """
        self._store, self._match, self._project, self._extended = store, match, project, extended
        self._lengths = lengths
        columns = (Order(column.value) for column in project.columns)
        self._first: dict[Expression, Table] = {}
        self._order = [replace(one, by=without_columns(project, one.by)) for one in project.order]
        self._keys = [key for key in (*self._order, *columns) if variables_of(key.by)]

    async def window(self, start: int, most: int, *, proof: bool = False) -> Window | None:
        """The rows from a place on, up to `most`, as if the projection had no SKIP and no LIMIT.

        None if they are not found without too many others.

        Raises:
            PlanTooLarge: the rows with the same value of the first sort key are too many.
        """
        if self._match.optional or any(aggregates(column.value) for column in self._project.columns):
            return None
        with suppress(PlanTooLarge):
            if (found := await self._by_nodes(start, most, proof=proof)) is not None:
                return found
        for length in self._lengths:
            if (found := await self._by_values(start, most, length, proof=proof)) is not None:
                return found
        return None

    async def _by_nodes(self, start: int, most: int, *, proof: bool) -> Window | None:
        """As `window`, by groups of the matches of each node."""
        at = seen = 0 if self._project.distinct else start  # equal rows are one: those before are read, too
        rows: list[Row] = []
        while True:
            selection = await self._selection(at, at + max(start + most - seen, 1))
            if selection is None:
                return None
            table = await self._rows(selection, proof=proof)
            if not self._project.distinct and len(table.rows) != selection.number:
                return None  # the graph has changed
            rows += table.rows[max(start - seen, at - selection.before, 0) :]
            at = selection.before + selection.number
            seen = seen + len(table.rows) if self._project.distinct else at
            if at >= selection.total or len(rows) >= most:
                total = seen if at >= selection.total else None if self._project.distinct else selection.total
                return Window(Table(table.names, rows[:most]), total, selection.tag)

    async def _by_values(self, start: int, most: int, length: int | None, *, proof: bool) -> Window | None:
        """As `window`, by groups of the matches of each value of the first sort key: nodes may be too many.

        So may values: those with the same first characters are then a group, if all are texts. None if the key is no
        property whose values the store counts.
        """
        key = self._keys[0] if self._keys else None
        if key is None or not isinstance(key.by, Property) or self._project.distinct:
            return None
        value = key.by if length is None else Call(Function.LEFT, (key.by, Constant(length)))
        counts = Project((Column("value", value), Column(MULTIPLICITY, Aggregate(AggregateFunction.COUNT, None))))
        counted = await group_in_store(self._store, self._match, counts, shortened=length is not None)
        if counted is None:
            return None
        table = await projected(self._store.expressions, counted[1], counted[0])
        groups = await self._groups(table, [Order(Variable("value"), key.descending)])
        found, total = Table((), []), sum(multiplicities(table))
        while len(found.rows) < most and start + len(found.rows) < total:
            at = start + len(found.rows)
            before, chosen = _between(groups, at, start + most, self._store.bound)
            chosen = chosen if length is None else chosen[:_MAX_BEGINNINGS]
            number = sum(group.number for group in chosen)
            narrowed = self._narrowed(key.by, [row[0] for group in chosen for row in group.rows], length)
            if narrowed is None:
                return None
            wanted = at - before, min(start + most - at, number)
            window = await narrowed.window(*wanted, proof=proof)
            if window is None and number <= self._store.bound:
                window = await narrowed.held(*wanted, proof=proof)
            if window is None or window.total != number:
                return None
            found = Table(window.table.names, [*found.rows, *window.table.rows])
        return Window(found, total, table.rows) if found.rows else None

    async def held(self, start: int, most: int, *, proof: bool) -> Window:
        """As `window`, of rows that may be held: all of them are read."""
        table = await self._rows(_Selection(_ALL_MATCHES, 0, 0, 0, ()), proof=proof)
        return Window(Table(table.names, table.rows[start : start + most]), len(table.rows), ())

    def _narrowed(self, key: Property, values: Sequence[Value], length: int | None) -> LargeAnswer | None:
        """The rows with some values of a property, or beginnings of this length; None if one is null or a list."""
        constants = [Constant(value) for value in values if isinstance(value, str | int | float)]
        if len(constants) < len(values):
            return None
        if length is None:
            is_one: Expression = Compare(key, Comparison.IN, ListOf(tuple(constants)))
        else:
            starts = [isinstance(one.value, str) and len(one.value) == length for one in constants]
            ways = (Comparison.STARTS_WITH if start else Comparison.EQUAL for start in starts)
            tests = [Compare(key, way, one) for way, one in zip(ways, constants, strict=True)]
            is_one = tests[0] if len(tests) == 1 else Joined(Connective.OR, tuple(tests))
        match = replace(self._match, where=conjunction([*conjuncts(self._match.where), is_one]))
        lengths = () if length is None else (None, 2 * length) if length < _MAX_LENGTH else (None,)
        return LargeAnswer(self._store, match, self._project, self._extended, lengths)

    async def _selection(self, start: int, stop: int) -> _Selection | None:
        """Groups with the matches from one place on, up to another if these may be held, by as few sort keys as needed.

        There may be matches before them, but not if equal rows are one: those before have been read.

        Raises:
            PlanTooLarge: matches with equal values of all sort keys are too many.
        """
        table, keys, before = _ALL_MATCHES, list[Order](), 0
        whole: tuple[int, Sequence[Row]] = 0, ()
        for key in self._keys:
            extended = await self._with_key(table, key.by)
            if extended is None or not extended.rows:
                return None
            keys.append(key)
            groups = await self._groups(extended, keys)
            if table is _ALL_MATCHES:
                whole = sum(group.number for group in groups), extended.rows
            skipped, chosen = _between(groups, start - before, stop - before, self._store.bound)
            before += skipped
            number = sum(group.number for group in chosen)
            chosen_rows = Table(extended.names, [row for group in chosen for row in group.rows])
            if number <= self._store.bound and (before == start or not self._project.distinct):
                return _Selection(chosen_rows, before, number, *whole)
            if table is _ALL_MATCHES and len(groups) == 1:
                keys.clear()  # all matches have this value
            else:
                table = chosen_rows
        raise self._store.reader.budget.too_large()

    async def _with_key(self, table: Table, key: Expression) -> Table | None:
        """The rows of given columns with those that a sort key uses, and the numbers of their matches.

        None if the store cannot match the pattern so.
        """
        new = variables_of(key) - {*table.names}
        if not new <= node_patterns(self._match).keys():
            return None
        if not new and table is not _ALL_MATCHES:
            return table
        if table is _ALL_MATCHES and key in self._first:
            return self._first[key]
        project = Project((*(Column(name, Variable(name)) for name in _given(table)), Column("key", key)))
        found = await self._store.match_rows(self._match, _without_numbers(table), needs_after([project]))
        if table is _ALL_MATCHES and found is not None:
            self._first[key] = found
        return found

    async def _groups(self, table: Table, keys: Sequence[Order]) -> list[_Group]:
        """The rows grouped by some sort keys, in their order.

        Raises:
            InvalidPlan: a value that the plan sorts by is a list of values of a property.
        """
        values = await self._store.expressions.values(table, [key.by for key in keys])

        def work() -> list[_Group]:
            for place, key in enumerate(keys):
                if key in self._order:
                    check_order([key], ((own[place],) for own in values))
            ranked = [
                (tuple(map(rank, own)), row, number)
                for own, row, number in zip(values, table.rows, multiplicities(table), strict=True)
            ]
            for place in reversed(range(len(keys))):
                ranked = sorted_in_runs(ranked, lambda one, place=place: one[0][place], reverse=keys[place].descending)
            return [
                _Group([row for _, row, _ in members], sum(number for _, _, number in members))
                for members in (list(each) for _, each in groupby(ranked, itemgetter(0)))
            ]

        return await in_thread(table.size, work)

    async def _rows(self, selection: _Selection, *, proof: bool) -> Table:
        """The rows of the matches in a selection."""
        budget, given = self._store.reader.budget, _without_numbers(selection.table)
        if proof:
            given = Table((*given.names, PROOF), [(*row, ()) for row in given.rows])
        sizes = dict(budget.sizes)
        found = await self._extended(self._match, given, needs_after([self._project]))
        budget.sizes = sizes  # those of all matches
        whole = replace(self._project, skip=0, limit=None, where=None)
        return await projected(self._store.expressions, whole, found)


def _between(groups: Sequence[_Group], start: int, stop: int, most: int) -> tuple[int, Sequence[_Group]]:
    """The groups from the match at one place to that at another, and the number of matches before them.

    They have at most so many matches, or are a single group.
    """
    ends = list(accumulate(group.number for group in groups))
    first = min(bisect_right(ends, start), len(groups) - 1)
    before = ends[first - 1] if first else 0
    last = min(bisect_left(ends, stop), bisect_right(ends, before + most) - 1)
    return before, groups[first : max(first, last) + 1]


def _given(table: Table) -> tuple[str, ...]:
    return tuple(name for name in table.names if name != MULTIPLICITY)


def _without_numbers(table: Table) -> Table:
    names = _given(table)
    return Table(names, list(table.pick(names)))


def shows_edges(match: Match, project: Project) -> bool:
    """Whether a projection has edges of a pattern, or properties of them, and a row for each match."""
    edges = {edge.variable for edge in match.edges if edge.path is None}
    values = [column.value for column in project.columns]
    shown = {value.name for value in values if isinstance(value, Variable)}
    shown |= {one.owner for value in values for one in parts(value) if isinstance(one, Property)}
    return not (match.optional or edges.isdisjoint(shown) or any(map(aggregates, values)))


def has_first_rows(plan: Plan, bound: int) -> bool:
    """Whether a plan keeps as few rows as may be held, which were looked for before."""
    last = plan.pipelines[0].clauses[-1]
    return isinstance(last, Project) and last.limit is not None and last.limit <= bound
