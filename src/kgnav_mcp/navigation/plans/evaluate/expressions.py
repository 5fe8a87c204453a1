"""Expressions compiled to functions of a row: compiled once, then called for each row without asking the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.navigation.plans.evaluate.comparisons import (
    MemberSet,
    compare,
    compare_chain,
    compares_list_with_value,
    comparison_count,
    logical_and,
    logical_not,
    logical_or,
)
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.functions import apply_function, apply_operator, as_list
from kgnav_mcp.navigation.plans.evaluate.several_values import arithmetic_problem
from kgnav_mcp.navigation.plans.evaluate.values import Edge, Node, PropertyList, Row, Value, identity, value_or_list
from kgnav_mcp.plan import (
    NAME,
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Compare,
    Comparison,
    ComparisonChain,
    Comprehension,
    Connective,
    Constant,
    CountOf,
    During,
    Element,
    Exists,
    Expression,
    Function,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Not,
    Property,
    Quantified,
    Quantifier,
    Reduction,
    Slice,
    Variable,
)
from kgnav_mcp.values.comparison import overlaps_period
from kgnav_mcp.values.functions import FUNCTIONS, Kind, bytes_made

Evaluated = Callable[[Row], Value]

_MEMBERS_BETWEEN_CHECKS = 20
"""Members of a list between two checks of the time, which costs as much as a simple expression."""


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
    match_counts: Mapping[Expression, MatchCounts]

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
                return lambda row: value_or_list(values(row))
            case Compare():
                return self._compared(expression)
            case ComparisonChain():
                return self._chained(expression)
            case Joined(connective, parts):
                conditions = [self.truth(part) for part in parts]
                join = {Connective.AND: logical_and, Connective.OR: logical_or, Connective.XOR: _exclusive_or}[
                    connective
                ]
                return lambda row: join(condition(row) for condition in conditions)
            case Not(condition):
                truth = self.truth(condition)
                return lambda row: logical_not(truth(row))
            case IsNull(value):
                of = self.value(value)
                return lambda row: of(row) is None
            case HasLabel(variable, labels):
                return self._has_label(self.places[variable], labels)
            case Arithmetic():
                return self._arithmetic(expression)
            case ListOf():
                return self._list(expression)
            case Call():
                return self._call(expression)
            case Case():
                return self._case(expression)
            case Element() | Slice():
                return _list_part(self, expression)
            case Comprehension():
                return _comprehension(self, expression)
            case Quantified():
                return _quantified(self, expression)
            case Reduction():
                return _reduction(self, expression)
            case During():
                return self._during(expression)
            case Exists():
                count = self._match_count(expression)
                return lambda row: count(row) > 0
            case CountOf():
                return self._match_count(expression)
            case Aggregate():
                raise TypeError("an aggregate is only possible in a projection")

    def truth(self, expression: Expression) -> Callable[[Row], bool | None]:
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
                budget.compare(comparison_count(one, other), expression)
            if compares_list_with_value(one, other):
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
            budget.compare(comparison_count(*values), expression)
            return compare_chain(values, expression.comparisons)

        return chained

    def _case(self, expression: Case) -> Evaluated:
        branches = [(self.condition(condition), self.value(value)) for condition, value in expression.branches]
        otherwise = self.value(expression.otherwise)

        def chosen(row: Row) -> Value:
            return next((value for holds, value in branches if holds(row)), otherwise)(row)

        return chosen

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
                        raise InvalidPlan([arithmetic_problem(expression, operand)])
                    several.record(operand)
            if operator is ArithmeticOperator.ADD and any(isinstance(value, str | tuple) for value in values):
                budget.make(expression, *values)
            return apply_operator(values[0], operator, values[1])

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

    def _call(self, expression: Call) -> Evaluated:
        function, arguments = expression.function, expression.arguments
        values, reader, budget = [self.value(argument) for argument in arguments], self.reader, self.reader.budget
        if function in _FACTS:
            read, (owner_of,) = _FACTS[function], values
            return lambda row: read(reader, owner_of(row))
        if function is Function.COALESCE:  # what comes after the first value may be an error
            return lambda row: next((found for value in values if (found := value(row)) is not None), None)
        makes = FUNCTIONS[function].gives in _GROWING

        def call(row: Row) -> Value:
            given = tuple([value(row) for value in values])
            if function is Function.SIZE and given[0] is not None:
                reader.several.check_sized(arguments[0], given[0])
            if makes:
                budget.make(expression, *given, size=bytes_made(function, given))
            return apply_function(function, given)

        return call

    def _match_count(self, expression: Exists | CountOf) -> Callable[[Row], int]:
        match_counts = self.match_counts[expression]
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


def _labels(reader: Reader, owner: Value) -> Value:
    return tuple(sorted(reader.entity(owner).types)) if isinstance(owner, Node) else None


def _properties(reader: Reader, owner: Value) -> Value:
    if isinstance(owner, Edge):
        return reader.all_qualifiers(owner)
    return reader.properties(owner) if isinstance(owner, Node) else None


def _keys(reader: Reader, owner: Value) -> Value:
    found = _properties(reader, owner)
    return None if found is None else tuple(pair[0] for pair in as_list(found) if isinstance(pair, tuple))


_FACTS: Mapping[Function, Callable[[Reader, Value], Value]] = {
    Function.LABELS: _labels,
    Function.PROPERTIES: _properties,
    Function.KEYS: _keys,
}
"""Functions of nodes and edges whose facts are read before."""
_GROWING = frozenset((Kind.TEXT, Kind.LIST, Kind.ANY))
"""The kinds of results that may be long."""


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


def _list_part(compiler: Compiler, expression: Element | Slice) -> Evaluated:
    """A function to a member of a list, or a part of it. A single value is a list of itself."""
    of = compiler.value(expression.of)
    if isinstance(expression, Element):
        index = compiler.value(expression.index)
        return lambda row: _member(of(row), index(row))
    bounds = [None if bound is None else compiler.value(bound) for bound in (expression.first, expression.end)]

    def part(row: Row) -> Value:
        value, places = of(row), [None if bound is None else bound(row) for bound in bounds]
        given = [place for place, bound in zip(places, bounds, strict=True) if bound is not None]
        if value is None or not all(map(_is_index, given)):
            return None
        first, end = (place if isinstance(place, int) else None for place in places)
        return as_list(value)[first:end]

    return part


def _is_index(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _member(value: Value, index: Value) -> Value:
    if value is None or not isinstance(index, int) or isinstance(index, bool):
        return None
    members = as_list(value)
    return members[index] if -len(members) <= index < len(members) else None


def _within(compiler: Compiler, *variables: str) -> Compiler:
    """A compiler for rows that are extended by the values of these variables."""
    width = len(compiler.places)
    return replace(
        compiler, places={**compiler.places, **{name: width + place for place, name in enumerate(variables)}}
    )


def _comprehension(compiler: Compiler, expression: Comprehension) -> Evaluated:
    """A function to the list that a comprehension makes."""
    of, inner, budget = compiler.value(expression.of), _within(compiler, expression.variable), compiler.reader.budget
    holds = None if expression.where is None else inner.condition(expression.where)
    value = None if expression.value is None else inner.value(expression.value)
    width = len(compiler.places)

    def made(row: Row, members: Value) -> Iterator[Value]:
        for member in _counted(compiler, expression, members):
            extended = (*row[:width], member)
            if holds is None or holds(extended):
                yield member if value is None else value(extended)

    def make(row: Row) -> Value:
        members = of(row)
        if members is None:
            return None
        found = tuple(made(row, members))
        budget.make(expression, found)
        return found

    return make


def _counted(compiler: Compiler, expression: Comprehension | Quantified | Reduction, value: Value) -> Iterator[Value]:
    """The members of a list, which count as compared. One row may have millions, so each few check the time."""
    members, budget = as_list(value), compiler.reader.budget
    budget.compare(len(members), expression)
    for start in range(0, len(members), _MEMBERS_BETWEEN_CHECKS):
        budget.check_time()
        yield from members[start : start + _MEMBERS_BETWEEN_CHECKS]


def _quantified(compiler: Compiler, expression: Quantified) -> Evaluated:
    """A function that says whether so many members of a list meet a condition. Null if a null decides it."""
    of, width = compiler.value(expression.of), len(compiler.places)
    truth, decide = _within(compiler, expression.variable).truth(expression.where), _QUANTIFIERS[expression.quantifier]

    def says(row: Row) -> Value:
        value = of(row)
        if value is None:
            return None
        return decide(truth((*row[:width], member)) for member in _counted(compiler, expression, value))

    return says


def _none(conditions: Iterable[bool | None]) -> bool | None:
    return logical_not(logical_or(conditions))


def _single(conditions: Iterable[bool | None]) -> bool | None:
    found = list(conditions)
    if found.count(True) > 1:
        return False
    return None if None in found else found.count(True) == 1


_QUANTIFIERS: dict[Quantifier, Callable[[Iterable[bool | None]], bool | None]] = {
    Quantifier.ALL: logical_and,
    Quantifier.ANY: logical_or,
    Quantifier.NONE: _none,
    Quantifier.SINGLE: _single,
}


def _reduction(compiler: Compiler, expression: Reduction) -> Evaluated:
    """A function that computes a value from each member of a list in turn."""
    of, initial, budget = compiler.value(expression.of), compiler.value(expression.initial), compiler.reader.budget
    step = _within(compiler, expression.accumulator, expression.variable).value(expression.value)
    width = len(compiler.places)

    def reduced(row: Row) -> Value:
        value, result = of(row), initial(row)
        if value is None:
            return None
        for member in _counted(compiler, expression, value):
            result = step((*row[:width], result, member))
            if isinstance(result, str | tuple):
                budget.make(expression, result)
        return result

    return reduced
