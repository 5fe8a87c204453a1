"""Expressions compiled to functions of a row: compiled once, then called for each row without asking the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.navigation.plans.comparing import (
    MemberSet,
    compare,
    compare_chain,
    every,
    is_on_values,
    number_compared,
    opposite,
    some,
)
from kgnav_mcp.navigation.plans.functions import calculated, called
from kgnav_mcp.navigation.plans.reading import Reader
from kgnav_mcp.navigation.plans.several_values import refused_arithmetic
from kgnav_mcp.navigation.plans.values import Edge, Node, PropertyList, Row, Value, identity, one_or_all
from kgnav_mcp.plan import (
    NAME,
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Compare,
    Comparison,
    ComparisonChain,
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
from kgnav_mcp.values.comparing import overlaps_period

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
            case ComparisonChain():
                return self._chained(expression)
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
            case Arithmetic():
                return self._arithmetic(expression)
            case ListOf():
                return self._list(expression)
            case Call(function, arguments):
                return self._call(expression, function, arguments)
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
        comparison, several, budget = expression.comparison, self.reader.several, self.reader.budget
        left, right = self.value(expression.left), self.value(expression.right)
        members = MemberSet() if comparison is Comparison.IN else None

        def compared(row: Row) -> Value:
            one, other = left(row), right(row)
            if members is not None and (is_member := members.has(one, other)) is not None:
                return is_member
            if isinstance(one, tuple) or isinstance(other, tuple):
                budget.compare(number_compared(one, other), expression)
            if is_on_values(one, other):
                several.record(expression.left if isinstance(one, PropertyList) else expression.right)
            return compare(one, comparison, other)

        return compared

    def _chained(self, expression: ComparisonChain) -> Evaluated:
        several, budget = self.reader.several, self.reader.budget
        parts = [(value, self.value(value)) for value in expression.values]

        def chained(row: Row) -> Value:
            values: list[Value] = []
            for part, evaluated in parts:
                value = evaluated(row)
                if isinstance(value, PropertyList):
                    several.record(part)
                values.append(value)
            budget.compare(number_compared(*values), expression)
            return compare_chain(values, expression.comparisons)

        return chained

    def _list(self, expression: ListOf) -> Evaluated:
        constants = tuple(item.value for item in expression.items if isinstance(item, Constant))
        if len(constants) == len(expression.items):
            return lambda _: constants
        values, budget = [self.value(item) for item in expression.items], self.reader.budget

        def make(row: Row) -> Value:
            made = tuple(value(row) for value in values)
            budget.make(expression, made)
            return made

        return make

    def _arithmetic(self, expression: Arithmetic) -> Evaluated:
        """Arithmetic. A property's list is an operand of `+` only, which joins lists."""
        operator, several, budget = expression.operator, self.reader.several, self.reader.budget
        operands = expression.left, expression.right
        left, right = map(self.value, operands)

        def calculate(row: Row) -> Value:
            values = left(row), right(row)
            for operand, value in zip(operands, values, strict=True):
                if isinstance(value, PropertyList):
                    if operator is not ArithmeticOperator.ADD:
                        raise InvalidPlan([refused_arithmetic(expression, operand)])
                    several.record(operand)
            if operator is ArithmeticOperator.ADD and any(isinstance(value, str | tuple) for value in values):
                budget.make(expression, *values)
            return calculated(values[0], operator, values[1])

        return calculate

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

    def _call(self, expression: Call, function: Function, arguments: Sequence[Expression]) -> Evaluated:
        values = [self.value(argument) for argument in arguments]
        if len(values) > 1:
            return lambda row: called(function, tuple(value(row) for value in values))
        (value,), reader = values, self.reader
        match function, arguments[0]:
            case Function.LABELS, _:
                return lambda row: _of_node(value(row), lambda node: tuple(sorted(reader.entity(node).types)))
            case Function.PROPERTIES, _:

                def properties(row: Row) -> Value:
                    owner = value(row)
                    return (
                        reader.all_qualifiers(owner) if isinstance(owner, Edge) else _of_node(owner, reader.properties)
                    )

                return properties
            case Function.SIZE, argument:

                def size(row: Row) -> Value:
                    sized = value(row)
                    if sized is not None:
                        reader.several.check_sized(argument, sized)
                    return called(function, (sized,))

                return size
            case _ if function in (Function.LOWER, Function.UPPER, Function.TEXT):
                budget = reader.budget

                def convert(row: Row) -> Value:
                    text = value(row)
                    budget.make(expression, text)
                    return called(function, (text,))

                return convert
            case _:
                return lambda row: called(function, (value(row),))

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
