"""Compiles values and conditions over the variables of a plan.

A condition becomes two SQL expressions: one for when it is true, one for when it is false. SQL's three-valued logic is
not enough, because plans have their own rules for properties with several values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise, product
from typing import Protocol

from kgnav_mcp.adapters.embedded.plans.names import NameResolver, Properties, TextTest, Values, rows_of
from kgnav_mcp.adapters.embedded.plans.statement import (
    BY_PRECISION,
    NEVER,
    NULL,
    SINGLE,
    Scope,
    Statement,
    Term,
    TermKind,
    Truth,
    all_single,
    any_holds,
    compile_comparison,
    constant,
    encoded,
    encoded_values,
    joined,
    negated,
    of_single,
    single,
    single_of_property,
    unsupported,
)
from kgnav_mcp.adapters.embedded.plans.value_encoding import NotEncodableError, Stored, empty_list, encode
from kgnav_mcp.adapters.embedded.queries import plans as pieces
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
    Match,
    Not,
    Property,
    Scalar,
    Variable,
)
from kgnav_mcp.plan.walking import id_condition
from kgnav_mcp.values.functions import FUNCTIONS

_ENDS = frozenset((Function.HEAD, Function.LAST))


def compile_call(compiler: ExpressionCompiler, function: Function, arguments: tuple[Expression, ...]) -> Term:
    """Returns the term of a function call on values, a node, an edge or a path.

    Raises:
        Unsupported: SQL cannot express this function of these arguments.
    """
    terms = [compiler.value(argument) for argument in arguments]
    if function is Function.COALESCE:
        sql = f"coalesce({', '.join(f'({each})' for each in encoded_values(terms))}, NULL)"
        return _combined(sql, terms)
    if FUNCTIONS[function].compute is None or terms[0].kind not in SINGLE:
        return _of_graph(compiler, function, terms[0])
    if function in _ENDS:
        (term,) = terms
        sql = f"kg_call('{function}', {encoded(term)})"
        return Term(TermKind.VALUE, (sql,), may_be_date=term.may_be_date, of_property=term.of_property)
    return of_single(function, *map(single_of_property, all_single(terms)))


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


def compile_arithmetic(compiler: ExpressionCompiler, expression: Arithmetic) -> Term:
    """Returns the term of an arithmetic expression."""
    terms = [compiler.value(expression.left), compiler.value(expression.right)]
    one, other = encoded_values(terms)
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
    return _combined(f"kg_list({', '.join(encoded_values(terms))})", terms)


def compile_case(compiler: ExpressionCompiler, expression: Case) -> Term:
    """Returns the term of a CASE expression: the value of the first branch whose condition is true."""
    terms = [compiler.value(value) for value in (*(value for _, value in expression.branches), expression.otherwise)]
    *values, otherwise = encoded_values(terms)
    conditions = (compiler.holds(condition) for condition, _ in expression.branches)
    branches = " ".join(f"WHEN {one} THEN {value}" for one, value in zip(conditions, values, strict=True))
    return _combined(f"CASE {branches} ELSE {otherwise} END", terms)


def _encoded_list(values: Sequence[Scalar]) -> Stored:
    try:
        return encode(tuple(values))
    except NotEncodableError as error:
        raise unsupported("a list with values that SQLite cannot store") from error


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


_MAX_MIXED_ITEMS = 20
"""Members of a list with values of mixed types, at most. Lists of ids, texts or integers may have any length."""


def _property_values(
    compiler: ExpressionCompiler, owned: Expression, *, dated: bool, wanted: TextTest | None = None
) -> list[Values] | None:
    """Returns the values of a property, or the results of a function of each; None for any other expression.

    Also None if the property has at most one value. `wanted`: a property is only compared with its texts.
    """
    match owned:
        case Property(owner):
            return compiler.properties.values(compiler.variable(owner), owned, dated=dated, wanted=wanted)
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
        for owned, other in ((left, right), (right, left)):
            holds = _after_cheap_test(compiler, owned, [other], holds)
    return holds, fails


def compile_chain(
    compiler: ExpressionCompiler,
    operands: Sequence[Expression],
    comparisons: Sequence[Comparison],
    *,
    of_members: bool = False,
) -> Truth:
    """Compiles comparisons of adjacent operands. All must be true for one choice of the values of properties.

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
        wanted = _texts_beside(compiler, operands[1 - place]) if comparisons == (Comparison.EQUAL,) else None
        sides.append(_property_values(compiler, operand, dated=dated, wanted=wanted))
    terms = [compiler.value(operand) if side is None else NULL for operand, side in zip(operands, sides, strict=True)]
    tests: list[tuple[str, Truth]] = []
    for chosen in product(*(side if side is not None else [None] for side in sides)):
        values = [term if one is None else one.term for one, term in zip(chosen, terms, strict=True)]
        truths = [compile_comparison(*link) for link in zip(values, comparisons, values[1:], strict=False)]
        truth = truths[0] if len(truths) == 1 else joined(Connective.AND, truths)
        tests.append((rows_of([each for each in chosen if each is not None]), truth))
    truth = any_holds(tests)
    return truth if of_members else _without_two_lists(sides, truth)


