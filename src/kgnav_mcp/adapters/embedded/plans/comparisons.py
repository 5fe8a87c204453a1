"""Compiles comparisons of two single values, each to SQL for when it is true and SQL for when it is false."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from kgnav_mcp.adapters.embedded.plans.statement import NULL, Statement, Term, TermKind, unsupported
from kgnav_mcp.plan import Comparison, Scalar

Truth = tuple[str, str]
"""SQL that is true if a condition is true, and SQL that is true if it is false. If it is null, neither is true."""

NEVER: Truth = ("0", "0")


def negated(truth: Truth) -> Truth:
    """Returns the negation of a condition."""
    return truth[1], truth[0]


_INTEGER_LIMIT = 2**63
_MAY_BE_DATE = re.compile(r"-?[0-9]{4}").match
"""Matches the start of texts that may be dates."""
_ORDER = {
    Comparison.LESS: ("<", ">="),
    Comparison.AT_MOST: ("<=", ">"),
    Comparison.GREATER: (">", "<="),
    Comparison.AT_LEAST: (">=", "<"),
}
BY_PRECISION = frozenset((Comparison.EQUAL, Comparison.UNEQUAL, *_ORDER))
"""Comparisons in which a date differs from a text with the same characters."""
_TYPE_TESTS = {
    TermKind.NUMBER: "typeof({}) IN ('integer', 'real')",
    TermKind.TEXT: "typeof({}) = 'text'",
    TermKind.TRUTH: "",
}


def constant(statement: Statement, value: Scalar) -> Term:
    """Returns the term of a constant in the plan.

    Raises:
        Unsupported: SQLite cannot store the value.
    """
    match value:
        case None:
            return NULL
        case bool():
            return Term(TermKind.TRUTH, ("1" if value else "0",))
        case str():
            if "\0" in value:
                raise unsupported("a text with a null character")
            stored = value.encode("utf-8", "replace").decode("utf-8")
            # A text that looks like a date is compared as a date with dates of the graph.
            return Term(TermKind.TEXT, (statement.parameter(stored),), may_be_date=_MAY_BE_DATE(value) is not None)
        case int() if not -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
            raise unsupported("a number of that size")
        case _ if not math.isfinite(value):
            raise unsupported("numbers without an end")
        case _:
            return Term(TermKind.NUMBER, (statement.parameter(value),))


def encoded(term: Term) -> str:
    """Returns the SQL of a term in the encoding for values of any kind: truth values become blobs."""
    return f"CASE {term.one} WHEN 1 THEN x'6231' WHEN 0 THEN x'6230' END" if term.kind is TermKind.TRUTH else term.one


def compile_comparison(left: Term, comparison: Comparison, right: Term) -> Truth:
    """Compiles the comparison of two nodes, two edges, or two single values.

    Raises:
        Unsupported: a date may meet a text that looks like one, or a path or list is compared.
    """
    kinds = {left.kind, right.kind}
    if kinds & {TermKind.HIDDEN, TermKind.PATH_OR_LIST}:
        raise unsupported("comparisons of paths")
    if NULL in (left, right):
        return NEVER
    if kinds & {TermKind.NODE, TermKind.EDGE}:
        return _compare_things(left, comparison, right)
    if comparison is Comparison.UNEQUAL:
        return negated(compile_comparison(left, Comparison.EQUAL, right))
    if TermKind.DATED in kinds:
        test = f"kg_compare('{comparison}', {encoded(left)}, {encoded(right)})"
        return f"{test} = 1", f"{test} = 0"
    if left.may_be_date and right.may_be_date and TermKind.VALUE in kinds and comparison in BY_PRECISION:
        raise unsupported("a comparison of dates that were read before")
    return _compare_values(left, comparison, right)


def _compare_values(left: Term, comparison: Comparison, right: Term) -> Truth:
    kinds = {left.kind, right.kind}
    one, other = left.one, right.one
    same, both = "1", f"({one}) IS NOT NULL AND ({other}) IS NOT NULL"
    if TermKind.VALUE in kinds:
        one, other = single(left), single(right)
        same = _same_type(left, right)
    elif len(kinds) > 1:
        same = "0"
    if comparison is Comparison.EQUAL:
        return _equal(one, other, same, both)
    if comparison in _ORDER:
        holds, fails = _ORDER[comparison]
        return f"({same}) AND ({one}) {holds} ({other})", f"({same}) AND ({one}) {fails} ({other})"
    texts = " AND ".join(f"typeof({each}) = 'text'" for each in (one, other))
    test = _text_test(comparison, one, other)
    return f"{texts} AND ({test})", f"{texts} AND NOT ({test})"


def _equal(one: str, other: str, same: str, both: str) -> Truth:
    if same == "0":
        return "0", both
    return f"({one}) = ({other})", f"({one}) <> ({other})"


def _compare_things(left: Term, comparison: Comparison, right: Term) -> Truth:
    if comparison not in {Comparison.EQUAL, Comparison.UNEQUAL}:
        return NEVER
    if left.kind is not right.kind:
        raise unsupported("a comparison of a node or an edge with something else")
    pairs = list(zip(left.sql, right.sql, strict=True))
    equal = " AND ".join(f"{one} = {other}" for one, other in pairs)
    truth = f"({equal})", f"NOT ({equal})"
    return truth if comparison is Comparison.EQUAL else negated(truth)


def single(term: Term) -> str:
    """Returns the SQL of a value that must not be a list. A list ends the query, for the evaluator to compare it."""
    if term.kind is not TermKind.VALUE or term.never_list:
        return encoded(term)
    value = term.one
    return f"CASE WHEN typeof({value}) = 'blob' AND length({value}) > 2 THEN kg_refuse() ELSE {value} END"


def single_of_property(term: Term) -> Term:
    """Returns the term of a value that must not be the list of a property's values: that ends the query, as above."""
    if not term.of_property or term.never_list:
        return term
    return replace(term, sql=(single(term),), never_list=True)


def _same_type(left: Term, right: Term) -> str:
    """Returns the SQL test that two values, of which at least one has an unknown type, have the same type."""
    if left.kind is TermKind.VALUE and right.kind is TermKind.VALUE:
        number = [f"(typeof({each.one}) IN ('integer', 'real'))" for each in (left, right)]
        text = [f"(typeof({each.one}) = 'text')" for each in (left, right)]
        return f"{' = '.join(number)} AND {' = '.join(text)}"
    value, known = (left, right) if left.kind is TermKind.VALUE else (right, left)
    return (_TYPE_TESTS[known.kind] or "typeof({}) = 'blob'").format(value.one)


def _text_test(comparison: Comparison, text: str, part: str) -> str:
    match comparison:
        case Comparison.CONTAINS:
            return f"instr({text}, {part}) > 0"
        case Comparison.STARTS_WITH:
            return f"substr({text}, 1, length({part})) = {part}"
        case Comparison.ENDS_WITH:
            return f"length({part}) = 0 OR substr({text}, -length({part})) = {part}"
        case Comparison.MATCHES:
            return f"kg_matches({text}, {part})"
        case _:
            raise TypeError(f"{comparison} is no comparison of two texts")
