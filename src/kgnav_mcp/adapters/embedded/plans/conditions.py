"""Compiles comparisons: of values, of properties with several values, of ids, and with the members of lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

from kgnav_mcp.adapters.embedded.plans.calls import of_single
from kgnav_mcp.adapters.embedded.plans.comparisons import (
    BY_PRECISION,
    NEVER,
    Truth,
    compile_comparison,
    constant,
    encoded,
    negated,
    single,
)
from kgnav_mcp.adapters.embedded.plans.properties import Values, rows_of
from kgnav_mcp.adapters.embedded.plans.statement import NULL, SINGLE, Statement, Term, TermKind, unsupported
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import (
    Call,
    Compare,
    Comparison,
    Connective,
    Constant,
    Expression,
    Function,
    ListOf,
    Property,
    Variable,
)
from kgnav_mcp.values.functions import FUNCTIONS

if TYPE_CHECKING:
    from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler

_MAX_MIXED_ITEMS = 20
"""Members of a list with values of mixed types, at most. Lists of ids, texts or integers may have any length."""


def _property_values(compiler: ExpressionCompiler, owned: Expression, *, dated: bool) -> list[Values] | None:
    """Returns the values of a property, or the results of a function of each; None for any other expression.

    Also None if the property has at most one value.
    """
    match owned:
        case Property(owner):
            return compiler.properties.values(compiler.variable(owner), owned, dated=dated)
        case Call(function, (argument,)) if FUNCTIONS[function].of_each_value:
            found = _property_values(compiler, argument, dated=False)
            return None if found is None else [replace(each, term=of_single(function, each.term)) for each in found]
        case _:
            return None


def compile_compare(compiler: ExpressionCompiler, expression: Compare) -> Truth:
    """Compiles a comparison. Either side may be a property with several values, the right one may be a list.

    Raises:
        Unsupported: SQL cannot express it.
    """
    ids = _compare_ids(compiler, expression)
    if ids is not None:
        return ids
    left, comparison, right = expression.left, expression.comparison, expression.right
    if comparison is Comparison.IN:
        return _compile_in(compiler, left, right)
    if comparison is Comparison.UNEQUAL:
        return negated(compile_compare(compiler, Compare(left, Comparison.EQUAL, right)))
    holds, fails = compile_chain(compiler, (left, right), (comparison,))
    if comparison is Comparison.EQUAL:
        pairs = (left, right), (right, left)
        holds = " AND ".join([*filter(None, (_may_equal(compiler, *pair) for pair in pairs)), f"({holds})"])
    return holds, fails


def compile_chain(
    compiler: ExpressionCompiler,
    operands: Sequence[Expression],
    comparisons: Sequence[Comparison],
    *,
    of_members: bool = False,
) -> Truth:
    """Compiles comparisons of adjacent operands, all of which must hold for one choice of the values of properties.

    `of_members`: two properties are compared value by value, not as lists.

    Raises:
        Unsupported: SQL cannot express it.
    """
    sides: list[list[Values] | None] = []
    for place, operand in enumerate(operands):
        # Dates must be kept distinct from texts, unless the other side is certainly not a date.
        links = [(place - 1, comparisons[place - 1])] if place else []
        links += [(place + 1, comparisons[place])] if place < len(comparisons) else []
        dated = any(link in BY_PRECISION and not _is_no_date(operands[other]) for other, link in links)
        sides.append(_property_values(compiler, operand, dated=dated))
    terms = [compiler.value(operand) if side is None else NULL for operand, side in zip(operands, sides, strict=True)]
    tests: list[tuple[str, Truth]] = []
    for chosen in product(*(side if side is not None else [None] for side in sides)):
        values = [term if one is None else one.term for one, term in zip(chosen, terms, strict=True)]
        truths = [compile_comparison(*link) for link in zip(values, comparisons, values[1:], strict=False)]
        truth = truths[0] if len(truths) == 1 else joined(Connective.AND, truths)
        tests.append((rows_of([each for each in chosen if each is not None]), truth))
    truth = _any_holds(tests)
    return truth if of_members else _without_two_lists(sides, truth)


def _without_two_lists(sides: Sequence[list[Values] | None], truth: Truth) -> Truth:
    """A condition that ends the query if two adjacent properties are compared of which one has several values.

    If both have, they are compared as lists, which the evaluator does.
    """
    several: list[str] = []
    for pair in pairwise(sides):
        for side in pair if None not in pair else ():
            if len(side or ()) > 1:
                raise unsupported("a comparison of several properties as one")
            several += (pieces.ANY.format(rows=f"{rows_of([each])} AND {each.in_list}") for each in side or ())
    if not several:
        return truth
    holds, fails = (pieces.NO_LISTS.format(several=" OR ".join(several), test=test) for test in truth)
    return holds, fails


def _may_equal(compiler: ExpressionCompiler, owned: Expression, other: Expression) -> str:
    if not isinstance(owned, Property):
        return ""
    return compiler.properties.may_equal(compiler.variable(owned.owner), owned, other)


def _is_no_date(expression: Expression) -> bool:
    """Whether an expression is a constant that does not look like a date."""
    return isinstance(expression, Constant) and not constant(Statement(), expression.value).may_be_date


def _compare_ids(compiler: ExpressionCompiler, expression: Compare) -> Truth | None:
    """Compiles a comparison of a node's id with constant ids; returns None for any other comparison."""
    match expression:
        case Compare(Call(Function.ID, (Variable(name),)), comparison, Constant(str() as value)):
            texts, comparison_of_ids = [value], comparison
        case Compare(Constant(str() as value), comparison, Call(Function.ID, (Variable(name),))):
            texts, comparison_of_ids = [value], comparison
        case Compare(Call(Function.ID, (Variable(name),)), Comparison.IN, ListOf(items)) if all(
            isinstance(item, Constant) and isinstance(item.value, str) for item in items
        ):
            texts = [str(item.value) for item in items if isinstance(item, Constant)]
            if not texts:
                return "0", "1"
            comparison_of_ids = Comparison.EQUAL
        case _:
            return None
    owner = compiler.variable(name)
    if owner.kind is not TermKind.NODE or comparison_of_ids not in {Comparison.EQUAL, Comparison.UNEQUAL}:
        return None
    numbers = compiler.words.nodes(texts)
    test = compiler.statement.among(owner.one, numbers)
    truth = test, f"{owner.one} IS NOT NULL AND NOT ({test})"
    return truth if comparison_of_ids is Comparison.EQUAL else negated(truth)