def _texts_beside(compiler: ExpressionCompiler, other: Expression) -> TextTest | None:
    """The test whether a text equals the other operand of a comparison: a constant, or a node's id or name."""
    match other:
        case Constant(str(text)):
            return partial(compiler.statement.among, values=[text])
        case Call(Function.ID, (Variable(name),)):
            pass
        case Property(name, property_name, ()) if property_name == NAME:
            pass
        case _:
            return None
    if compiler.variable(name).kind is not TermKind.NODE:
        return None
    node_text = compiler.value(other).one
    return lambda text: pieces.EQUAL.format(value=text, other=node_text)


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


def _after_cheap_test(compiler: ExpressionCompiler, owned: Expression, others: Sequence[Expression], holds: str) -> str:
    """Returns the SQL test that a property equals one of these expressions, after a cheaper one where that exists."""
    if not isinstance(owned, Property) or len(others) > _MAX_MIXED_ITEMS:
        return holds
    owner = compiler.variable(owned.owner)
    tests = [compiler.properties.may_equal(owner, owned, other) for other in others]
    return f"({' OR '.join(tests)}) AND ({holds})" if all(tests) else holds


def _is_no_date(expression: Expression) -> bool:
    """Whether an expression is a constant that does not look like a date."""
    return isinstance(expression, Constant) and not constant(Statement(), expression.value).may_be_date


def _compare_ids(compiler: ExpressionCompiler, expression: Compare) -> Truth | None:
    """Compiles a comparison of a node's id with constant ids; returns None for any other comparison."""
    equal = expression.comparison is not Comparison.UNEQUAL
    ids = id_condition(expression if equal else replace(expression, comparison=Comparison.EQUAL))
    if ids is None:
        return None
    name, texts = ids
    if not texts:
        return "0", "1"
    owner = compiler.variable(name)
    if owner.kind is not TermKind.NODE:
        return None
    numbers = compiler.words.nodes(texts)
    test = compiler.statement.among(owner.one, numbers)
    truth = test, f"{owner.one} IS NOT NULL AND NOT ({test})"
    return truth if equal else negated(truth)


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
    texts = [item.value for item in items if isinstance(item.value, str)]
    wanted = partial(compiler.statement.among, values=texts)
    sides = _property_values(compiler, left, dated=not all(map(_is_no_date, items)), wanted=wanted)
    ones = [("", compiler.value(left))] if sides is None else [(rows_of([side]), side.term) for side in sides]
    holds, fails = any_holds([(rows, _in_constants(compiler, term, items)) for rows, term in ones])
    return _after_cheap_test(compiler, left, items, holds), fails


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
    return any_holds(tests)


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
        raise unsupported("a list of this length with values of this type")
    return joined(Connective.OR, [compile_comparison(term, Comparison.EQUAL, compiler.value(item)) for item in items])


