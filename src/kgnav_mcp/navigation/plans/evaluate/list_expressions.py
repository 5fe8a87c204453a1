"""Expressions over the members of lists: parts of lists, comprehensions, quantifiers and reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kgnav_mcp.navigation.plans.evaluate.comparisons import every, opposite, some
from kgnav_mcp.navigation.plans.evaluate.functions import as_list
from kgnav_mcp.navigation.plans.evaluate.values import Row, Value
from kgnav_mcp.plan import Comprehension, Element, Quantified, Quantifier, Reduction, Slice

if TYPE_CHECKING:
    from kgnav_mcp.navigation.plans.evaluate.expressions import Compiler, Evaluated


def list_part(compiler: Compiler, expression: Element | Slice) -> Evaluated:
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


def comprehension(compiler: Compiler, expression: Comprehension) -> Evaluated:
    """A function to the list that a comprehension makes."""
    of, inner, budget = compiler.value(expression.of), _within(compiler, expression.variable), compiler.reader.budget
    holds = None if expression.where is None else inner.condition(expression.where)
    value = None if expression.value is None else inner.value(expression.value)
    width = len(compiler.places)

    def made(row: Row) -> Iterator[Value]:
        for member in _counted(compiler, expression, of(row)):
            extended = (*row[:width], member)
            if holds is None or holds(extended):
                yield member if value is None else value(extended)

    def make(row: Row) -> Value:
        if of(row) is None:
            return None
        found = tuple(made(row))
        budget.make(expression, found)
        return found

    return make


def _counted(compiler: Compiler, expression: Comprehension | Quantified | Reduction, value: Value) -> tuple[Value, ...]:
    """The members of a list, which count as compared."""
    members = as_list(value)
    compiler.reader.budget.compare(len(members), expression)
    return members


def quantified(compiler: Compiler, expression: Quantified) -> Evaluated:
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
    return opposite(some(conditions))


def _single(conditions: Iterable[bool | None]) -> bool | None:
    found = list(conditions)
    if found.count(True) > 1:
        return False
    return None if None in found else found.count(True) == 1


_QUANTIFIERS: dict[Quantifier, Callable[[Iterable[bool | None]], bool | None]] = {
    Quantifier.ALL: every,
    Quantifier.ANY: some,
    Quantifier.NONE: _none,
    Quantifier.SINGLE: _single,
}


def reduction(compiler: Compiler, expression: Reduction) -> Evaluated:
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
