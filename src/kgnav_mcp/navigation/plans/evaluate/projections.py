"""Projections: columns, aggregates over groups, order, SKIP and LIMIT."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter

from kgnav_mcp.concurrency import in_thread, sorted_in_runs
from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.navigation.plans.budget import Budget
from kgnav_mcp.navigation.plans.evaluate.patterns import MULTIPLICITY, PROOF, multiplicities
from kgnav_mcp.navigation.plans.evaluate.several_values import SeveralValues, order_problem
from kgnav_mcp.navigation.plans.evaluate.table_evaluation import ExpressionEvaluator
from kgnav_mcp.navigation.plans.evaluate.values import PropertyList, Rank, Row, Table, Value, flat, identity, rank
from kgnav_mcp.plan import Aggregate, AggregateFunction, Expression, Order, Project, Variable
from kgnav_mcp.plan.walking import aggregates, by_columns, conjuncts, rewritten
from kgnav_mcp.values.aggregates import aggregate
from kgnav_mcp.values.arithmetic import average, number_of, repeated, total


async def projected(
    evaluator: ExpressionEvaluator,
    project: Project,
    table: Table,
    *,
    sorted_before: bool = False,
    is_last: bool = True,
) -> Table:
    """The rows of a projection, in its order. `sorted_before`: the previous clause has sorted the rows.

    The rows of the last projection are in canonical order if the plan gives none.
    """
    if any(aggregates(column.value) for column in project.columns):
        table, project = await _grouped(evaluator, project, table, sorted_before)
    elif not project.distinct:
        table = await _repeat_rows(evaluator, table, None if project.limit is None else project.skip + project.limit)
    names = tuple(column.name for column in project.columns)
    cells = await evaluator.values(table, [column.value for column in project.columns])
    keys = [by_columns(project, order.by) for order in project.order]
    old_columns = [name for name in table.names if name not in names]
    places = [table.names.index(name) for name in old_columns]

    def work() -> list[Row]:
        rows: list[Row] = []
        for row, values in zip(table.rows, cells, strict=True):
            rows.append((*values, *(row[place] for place in places)))
        return _distinct(rows, len(names), old_columns) if project.distinct else rows

    rows = await in_thread(Table(names, cells).size, work)
    wide = Table((*names, *old_columns), rows)
    sort_values = await evaluator.values(wide, keys)
    await in_thread(len(rows), lambda: check_order(project.order, sort_values))
    descending = [order.descending for order in project.order]
    stop = None if project.limit is None else project.skip + project.limit
    ordered = rows
    if is_last or keys or project.skip or stop is not None or PROOF in old_columns:
        ordered = await in_thread(wide.size, lambda: _sorted(rows, sort_values, descending, len(names)))
    result = await evaluator.rows_where(Table(wide.names, ordered[project.skip : stop]), conjuncts(project.where))
    width = len(names)
    if PROOF not in old_columns:
        return Table(names, await in_thread(len(result.rows), lambda: [row[:width] for row in result.rows]))
    proof = old_columns.index(PROOF) + width
    with_proof = await in_thread(len(result.rows), lambda: [(*row[:width], row[proof]) for row in result.rows])
    return Table((*names, PROOF), with_proof)


def check_order(keys: Sequence[Order], sort_values: Iterable[Row]) -> None:
    """Check that no sort key is the list of a property.

    Raises:
        InvalidPlan: one is.
    """
    for row in sort_values:
        for order, value in zip(keys, row, strict=True):
            if isinstance(value, PropertyList):
                raise InvalidPlan([order_problem(order.by)])


async def _repeat_rows(evaluator: ExpressionEvaluator, table: Table, most: int | None = None) -> Table:
    """Each row repeated as often as MULTIPLICITY says, at most `most` times.

    Raises:
        PlanTooLarge: there are more rows than may be held.
    """
    if MULTIPLICITY not in table.names:
        return table
    names, budget = tuple(name for name in table.names if name != MULTIPLICITY), evaluator.reader.budget

    def work() -> list[Row]:
        numbers = [number if most is None else min(number, most) for number in multiplicities(table)]
        budget.check(sum(numbers))
        return [row for row, number in zip(table.pick(names), numbers, strict=True) for _ in range(number)]

    return Table(names, await in_thread(table.size, work))


def distinct(table: Table) -> Table:
    """The table without duplicate rows; PROOF is not compared."""
    width = len(table.names) - (PROOF in table.names)
    return Table(table.names, _distinct(table.rows, width, table.names[width:]))


def in_canonical_order(rows: Iterable[Row], width: int) -> list[Row]:
    """Rows sorted by their first `width` cells, column by column."""
    ranks = _ranker()
    return sorted_in_runs(list(rows), lambda row: ranks(row[:width]))


def _sorted(rows: list[Row], keys: list[Row], descending: Sequence[bool], width: int) -> list[Row]:
    """Rows sorted by their keys, nulls largest; ties are sorted by their cells."""
    if len(rows) < 2:
        return rows
    ranks = _ranker()
    ranked = [(ranks(key), ranks(row[:width]), row) for key, row in zip(keys, rows, strict=True)]
    ranked = sorted_in_runs(ranked, itemgetter(1))
    for place in reversed(range(len(descending))):
        ranked = sorted_in_runs(ranked, lambda each, place=place: each[0][place], reverse=descending[place])
    return [row for _, _, row in ranked]


def _ranker() -> Callable[[Row], tuple[Rank, ...]]:
    """A function to the sort keys of a row's values. Rows that share a list share its key, which may be large."""
    known: dict[int, Rank] = {}

    def ranked(value: Value) -> Rank:
        if not isinstance(value, tuple):
            return rank(value)
        found = known.get(id(value))
        if found is None:
            found = known[id(value)] = rank(value)
        return found

    return lambda row: tuple(map(ranked, row))