def _compile_in(compiler: ExpressionCompiler, left: Expression, right: Expression) -> Truth:
    """Compiles IN. A list of constants is handled here, any other list by `_in_computed_list`."""
    if isinstance(right, Property) and isinstance(left, Constant):
        return compile_compare(compiler, Compare(left, Comparison.EQUAL, right))
    if isinstance(right, Property) and not isinstance(left, ListOf):
        return compile_chain(compiler, (left, right), (Comparison.EQUAL,), of_members=True)
    if isinstance(right, ListOf) and not right.items:
        return "0", "1"
    if not isinstance(right, ListOf) or not all(
        isinstance(each, Constant) and each.value is not None for each in right.items
    ):
        return _in_computed_list(compiler, left, compiler.value(right))
    items = [item for item in right.items if isinstance(item, Constant)]
    sides = _property_values(compiler, left, dated=not all(map(_is_no_date, items)))
    ones = [("", compiler.value(left))] if sides is None else [(rows_of([side]), side.term) for side in sides]
    return _any_holds([(rows, _in_constants(compiler, term, items)) for rows, term in ones])


def _in_computed_list(compiler: ExpressionCompiler, left: Expression, among: Term) -> Truth:
    """Compiles IN with a list that is computed for each row."""
    sides = _property_values(compiler, left, dated=False)
    ones = [("", compiler.value(left))] if sides is None else [(rows_of([side]), side.term) for side in sides]
    tests: list[tuple[str, Truth]] = []
    for rows, term in ones:
        if among.kind is not TermKind.VALUE or term.kind not in SINGLE:
            raise unsupported("membership among nodes or edges")
        if term.may_be_date and among.may_be_date and not _is_no_date(left):
            raise unsupported("dates in lists")
        test = f"kg_among({encoded(term)}, {among.one})"
        tests.append((rows, (f"{test} = 1", f"{test} = 0")))
    return _any_holds(tests)


def _in_constants(compiler: ExpressionCompiler, term: Term, items: list[Constant]) -> Truth:
    kinds = {type(item.value) for item in items}
    if term.kind in {TermKind.VALUE, TermKind.TEXT, TermKind.NUMBER} and kinds in ({str}, {int}):
        kind = TermKind.TEXT if kinds == {str} else TermKind.NUMBER
        unsure = term.may_be_date and term.kind is TermKind.VALUE and not all(map(_is_no_date, items))
        if term.kind in {kind, TermKind.VALUE} and not unsure:
            values = compiler.statement.numbers(item.value for item in items)
            test = pieces.AMONG.format(value=f"({single(term)})", values=values)
            return test, f"NOT ({test})"
    if len(items) > _MAX_MIXED_ITEMS:
        raise unsupported("so long a list of such values")
    return joined(Connective.OR, [compile_comparison(term, Comparison.EQUAL, compiler.value(item)) for item in items])


def joined(connective: Connective, parts: list[Truth]) -> Truth:
    """Joins conditions with AND, OR or XOR."""
    holds = [f"({part[0]})" for part in parts]
    fails = [f"({part[1]})" for part in parts]
    match connective:
        case Connective.AND:
            return " AND ".join(holds), " OR ".join(fails)
        case Connective.OR:
            return " OR ".join(holds), " AND ".join(fails)
        case Connective.XOR:
            odd = parts[0]
            for part in parts[1:]:
                odd = (
                    f"({odd[0]}) AND ({part[1]}) OR ({odd[1]}) AND ({part[0]})",
                    f"({odd[0]}) AND ({part[0]}) OR ({odd[1]}) AND ({part[1]})",
                )
            return odd


def _any_holds(tests: list[tuple[str, Truth]]) -> Truth:
    """Combines tests of several values: true if one of them is true, false if there are values and all are false."""
    if len(tests) == 1 and not tests[0][0]:
        return tests[0][1]
    if not tests:
        return NEVER
    holds = [pieces.ANY.format(rows=f"{rows} AND ({test[0]})") for rows, test in tests]
    exists = [pieces.ANY.format(rows=rows) for rows, _ in tests]
    all_fail = [f"NOT {pieces.ANY.format(rows=f'{rows} AND NOT coalesce(({test[1]}), 0)')}" for rows, test in tests]
    return " OR ".join(holds), f"({' OR '.join(exists)}) AND {' AND '.join(all_fail)}"
