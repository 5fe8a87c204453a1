"""Compiles functions, arithmetic, lists and `during`. Where SQLite's meaning differs, the SQL calls Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgnav_mcp.adapters.embedded.plans.comparisons import constant, encoded, single_of_property
from kgnav_mcp.adapters.embedded.plans.statement import SINGLE, Statement, Term, TermKind, unsupported
from kgnav_mcp.adapters.embedded.plans.value_encoding import NotEncodableError, Stored, empty_list, encode
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import Arithmetic, ArithmeticOperator, Constant, During, Expression, Function, ListOf, Scalar
from kgnav_mcp.values.functions import FUNCTIONS, Kind

if TYPE_CHECKING:
    from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler

_ENDS = frozenset((Function.HEAD, Function.LAST))
_LISTS = frozenset((Kind.LIST, Kind.ANY))
_TEXTS = frozenset((Kind.TEXT, Kind.ANY, Kind.LIST))
"""The kinds of results that may be texts, or have some, which may be written as dates."""


def compile_call(compiler: ExpressionCompiler, function: Function, arguments: tuple[Expression, ...]) -> Term:
    """Returns the term of a function call on values, a node, an edge or a path.

    Raises:
        Unsupported: SQL cannot express this function of these arguments.
    """
    terms = [compiler.value(argument) for argument in arguments]
    if function is Function.COALESCE:
        sql = f"coalesce({', '.join(f'({each})' for each in _encoded_values(terms))}, NULL)"
        return _combined(sql, terms)
    if FUNCTIONS[function].compute is None or terms[0].kind not in SINGLE:
        return _of_graph(compiler, function, terms[0])
    if function in _ENDS:
        (term,) = terms
        sql = f"kg_call('{function}', {encoded(term)})"
        return Term(TermKind.VALUE, (sql,), may_be_date=term.may_be_date, of_property=term.of_property)
    return of_single(function, *map(single_of_property, _all_single(terms)))


def _of_graph(compiler: ExpressionCompiler, function: Function, term: Term) -> Term:  # noqa: PLR0911 - one for each
    """Returns the term of a function of a node, an edge, a path or a list of them."""
    match term.kind, function:
        case TermKind.NODE, Function.ID:
            return Term(TermKind.TEXT, (compiler.key(term.one),), may_be_date=True)
        case TermKind.NODE, Function.LABELS:
            names = f"coalesce({pieces.LABELS.format(node=term.one)}, {empty_list()})"
            return Term(TermKind.VALUE, (f"CASE WHEN {term.one} IS NOT NULL THEN {names} END",))
        case TermKind.EDGE, Function.TYPE:
            return Term(TermKind.TEXT, (f"kg_relation({term.sql[1]})",), may_be_date=True)
        case TermKind.EDGE, Function.START:
            return Term(TermKind.NODE, (term.sql[0],))
        case TermKind.EDGE, Function.END:
            return Term(TermKind.NODE, (term.sql[2],))
        case TermKind.PATH_OR_LIST, Function.LENGTH:
            return Term(TermKind.NUMBER, (f"json_array_length({term.one}, '$[2]')",))
        case TermKind.PATH_OR_LIST, Function.SIZE:
            return Term(TermKind.NUMBER, (f"json_array_length({term.one}) - 1",))
        case TermKind.PATH_OR_LIST, Function.NODES | Function.EDGES:
            return Term(TermKind.PATH_OR_LIST, (f"kg_part('{function.name.lower()}', {term.one})",))
        case _:
            raise unsupported(f"the function {function}")


def of_single(function: Function, *terms: Term) -> Term:
    """Returns the term of a function of values."""
    gives = FUNCTIONS[function].gives
    dated = gives in _TEXTS and (function is not Function.TEXT or terms[0].may_be_date)
    kind = TermKind.TEXT if gives is Kind.TEXT and function is not Function.TEXT else TermKind.VALUE
    sql = f"kg_call('{function}', {', '.join(map(encoded, terms))})"
    return Term(kind, (sql,), may_be_date=dated, never_list=gives not in _LISTS)


def _all_single(terms: list[Term]) -> list[Term]:
    if not all(term.kind in SINGLE for term in terms):
        raise unsupported("a function of nodes, edges or paths")
    return terms


def compile_arithmetic(compiler: ExpressionCompiler, expression: Arithmetic) -> Term:
    """Returns the term of an arithmetic expression."""
    terms = [compiler.value(expression.left), compiler.value(expression.right)]
    one, other = _encoded_values(terms)
    numbers = all(term.kind is TermKind.NUMBER for term in terms)
    texts = not numbers and expression.operator is ArithmeticOperator.ADD
    sql = f"kg_calculate('{expression.operator}', {one}, {other})"
    return Term(TermKind.NUMBER if numbers else TermKind.VALUE, (sql,), may_be_date=texts, never_list=not texts)


def compile_list(compiler: ExpressionCompiler, expression: ListOf) -> Term:
    """Returns the term of a list of values."""
    values = [item.value for item in expression.items if isinstance(item, Constant)]
    if len(values) == len(expression.items):
        sql = compiler.statement.parameter(_encoded_list(values))
        return _combined(sql, [constant(Statement(), value) for value in values])
    terms = [compiler.value(item) for item in expression.items]
    return _combined(f"kg_list({', '.join(_encoded_values(terms))})", terms)


def _encoded_list(values: Sequence[Scalar]) -> Stored:
    try:
        return encode(tuple(values))
    except NotEncodableError as error:
        raise unsupported("a list with values that SQLite does not have") from error


def _combined(sql: str, terms: list[Term]) -> Term:
    """Returns the term of a value that is one of these, or a list of them."""
    may_be_date, of_property = any(term.may_be_date for term in terms), any(term.of_property for term in terms)
    return Term(TermKind.VALUE, (sql,), may_be_date=may_be_date, of_property=of_property)


def during(compiler: ExpressionCompiler, expression: During) -> tuple[str, str]:
    """Returns the condition that an edge was valid during a period, and its negation."""
    edge = compiler.variable(expression.edge)
    if edge.kind is not TermKind.EDGE:
        raise unsupported("the time of a value that is not an edge")
    statement, words = compiler.statement, compiler.words
    keys = [statement.numbers(words.qualifier_keys(ids)) for ids in (expression.from_ids, expression.to_ids)]
    ends = [statement.parameter(end) for end in (expression.begin, expression.end)]
    test = f"kg_during({', '.join([compiler.properties.qualifiers(edge), *keys, *ends])})"
    return f"{edge.one} IS NOT NULL AND {test} = 1", f"{edge.one} IS NOT NULL AND {test} = 0"


def _encoded_values(terms: list[Term]) -> list[str]:
    """Returns the SQL of single values, encoded for Python's functions.

    Raises:
        Unsupported: a term is a node, an edge or a path.
    """
    return [encoded(term) for term in _all_single(terms)]