def _distinct(rows: Iterable[Row], width: int, hidden: Sequence[str]) -> list[Row]:
    """Rows with distinct first cells, each with the proof of all its duplicates."""
    proof = width + list(hidden).index(PROOF) if PROOF in hidden else None
    found: dict[tuple[object, ...], Row] = {}
    proofs: dict[tuple[object, ...], dict[Value, None]] = {}
    for row in rows:
        key = tuple(map(identity, row[:width]))
        found.setdefault(key, row)
        if proof is not None:
            proofs.setdefault(key, {}).update(dict.fromkeys(flat([row[proof]])))
    if proof is None:
        return list(found.values())
    return [(*row[:proof], tuple(proofs[key]), *row[proof + 1 :]) for key, row in found.items()]


async def _grouped(
    evaluator: ExpressionEvaluator, project: Project, table: Table, sorted_before: bool
) -> tuple[Table, Project]:
    """One row for each group with its aggregates as columns, and the projection that reads these columns."""
    keys = [column.value for column in project.columns if not aggregates(column.value)]
    wanted = [column.value for column in project.columns] + [order.by for order in project.order]
    sums = list(dict.fromkeys(one for expression in wanted for one in aggregates(expression)))
    if not all(_needs_no_repetition(one) for one in sums):
        table = await _repeat_rows(evaluator, table)
    of = [one.of for one in sums]
    arguments = [each for each in of if each is not None]
    key_rows = await evaluator.values(table, keys)
    value_rows = await evaluator.values(table, arguments)
    numbers, budget = multiplicities(table), evaluator.reader.budget

    def work() -> list[Row]:
        _record_lists(evaluator.reader.several, arguments, value_rows)
        groups: dict[tuple[object, ...], list[int]] = {}
        for number, key in enumerate(key_rows):
            groups.setdefault(tuple(map(identity, key)), []).append(number)
        if not keys and not groups:
            groups[()] = []
        rows: list[Row] = []
        for members in groups.values():
            first: list[Value] = [*table.rows[members[0]]] if members else [None for _ in table.names]
            if PROOF in table.names:
                place = table.names.index(PROOF)
                first[place] = tuple(dict.fromkeys(flat([table.rows[number][place] for number in members])))
            rows.append((*first, *_results(budget, sums, members, value_rows, numbers, in_order=sorted_before)))
        return rows

    rows = await in_thread(table.size, work)
    names = {one: f"\0sum{number}" for number, one in enumerate(sums)}

    def read(expression: Expression) -> Expression:
        return rewritten(expression, lambda part: Variable(names[part]) if isinstance(part, Aggregate) else None)

    columns = tuple(replace(column, value=read(column.value)) for column in project.columns)
    order = tuple(replace(each, by=read(each.by)) for each in project.order)
    return Table((*table.names, *names.values()), rows), replace(project, columns=columns, order=order)


