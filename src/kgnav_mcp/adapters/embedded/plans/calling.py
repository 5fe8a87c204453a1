"""Compiles functions, arithmetic, lists and `during`. Where SQLite's meaning differs, the SQL calls Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgnav_mcp.adapters.embedded.plans.comparing import encoded
from kgnav_mcp.adapters.embedded.plans.encoding import empty_list
from kgnav_mcp.adapters.embedded.plans.statement import SINGLE, Kind, Term, refused
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import Arithmetic, ArithmeticOperator, During, Expression, Function, ListOf
from kgnav_mcp.port.calculating import FUNCTIONS

if TYPE_CHECKING:
    from kgnav_mcp.adapters.embedded.plans.expressions import Asking

_LIST_FUNCTIONS = frozenset((Function.SIZE, Function.FIRST, Function.LAST))
_KEEPS_DATES = frozenset((Function.TEXT, Function.FIRST, Function.LAST))
_TEXT_FUNCTIONS = frozenset((Function.LOWER, Function.UPPER))


def called(compiler: Asking, function: Function, arguments: tuple[Expression, ...]) -> Term:  # noqa: C901, PLR0911 - words
    """Returns the term of a function call on values, a node, an edge or a path.

    Raises:
        Unsupported: SQL cannot express this function of these arguments.
    """
    terms = [compiler.value(argument) for argument in arguments]
    if function is Function.COALESCE:
        sql = f"coalesce({', '.join(f'({each})' for each in _encoded_values(terms))}, NULL)"
        return Term(Kind.VALUE, (sql,), dated=any(term.dated for term in terms))
    (term,) = terms
    match term.kind, function:
        case Kind.NODE, Function.ID:
            return Term(Kind.TEXT, (compiler.key(term.one),), dated=True)
        case Kind.NODE, Function.LABELS:
            names = f"coalesce({pieces.LABELS.format(node=term.one)}, {empty_list()})"
            return Term(Kind.VALUE, (f"CASE WHEN {term.one} IS NOT NULL THEN {names} END",))
        case Kind.EDGE, Function.TYPE:
            return Term(Kind.TEXT, (f"kg_relation({term.sql[1]})",), dated=True)
        case Kind.EDGE, Function.START:
            return Term(Kind.NODE, (term.sql[0],))
        case Kind.EDGE, Function.END:
            return Term(Kind.NODE, (term.sql[2],))
        case Kind.THINGS, Function.LENGTH:
            return Term(Kind.NUMBER, (f"json_array_length({term.one}, '$[2]')",))
        case Kind.THINGS, Function.SIZE:
            return Term(Kind.NUMBER, (f"json_array_length({term.one}) - 1",))
        case Kind.THINGS, Function.NODES | Function.EDGES:
            return Term(Kind.THINGS, (f"kg_part('{function.name.lower()}', {term.one})",))
        case kind, _ if kind in SINGLE and function in FUNCTIONS.keys() | _LIST_FUNCTIONS:
            kind = Kind.TEXT if function in _TEXT_FUNCTIONS else Kind.VALUE
            dated = function in _TEXT_FUNCTIONS or (function in _KEEPS_DATES and term.dated)
            sql = f"kg_call('{function}', {encoded(term)})"
            return Term(kind, (sql,), dated=dated, single=function not in _LIST_FUNCTIONS - {Function.SIZE})
        case _:
            raise refused(f"the function {function}")


def calculated(compiler: Asking, expression: Arithmetic) -> Term:
    """Returns the term of an arithmetic expression."""
    terms = [compiler.value(expression.left), compiler.value(expression.right)]
    one, other = _encoded_values(terms)
    numbers = all(term.kind is Kind.NUMBER for term in terms)
    texts = not numbers and expression.operator is ArithmeticOperator.ADD
    sql = f"kg_calculate('{expression.operator}', {one}, {other})"
    return Term(Kind.NUMBER if numbers else Kind.VALUE, (sql,), dated=texts, single=True)


def listed(compiler: Asking, expression: ListOf) -> Term:
    """Returns the term of a list of values."""
    terms = [compiler.value(item) for item in expression.items]
    sql = f"kg_list({', '.join(_encoded_values(terms))})" if terms else empty_list()
    return Term(Kind.VALUE, (sql,), dated=any(term.dated for term in terms))


def during(compiler: Asking, expression: During) -> tuple[str, str]:
    """Returns the condition that an edge was valid during a period, and its negation."""
    edge = compiler.variable(expression.edge)
    if edge.kind is not Kind.EDGE:
        raise refused("the time of what is no edge")
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
    if not all(term.kind in SINGLE for term in terms):
        raise refused("a function of nodes, edges or paths")
    return [encoded(term) for term in terms]
