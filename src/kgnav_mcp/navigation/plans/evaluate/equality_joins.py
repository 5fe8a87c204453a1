"""Products of two tables under conditions: an equality of both is looked up by hash, so only few pairs are compared.

Two values that are equal have a key in common. Values with a common key need not be equal, so that every condition is
still tested for the pairs that are left.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import InvalidArgument, InvalidPlan
from kgnav_mcp.navigation.plans.budget import Budget
from kgnav_mcp.navigation.plans.evaluate.table_evaluation import ExpressionEvaluator
from kgnav_mcp.navigation.plans.evaluate.values import Node, PropertyList, Row, Table, Value, flat
from kgnav_mcp.plan import Expression
from kgnav_mcp.plan.walking import equality_sides, variables_of
from kgnav_mcp.values.comparison import date_parts
from kgnav_mcp.values.scalars import Date

_MAX_KEYS = 5
"""Keys that may be held, for each row that may be held: a list of values has as many keys as values."""
Combine = Callable[[Table, Sequence[Sequence[int]]], Awaitable[Table]]
"""Combines each row of a table with those rows of another one that have the places given for it."""


def is_join(condition: Expression) -> bool:
    """Whether a condition is an equality of values of two variables."""
    names = variables_of(condition)
    return any(equality_sides(condition, {name}, names - {name}) is not None for name in names)


async def product_where(
    expressions: ExpressionEvaluator, table: Table, other: Table, conditions: Sequence[Expression], combine: Combine
) -> Table:
    """Each row of a table combined with each row of another one, if all conditions are true.

    Only rows that meet the conditions are held.

    Raises:
        PlanTooLarge: there are more than may be held.
    """
    budget, size = expressions.reader.budget, len(table.rows)
    pairs = await _pairs(expressions, table, other, conditions)
    batches = _batches(size, (lambda _: range(len(other.rows))) if pairs is None else pairs.of, budget.bound)
    found: list[Table] = []
    while (batch := await in_thread(size, lambda: next(batches, None))) is not None:
        start, places = batch
        product = await combine(Table(table.names, table.rows[start : start + len(places)]), places)
        found.append(await expressions.rows_where(product, conditions))
        budget.check(sum(len(one.rows) for one in found))
    return Table(found[0].names, [row for one in found for row in one.rows])


def _batches(
    rows: int, places_of: Callable[[int], Sequence[int]], most: int
) -> Iterator[tuple[int, list[Sequence[int]]]]:
    """The first row of each batch, and the places for each of its rows: at most `most` pairs, or one row."""
    start, places, pairs = 0, list[Sequence[int]](), 0
    for row in range(rows):
        own = places_of(row)
        if places and pairs + len(own) > most:
            yield start, places
            start, places, pairs = row, [], 0
        places.append(own)
        pairs += len(own)
    yield start, places


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of rows of two tables for which an equality may be true."""

    keys: Sequence[Sequence[object]]
    """The keys of each row of the first table."""
    places: Mapping[object, Sequence[int]]
    """The rows of the second table that have a key."""
    number: int
    """The number of pairs; one that has several keys in common may count several times."""

    def of(self, row: int) -> Sequence[int]:
        """The places in the second table, in ascending order."""
        first, *more = [self.places.get(key, ()) for key in self.keys[row]] or [()]
        return sorted({*first, *(place for some in more for place in some)}) if more else first


async def _pairs(
    expressions: ExpressionEvaluator, table: Table, other: Table, conditions: Sequence[Expression]
) -> _Pairs | None:
    """The fewest pairs of rows that one of the conditions leaves; None if none of them finds pairs by keys."""
    if not table.rows or not other.rows:
        return None
    found: list[_Pairs] = []
    for condition in conditions:
        sides = equality_sides(condition, table.names, other.names)
        pairs = None if sides is None else await _pairs_of(expressions, (table, other), condition, sides)
        if pairs is not None:
            found.append(pairs)
    return min(found, key=attrgetter("number"), default=None)