class MatchQueries(Protocol):
    """Returns queries with one row for each match of a pattern, given the variables of a scope."""

    def __call__(self, match: Match, scope: Scope) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class ExpressionCompiler:
    """Compiles expressions over the variables of one scope."""

    statement: Statement
    words: NameResolver
    scope: Scope
    match_queries: MatchQueries
    aggregated: Callable[[Aggregate], Term] | None = None
    """Compiles the aggregates of a projection; None outside of projections."""
    known: Mapping[Expression, Term] = field(default_factory=dict[Expression, Term])
    """Terms of expressions that the rows already have as columns."""

    def holds(self, expression: Expression) -> str:
        """Returns the SQL that is true if a condition is true."""
        return self.truth(expression)[0]

    def truth(self, expression: Expression) -> Truth:  # noqa: C901, PLR0911 - one for each kind
        """Returns the SQL for when a condition is true and for when it is false."""
        match expression:
            case Compare():
                return compile_compare(self, expression)
            case ComparisonChain(values, comparisons):
                return compile_chain(self, values, comparisons)
            case Joined(connective, parts):
                return joined(connective, [self.truth(part) for part in parts])
            case Not(condition):
                return negated(self.truth(condition))
            case IsNull(value):
                return self._missing(value)
            case HasLabel(variable, labels):
                return self._has_label(self.variable(variable), labels)
            case During():
                return during(self, expression)
            case Exists(match):
                found = " OR ".join(f"EXISTS ({query})" for query in self.match_queries(match, self.scope))
                return f"({found})", f"NOT ({found})"
            case _:
                term = self.value(expression)
                if term.kind is TermKind.TRUTH:
                    return f"({term.one}) = 1", f"({term.one}) = 0"
                if term.kind is TermKind.VALUE:
                    return f"({term.one}) = x'6231'", f"({term.one}) = x'6230'"
                return NEVER

    def value(self, expression: Expression) -> Term:  # noqa: C901, PLR0911, PLR0912 - one for each kind
        """Returns the term of an expression."""
        if expression in self.known:
            return self.known[expression]
        match expression:
            case Constant(value):
                return constant(self.statement, value)
            case Variable(name):
                return self.variable(name)
            case Property():
                return self.properties.first(self.variable(expression.owner), expression)
            case Call(function, arguments):
                return compile_call(self, function, arguments)
            case Arithmetic():
                return compile_arithmetic(self, expression)
            case ListOf():
                return compile_list(self, expression)
            case Case():
                return compile_case(self, expression)
            case CountOf(match):
                counts = [pieces.NUMBER.format(rows=f"({query})") for query in self.match_queries(match, self.scope)]
                return Term(TermKind.NUMBER, (" + ".join(counts),))
            case Aggregate() if self.aggregated is not None:
                return self.aggregated(expression)
            case Compare() | ComparisonChain() | Joined() | Not() | IsNull() | HasLabel() | Exists() | During():
                holds, fails = self.truth(expression)
                return Term(TermKind.TRUTH, (f"CASE WHEN {holds} THEN 1 WHEN {fails} THEN 0 END",))
            case Aggregate():
                raise TypeError("an aggregate is only possible in a projection")
            case _:
                raise unsupported("slices of lists, and conditions on their members")

    def variable(self, name: str) -> Term:
        """Returns the term of a variable."""
        return self.scope[name]

    @property
    def properties(self) -> Properties:
        """The compiler for reads of properties."""
        return Properties(self.statement, self.words)

    def _missing(self, value: Expression) -> Truth:
        if isinstance(value, Property):
            found = self.properties.values(self.variable(value.owner), value)
            if found is not None:
                some = " OR ".join(pieces.ANY.format(rows=rows_of([each])) for each in found) or "0"
                return f"NOT ({some})", f"({some})"
        term = self.value(value)
        if term.kind is TermKind.HIDDEN:
            raise unsupported("whether a path is missing")
        return f"({term.one}) IS NULL", f"({term.one}) IS NOT NULL"

    def _has_label(self, owner: Term, labels: tuple[str, ...]) -> Truth:
        if owner.kind is TermKind.NODE:
            test = self.labelled(owner.one, labels)
            return test, f"{owner.one} IS NOT NULL AND NOT ({test})"
        if owner.kind is TermKind.EDGE:
            test = pieces.AMONG.format(value=f"kg_relation({owner.sql[1]})", values=self.statement.numbers(labels))
            return f"{owner.one} IS NOT NULL AND {test}", f"{owner.one} IS NOT NULL AND NOT ({test})"
        return NEVER

    def labelled(self, node: str, group: tuple[str, ...]) -> str:
        """Returns the SQL test that a node has one of these labels."""
        numbers = [entry.id for entry in self.words.labels(group)]
        if not numbers:
            return "0"
        if len(numbers) == 1:
            return pieces.HAS_LABEL.format(node=node, label=numbers[0])
        return pieces.HAS_ONE_LABEL.format(node=node, labels=self.statement.numbers(numbers))

    def key(self, node: str) -> str:
        """Returns the SQL of a node's printed id."""
        key = pieces.KEY.format(node=node)
        if not self.words.builder.prefixes.namespaces:
            return f"+{key}"
        return f"CASE WHEN {node} IS NOT NULL THEN kg_short({key}) END"