def _record_lists(several: SeveralValues, arguments: Sequence[Expression], value_rows: Sequence[Row]) -> None:
    """Record the arguments of aggregates that are a property's list in some row."""
    for place, argument in enumerate(arguments):
        if any(isinstance(row[place], PropertyList) for row in value_rows):
            several.record(argument)


def _results(
    budget: Budget,
    sums: Sequence[Aggregate],
    members: Sequence[int],
    value_rows: Sequence[Row],
    numbers: Sequence[int],
    *,
    in_order: bool,
) -> list[Value]:
    """The aggregates of one group. `value_rows` has a column for each aggregate of a value."""
    columns = iter(range(len(sums)))
    results: list[Value] = []
    for one in sums:
        place = next(columns) if one.of is not None else None
        values = [True if place is None else value_rows[number][place] for number in members]
        if one == Aggregate(AggregateFunction.COUNT, one.of):
            results.append(sum(numbers[row] * _size(value) for value, row in zip(values, members, strict=True)))
        else:
            repetitions = [numbers[row] for row in members]
            results.append(_aggregated(budget, one, values, repetitions, in_order))
    return results


_SUMS = frozenset((AggregateFunction.SUM, AggregateFunction.AVERAGE))


def _needs_no_repetition(one: Aggregate) -> bool:
    """Whether an aggregate can be computed from distinct rows and their numbers, without repeating rows."""
    return one.distinct or one.function in {
        AggregateFunction.COUNT,
        AggregateFunction.MINIMUM,
        AggregateFunction.MAXIMUM,
        *_SUMS,
    }


def _size(value: Value) -> int:
    """The number of values that an aggregate takes: of a property's list each, of null none."""
    if isinstance(value, PropertyList):
        return sum(one is not None for one in value)
    return 0 if value is None else 1


def _aggregated(
    budget: Budget, one: Aggregate, values: Sequence[Value], repetitions: Sequence[int], in_order: bool
) -> Value:
    """The aggregate of a group's values without nulls. A property's list is its values.

    A value stands for as many equal ones as `repetitions` says; only sums and averages depend on it.
    """
    if one.function in _SUMS and not one.distinct and max(repetitions, default=1) > 1:
        return _sum(one, values, repetitions)
    not_null: list[Value] = []
    for value in values:
        if isinstance(value, tuple) or one.function is AggregateFunction.COLLECT:
            budget.make(one, value if isinstance(value, tuple) else None)  # a text is shared, not copied
        not_null += [one for one in (value if isinstance(value, PropertyList) else (value,)) if one is not None]
    if one.distinct:
        first: dict[object, Value] = {}
        for value in not_null:
            first.setdefault(identity(value), value)
        not_null = list(first.values())
    if one.function is AggregateFunction.COUNT:
        return len(not_null)
    if one.function is AggregateFunction.COLLECT:
        return tuple(not_null if in_order else sorted_in_runs(not_null, rank))
    if one.function in {AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM}:
        pick: Callable[..., Value] = min if one.function is AggregateFunction.MINIMUM else max
        return pick(not_null, key=rank, default=None)
    numbers = [number for value in not_null if (number := number_of(value)) is not None]
    return aggregate(one.function, numbers, one.share)


def _sum(one: Aggregate, values: Iterable[Value], repetitions: Iterable[int]) -> Value:
    """The sum or average of values, each repeated; it is exactly that of the repeated values."""
    terms: list[int | float] = []
    count = 0
    for value, times_ in zip(values, repetitions, strict=True):
        for each in value if isinstance(value, PropertyList) else (value,):
            if (number := number_of(each)) is not None:
                terms += repeated(number, times_)
                count += times_
    return total(terms) if one.function is AggregateFunction.SUM else average(terms, count)
