"""A query under construction: its parameters, aliases, tables and terms."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.plan import Comparison, Connective, Function, Scalar
from kgnav_mcp.values.functions import FUNCTIONS, Kind

_MAX_LENGTH = 60_000
"""Characters of a query, at most. SQLite accepts 64 KiB."""

_LISTS = frozenset((Kind.LIST, Kind.ANY))
_TEXTS = frozenset((Kind.TEXT, Kind.ANY, Kind.LIST))
"""The kinds of results that may be texts, or have some, which may be written as dates."""
_PARAMETER = re.compile(r"\?([0-9]+)")


def unsupported(what: str) -> Unsupported:
    """Returns the error for a part of a plan that SQL cannot express."""
    return Unsupported(
        f"a graph file does not run {what} as one query", next_step="The plan is evaluated over rows instead."
    )


class TermKind(StrEnum):
    """What an SQL expression represents."""

    NODE = "node"
    EDGE = "edge"
    HIDDEN = "hidden"
    """A path that the query does not use."""
    PATH_OR_LIST = "things"
    """A path, or a list of nodes or edges, in the JSON of `path_tables`."""
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    """1, 0 or null."""
    VALUE = "value"
    """Any single value or list of values, encoded as `value_encoding` does."""
    DATED = "dated"
    """A single value whose encoding keeps dates distinct from texts. Only used within comparisons."""


SINGLE = frozenset((TermKind.NUMBER, TermKind.TEXT, TermKind.TRUTH, TermKind.VALUE))
"""Kinds that take one SQL expression and can be passed to Python functions."""


@dataclass(frozen=True, slots=True)
class Term:
    """A value in SQL: one expression, or the four columns of an edge's key. A node is represented by its number."""

    kind: TermKind
    sql: tuple[str, ...]
    qualifiers: str = ""
    """For an edge, the SQL of its qualifiers as JSON; empty if they must be looked up."""
    may_be_date: bool = False
    """Whether it may be a date or a text that looks like one. Dates compare with both by their precision."""
    never_list: bool = False
    """Whether a term of kind VALUE is certainly not a list."""
    of_property: bool = False
    """Whether a list, or a member of it, may be the values of a property, which are compared by rules of their own."""
    never_null: bool = False
    """Whether it is certainly not null."""

    @property
    def one(self) -> str:
        """The expression, or the first of an edge's four. It is null if the edge is null."""
        return self.sql[0]


NULL = Term(TermKind.VALUE, ("NULL",))
Scope = Mapping[str, Term]
"""The terms of variables."""


@dataclass(slots=True)
class Statement:
    """A query under construction."""

    parameters: list[Parameter] = field(default_factory=list[Parameter])
    tables: list[str] = field(default_factory=list[str])
    read_once: set[str] = field(default_factory=set[str])
    """Tables that may be read by only one other table."""
    _aliases: int = 0

    def parameter(self, value: Parameter) -> str:
        """Adds a parameter, unless it has the same value as an earlier one, and returns its placeholder."""
        for place, known in enumerate(self.parameters):
            if type(known) is type(value) and known == value:
                return f"?{place + 1}"
        self.parameters.append(value)
        return f"?{len(self.parameters)}"

    def numbers(self, values: Iterable[object]) -> str:
        """Adds a parameter with a JSON list of values and returns its placeholder."""
        return self.parameter(json.dumps(list(values)))

    def among(self, value: str, values: Sequence[Parameter]) -> str:
        """Returns the SQL test that a value is one of these."""
        if len(values) == 1:
            return pieces.EQUAL.format(value=value, other=self.parameter(values[0]))
        return pieces.AMONG.format(value=value, values=self.numbers(values))

    def alias(self, letter: str) -> str:
        """Returns a new alias."""
        self._aliases += 1
        return f"{letter}{self._aliases}"

    def table(self, query: str, *, read_once: bool = False) -> str:
        """Adds a common table expression and returns its name.

        With `read_once`, SQLite may merge it into the query that reads it. Otherwise all its rows are computed exactly
        once, whichever page is shown, so that a value that stops the query stops it on every page.
        """
        name = self.alias("t")
        if read_once:
            self.read_once.add(name)
        self.tables.append(f"{name} AS {'NOT ' if read_once else ''}MATERIALIZED ({query})")
        return name

    def text(self, query: str) -> tuple[str, list[Parameter]]:
        """Returns the complete query and the values of its parameters.

        Raises:
            Unsupported: the query is too long.
        """
        text = f"WITH {', '.join(self.tables)} {query}" if self.tables else query
        if len(text) > _MAX_LENGTH:
            raise unsupported("a plan with this many alternatives")
        used = max((int(number) for number in _PARAMETER.findall(text)), default=0)
        return text, self.parameters[:used]


