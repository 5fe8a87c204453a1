"""Expressions compiled to functions of a row: compiled once, then called for each row without asking the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kgnav_mcp.navigation.plans.comparing import compare, every, opposite, some
from kgnav_mcp.navigation.plans.functions import calculated, called
from kgnav_mcp.navigation.plans.reading import Reader
from kgnav_mcp.navigation.plans.values import Edge, Node, Row, Value, identity, one_or_all
from kgnav_mcp.plan import (
    NAME,
    Aggregate,
    Arithmetic,
    Call,
    Compare,
    Comparison,
    Connective,
    Constant,
    CountOf,
    During,
    Exists,
    Expression,
    Function,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Not,
    Property,
    Variable,
)
from kgnav_mcp.port.comparing import overlaps_period

Evaluated = Callable[[Row], Value]


@dataclass(slots=True)
class MatchCounts:
    """Numbers of matches of a condition's pattern, by the values of the outer variables that it uses."""

    outer: tuple[str, ...]
    counts: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles expressions to functions of rows with these columns. The facts that they need must have been read."""

    places: Mapping[str, int]
    reader: Reader
    fits: Mapping[Expression, MatchCounts]

    def condition(self, expression: Expression) -> Callable[[Row], bool]:
        """A function that says whether a condition is true; null is not."""
        value = self.value(expression)
        return lambda row: value(row) is True

    def value(self, expression: Expression) -> Evaluated:  # noqa: C901, PLR0911, PLR0912 - one case for each word
        """A function that computes the value of an expression."""
        match expression:
            case Constant(value):
                return lambda _: value
            case Variable(name):
                place = self.places[name]
                return lambda row: row[place]
            case Property():
                values = self._values(expression)
                return lambda row: one_or_all(values(row))
            case Compare():
                return self._compared(expression)
            case Joined(connective, parts):
                conditions = [self._truth(part) for part in parts]
                join = {Connective.AND: every, Connective.OR: some, Connective.XOR: _exclusive_or}[connective]
                return lambda row: join(condition(row) for condition in conditions)
            case Not(condition):
                truth = self._truth(condition)
                return lambda row: opposite(truth(row))
            case IsNull(value):
                of = self.value(value)
                return lambda row: of(row) is None
            case HasLabel(variable, labels):
                return self._has_label(self.places[variable], labels)
            case Arithmetic(left, operator, right):
                one, other = self.value(left), self.value(right)
                return lambda row: calculated(one(row), operator, other(row))
            case ListOf(items):
                values = [self.value(item) for item in items]
                return lambda row: tuple(value(row) for value in values)
            case Call(function, arguments):
                return self._call(function, [self.value(argument) for argument in arguments])
            case During():
                return self._during(expression)
            case Exists():
                count = self._match_count(expression)
                return lambda row: count(row) > 0
            case CountOf():
                return self._match_count(expression)
            case Aggregate():
                raise TypeError("an aggregate stands in what is projected only")

    def _truth(self, expression: Expression) -> Callable[[Row], bool | None]:
        """A condition as a function to True, False or None; any other value is None."""
        value = self.value(expression)

        def truth(row: Row) -> bool | None:
            found = value(row)
            return found if isinstance(found, bool) else None

        return truth

    def _compared(self, expression: Compare) -> Evaluated:
        """A comparison. If a property has several values, it is true if it is true for one of them.

        Compared with a list, all values of a property are compared as a list.
        """
        comparison = expression.comparison
        left, right = self.value(expression.left), self.value(expression.right)
        lefts = self._values(expression.left) if isinstance(expression.left, Property) else None
        rights = self._values(expression.right) if isinstance(expression.right, Property) else None
        if lefts is None and rights is None:
            return lambda row: compare(left(row), comparison, right(row))

        def members(row: Row) -> Value:
            found = right(row) if rights is None else rights(row) or None
            left_values = (left(row),) if lefts is None else lefts(row) or (None,)
            return some(compare(one, comparison, found) for one in left_values)

        def each(row: Row) -> Value:
            one, other = left(row), right(row)
            left_values = lefts(row) if lefts and (rights or not isinstance(other, tuple)) else (one,)
            right_values = rights(row) if rights and (lefts or not isinstance(one, tuple)) else (other,)
            return some(compare(a, comparison, b) for a in left_values or (None,) for b in right_values or (None,))

        return members if comparison is Comparison.IN else each

    def _values(self, expression: Property) -> Callable[[Row], tuple[Value, ...]]:
        """A function to all values of a property."""
        place, reader = self.places[expression.owner], self.reader
        named = expression.name == NAME and not expression.ids
        ids = expression.ids or (expression.name,)

        def values(row: Row) -> tuple[Value, ...]:
            owner = row[place]
            if isinstance(owner, Node):
                return _name(reader, owner) if named else reader.values(owner, ids)
            return reader.qualifiers(owner, ids) if isinstance(owner, Edge) else ()

        return values

    def _has_label(self, place: int, labels: tuple[str, ...]) -> Evaluated:
        reader = self.reader

        def has(row: Row) -> Value:
            owner = row[place]
            if isinstance(owner, Node):
                return reader.has_label(owner, labels)
            return owner.triple.relation.id in labels if isinstance(owner, Edge) else None

        return has

    def _call(self, function: Function, arguments: list[Evaluated]) -> Evaluated:
        reader = self.reader
        if function is Function.LABELS:
            return lambda row: _of_node(arguments[0](row), lambda node: tuple(sorted(reader.entity(node).types)))
        if function is Function.PROPERTIES:

            def properties(row: Row) -> Value:
                owner = arguments[0](row)
                return reader.all_qualifiers(owner) if isinstance(owner, Edge) else _of_node(owner, reader.properties)

            return properties
        if len(arguments) == 1:
            (argument,) = arguments
            return lambda row: called(function, (argument(row),))
        return lambda row: called(function, tuple(argument(row) for argument in arguments))

    def _match_count(self, expression: Exists | CountOf) -> Callable[[Row], int]:
        match_counts = self.fits[expression]
        places = [self.places[name] for name in match_counts.outer]
        counts = match_counts.counts
        return lambda row: counts.get(tuple(identity(row[place]) for place in places), 0)

    def _during(self, expression: During) -> Evaluated:
        place, reader = self.places[expression.edge], self.reader

        def during(row: Row) -> Value:
            edge = row[place]
            if not isinstance(edge, Edge):
                return None
            since = reader.qualifiers(edge, expression.from_ids)
            until = reader.qualifiers(edge, expression.to_ids)
            return overlaps_period(since, until, expression.begin, expression.end)

        return during


def _of_node(owner: Value, work: Callable[[Node], Value]) -> Value:
    return work(owner) if isinstance(owner, Node) else None


def _exclusive_or(conditions: Iterable[bool | None]) -> bool | None:
    """XOR: null if one is null."""
    result = False
    for condition in conditions:
        if condition is None:
            return None
        result ^= condition
    return result


def _name(reader: Reader, node: Node) -> tuple[Value, ...]:
    label = reader.entity(node).label
    return () if label is None else (label,)