async def _pairs_of(
    expressions: ExpressionEvaluator, tables: Sequence[Table], condition: Expression, sides: Sequence[Expression]
) -> _Pairs | None:
    """The pairs of rows that an equality leaves; None if not all its values can be computed, or its keys be held."""
    budget = expressions.reader.budget
    values: list[list[Value]] = []
    for table, side in zip(tables, sides, strict=True):
        try:
            values.append([value for (value,) in await expressions.values(table, [side])])
        except (InvalidPlan, InvalidArgument):  # perhaps another condition excludes the row
            return None
    _record_lists(expressions, sides, values)
    found = await in_thread(sum(table.size for table in tables), lambda: _found_pairs(values, budget, condition))
    if found is not None and not found.number:
        budget.record_unmet_condition(condition)
    return found


def _record_lists(
    expressions: ExpressionEvaluator, sides: Sequence[Expression], values: Sequence[Sequence[Value]]
) -> None:
    """Record that properties with several values are compared with single values, whether they are equal or not."""
    for side, own, others in zip(sides, values, reversed(values), strict=True):
        has_list = any(isinstance(value, PropertyList) for value in own)
        if has_list and not all(isinstance(value, tuple) for value in others):
            expressions.reader.several.record(side)


def _found_pairs(values: Sequence[list[Value]], budget: Budget, condition: Expression) -> _Pairs | None:
    """The pairs of values that may be equal; None if their keys are too many to be held."""
    left, right = values
    keys_of = keys_of_values([*left, *right])
    key_lists: list[Sequence[object]] = []
    number = 0
    for value in (*left, *right):
        if isinstance(value, tuple):
            budget.compare(len(value), condition)
            budget.check_time()
        key_lists.append(keys_of(value))
        number += len(key_lists[-1])
        if number > budget.bound * _MAX_KEYS:
            return None
    places: dict[object, list[int]] = defaultdict(list)
    for place, own in enumerate(key_lists[len(left) :]):
        for key in own:
            places[key].append(place)
    of_left = key_lists[: len(left)]
    return _Pairs(of_left, places, sum(len(places.get(key, ())) for own in of_left for key in own))


def keys_of_values(values: Sequence[Value]) -> Callable[[Value], Sequence[object]]:
    """A function to the keys of each of some values: two of them for which `=` is true have one in common."""
    fewest = 0
    if any(isinstance(value, Date) for value in flat(values)):
        dates = (date_parts(value) for value in flat(values) if isinstance(value, str))
        fewest = min((len(parts) for parts in dates if parts is not None), default=0)
    return _Keys(fewest, any(isinstance(value, tuple) and _has_node(value) for value in values)).of


@dataclass(frozen=True, slots=True)
class _Keys:
    """Makes the keys of values, as far as they depend on the values that are compared."""

    date_parts: int
    """The parts that dates are compared by at least, from the year on; 0: no value is a date of the graph."""
    nodes_in_lists: bool
    """Whether some list has a node, which equals texts: then lists have their length as a key."""

    def of(self, value: Value) -> Sequence[object]:
        """The keys of a value, each once; none for null and NaN, which equal nothing."""
        match value:
            case PropertyList():
                return list(
                    dict.fromkeys((*(key for member in value for key in self.of(member)), self._of_list(value)))
                )
            case Node():
                return list(dict.fromkeys(map(self._of_text, filter(None, (value.id, value.label)))))
            case None:
                return ()
            case float() if math.isnan(value):
                return ()
            case _:
                return (self._of_single(value),)

    def _of_single(self, value: Value) -> object:
        if isinstance(value, tuple):
            return self._of_list(value)
        return self._of_text(value) if isinstance(value, str) else value

    def _of_text(self, text: str) -> object:
        parts = date_parts(text) if self.date_parts else None
        return text if parts is None else parts[: self.date_parts]

    def _of_list(self, members: tuple[Value, ...]) -> object:
        """A number, as lists may be long: those of other lists may be the same."""
        return hash((len(members), *(() if self.nodes_in_lists else map(self._of_single, members))))


def _has_node(members: Row) -> bool:
    return any(isinstance(one, Node) for one in flat(members))