def columns(scope: Scope) -> tuple[list[str], dict[str, Term]]:
    """Returns the SELECT list that passes variables on, and their terms as columns of the result."""
    selected: list[str] = []
    result: dict[str, Term] = {}
    for name, term in scope.items():
        names = [f"c{len(selected) + place}" for place in range(len(term.sql))]
        selected += (f"{sql} AS {column}" for sql, column in zip(term.sql, names, strict=True))
        result[name] = replace(term, sql=tuple(names), qualifiers="")
    return selected, result


def within(scope: Scope, table: str) -> dict[str, Term]:
    """Returns the terms of variables as columns of this table."""
    return {
        name: replace(term, sql=tuple(f"{table}.{sql}" for sql in term.sql), qualifiers="")
        for name, term in scope.items()
    }


Truth = tuple[str, str]
"""SQL that is true if a condition is true, and SQL that is true if it is false.

If the condition is null, neither is true.
"""

NEVER: Truth = ("0", "0")


def negated(truth: Truth) -> Truth:
    """Returns the negation of a condition."""
    return truth[1], truth[0]


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


def any_holds(tests: list[tuple[str, Truth]]) -> Truth:
    """Combines tests of several values: true if one of them is true, false if there are values and all are false."""
    if len(tests) == 1 and not tests[0][0]:
        return tests[0][1]
    if not tests:
        return NEVER
    holds = [pieces.ANY.format(rows=f"{rows} AND ({test[0]})") for rows, test in tests]
    exists = [pieces.ANY.format(rows=rows) for rows, _ in tests]
    all_fail = [f"NOT {pieces.ANY.format(rows=f'{rows} AND NOT coalesce(({test[1]}), 0)')}" for rows, test in tests]
    return " OR ".join(holds), f"({' OR '.join(exists)}) AND {' AND '.join(all_fail)}"


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
            raise unsupported("a number of this size")
        case _ if not math.isfinite(value):
            raise unsupported("infinity and NaN")
        case _:
            return Term(TermKind.NUMBER, (statement.parameter(value),))


def encoded(term: Term) -> str:
    """Returns the SQL of a term in the encoding for values of any kind: truth values become blobs."""
    return f"CASE {term.one} WHEN 1 THEN x'6231' WHEN 0 THEN x'6230' END" if term.kind is TermKind.TRUTH else term.one


def of_single(function: Function, *terms: Term) -> Term:
    """Returns the term of a function of values."""
    gives = FUNCTIONS[function].gives
    dated = gives in _TEXTS and (function is not Function.TEXT or terms[0].may_be_date)
    kind = TermKind.TEXT if gives is Kind.TEXT and function is not Function.TEXT else TermKind.VALUE
    sql = f"kg_call('{function}', {', '.join(map(encoded, terms))})"
    return Term(kind, (sql,), may_be_date=dated, never_list=gives not in _LISTS)


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
    left, right = single_of_property(left), single_of_property(right)
    if TermKind.DATED in kinds:
        test = f"kg_compare('{comparison}', {encoded(left)}, {encoded(right)})"
        return f"{test} = 1", f"{test} = 0"
    if left.may_be_date and right.may_be_date and TermKind.VALUE in kinds and comparison in BY_PRECISION:
        raise unsupported("a comparison of dates that an earlier clause returned")
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
    """Returns the SQL of a value that must not be a list.

    At run time a list ends the query, and the plan is evaluated instead.
    """
    if term.kind is not TermKind.VALUE or term.never_list:
        return encoded(term)
    value = term.one
    return f"CASE WHEN typeof({value}) = 'blob' AND length({value}) > 2 THEN kg_refuse() ELSE {value} END"


def single_of_property(term: Term) -> Term:
    """Returns the term of a value that must not be the list of a property's values.

    Such a list ends the query, as in `single`.
    """
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
            raise TypeError(f"{comparison} does not compare two texts")


def all_single(terms: list[Term]) -> list[Term]:
    """Returns these terms if each is a single value.

    Raises:
        Unsupported: a term is a node, an edge or a path.
    """
    if not all(term.kind in SINGLE for term in terms):
        raise unsupported("a function of nodes, edges or paths")
    return terms


def encoded_values(terms: list[Term]) -> list[str]:
    """Returns the SQL of single values, encoded for Python's functions.

    Raises:
        Unsupported: a term is a node, an edge or a path.
    """
    return [encoded(term) for term in all_single(terms)]
