"""Values and conditions in Cypher and in GQL, and the algebra that they are."""

import pytest

from kgnav_mcp.languages.cypher import parse_cypher, write_part
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
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
    Match,
    NodePattern,
    Not,
    Property,
    Quantified,
    Quantifier,
    Reduction,
    Scalar,
    Slice,
    Variable,
)
from kgnav_mcp.values.functions import FUNCTIONS
from tests.languages.cypher_plans import A_X, A_Y, B_X, ONE, A, B, both, condition, edge, equal, value

TWO, THREE = Constant(2), Constant(3)
X_IS_1 = equal(A_X, 1)
ADD, SUBTRACT, MULTIPLY, POWER = (
    ArithmeticOperator.ADD,
    ArithmeticOperator.SUBTRACT,
    ArithmeticOperator.MULTIPLY,
    ArithmeticOperator.POWER,
)


def less(left: Expression, right: Expression) -> Compare:
    return Compare(left, Comparison.LESS, right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.x <> 1", Compare(A_X, Comparison.UNEQUAL, ONE)),
        ("a.x != 1", Compare(A_X, Comparison.UNEQUAL, ONE)),
        ("1 < a.x <= 3", ComparisonChain((ONE, A_X, THREE), (Comparison.LESS, Comparison.AT_MOST))),
        ("1 < a.x AND a.x <= 3", both(less(ONE, A_X), Compare(A_X, Comparison.AT_MOST, THREE))),
        ("1 < a.x = 3", both(less(ONE, A_X), equal(A_X, 3))),
        ("(1 < a.x) = true", Compare(less(ONE, A_X), Comparison.EQUAL, Constant(True))),
        ("a.x IN [1, 2]", Compare(A_X, Comparison.IN, ListOf((ONE, TWO)))),
        ("a.x NOT IN [1]", Not(Compare(A_X, Comparison.IN, ListOf((ONE,))))),
        ("NOT a.x IN [1]", Not(Compare(A_X, Comparison.IN, ListOf((ONE,))))),
        ("a.x CONTAINS 'u'", Compare(A_X, Comparison.CONTAINS, Constant("u"))),
        ("a.x starts with 'u'", Compare(A_X, Comparison.STARTS_WITH, Constant("u"))),
        ("a.x ENDS WITH 'u'", Compare(A_X, Comparison.ENDS_WITH, Constant("u"))),
        ("a.x =~ '.*u'", Compare(A_X, Comparison.MATCHES, Constant(".*u"))),
        ("a.x IS NULL", IsNull(A_X)),
        ("a.x IS NOT NULL", Not(IsNull(A_X))),
        ("exists(a.x)", Not(IsNull(A_X))),
        ("a:Film", HasLabel("a", ("Film",))),
        ("a:A|B", HasLabel("a", ("A", "B"))),
        ("a:A:B", both(HasLabel("a", ("A",)), HasLabel("a", ("B",)))),
        ("a:!A", Not(HasLabel("a", ("A",)))),
        ("r:R", HasLabel("r", ("R",))),
        ("a.x = 1 AND a.y AND NOT b.x", both(X_IS_1, A_Y, Not(B_X))),
        (
            "a.x OR a.y XOR b.x AND a.x",
            Joined(Connective.OR, (A_X, Joined(Connective.XOR, (A_Y, both(B_X, A_X))))),
        ),
        ("(a.x OR a.y) AND b.x", both(Joined(Connective.OR, (A_X, A_Y)), B_X)),
        ("(a)--(b)", Exists(Match((A, B), (edge("a", "b", either=True),)))),
        ("NOT (a)-[:R]->(:C)", Not(Exists(Match((A, NodePattern("@2", (("C",),))), (edge("a", "@2", "R"),))))),
        ("exists((a)-->(b))", Exists(Match((A, B), (edge("a", "b"),)))),
        (
            "EXISTS { (a)-->(c) WHERE c.x = a.x }",
            Exists(
                Match(
                    (A, NodePattern("c")), (edge("a", "c"),), where=Compare(Property("c", "x"), Comparison.EQUAL, A_X)
                )
            ),
        ),
        ("EXISTS { MATCH (a)-->(b) RETURN b }", Exists(Match((A, B), (edge("a", "b"),)))),
        ("COUNT { (a)-->(b) } > 1", Compare(CountOf(Match((A, B), (edge("a", "b"),))), Comparison.GREATER, ONE)),
        ("size((a)-->(b)) > 1", Compare(CountOf(Match((A, B), (edge("a", "b"),))), Comparison.GREATER, ONE)),
        ("during(r, '1990', null)", During("r", "1990", None)),
        ("r.start < date('1990-01-31')", less(Property("r", "start"), Constant("1990-01-31"))),
    ],
)
def test_a_condition_is_read_as(text: str, expected: Expression):
    assert condition(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-1", -1),
        ("-9223372036854775808", -(2**63)),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-2.5E-3", -0.0025),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("'it\\'s'", "it's"),
        ('"it\'s \\"so\\""', 'it\'s "so"'),
        ("'a\\nb\\t\\\\'", "a\nb\t\\"),
        ("'\\u00e9\\U0001F600'", "é😀"),
        ("'// no comment'", "// no comment"),
    ],
)
def test_a_literal_is_read_as(text: str, expected: Scalar):
    read = value(text)
    assert isinstance(read, Constant)
    assert (read.value, type(read.value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", Arithmetic(ONE, ADD, Arithmetic(TWO, MULTIPLY, THREE))),
        ("(1 + 2) * 3", Arithmetic(Arithmetic(ONE, ADD, TWO), MULTIPLY, THREE)),
        ("1 - 2 - 3", Arithmetic(Arithmetic(ONE, SUBTRACT, TWO), SUBTRACT, THREE)),
        ("1 -2", Arithmetic(ONE, SUBTRACT, TWO)),
        ("-1 ^ 2", Arithmetic(Constant(-1), POWER, TWO)),
        ("-a.x", Arithmetic(Constant(0), SUBTRACT, A_X)),
        ("'u' || 'v'", Arithmetic(Constant("u"), ADD, Constant("v"))),
        ("[1, [2], a.x]", ListOf((ONE, ListOf((TWO,)), A_X))),
        ("a['x']", A_X),
        ("a.`wdt:P577`", Property("a", "wdt:P577")),
        ("a.wdt:P577", Property("a", "wdt:P577")),
        ("a.film.genre", Property("a", "film.genre")),
        ("a.match", Property("a", "match")),
        ("xs[0]", Call(Function.HEAD, (Variable("xs"),))),
        ("xs[-1]", Call(Function.LAST, (Variable("xs"),))),
        ("id(a)", Call(Function.ID, (Variable("a"),))),
        ("ELEMENTID(a)", Call(Function.ID, (Variable("a"),))),
        ("coalesce(a.x, a.y, 1)", Call(Function.COALESCE, (A_X, A_Y, ONE))),
        ("length(p)", Call(Function.LENGTH, (Variable("p"),))),
        ("count(*)", Aggregate(AggregateFunction.COUNT, None)),
        ("count(DISTINCT b)", Aggregate(AggregateFunction.COUNT, Variable("b"), distinct=True)),
        ("sum(a.x) / 2", Arithmetic(Aggregate(AggregateFunction.SUM, A_X), ArithmeticOperator.DIVIDE, TWO)),
        ("collect(a.x)", Aggregate(AggregateFunction.COLLECT, A_X)),
    ],
)
def test_a_value_is_read_as(text: str, expected: Expression):
    assert value(text) == expected


@pytest.mark.parametrize("function", Function)
def test_every_function_of_plans_is_called_as_it_is_named(function: Function):
    number = len(FUNCTIONS[function].takes)
    assert value(f"{function}({', '.join('a' * number)})") == Call(function, (Variable("a"),) * number)


LABELS = Call(Function.LABELS, (Variable("a"),))
X = Variable("x")
CHOSEN = Case(((Compare(X, Comparison.EQUAL, ONE), TWO),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CASE WHEN a.x = 1 THEN a.y ELSE 2 END", Case(((Compare(A_X, Comparison.EQUAL, ONE), A_Y),), TWO)),
        ("CASE a.x WHEN 1 THEN a.y END", Case(((Compare(A_X, Comparison.EQUAL, ONE), A_Y),))),
        ("labels(a)[1]", Element(LABELS, ONE)),
        ("labels(a)[1..2]", Slice(LABELS, ONE, TWO)),
        ("labels(a)[..2]", Slice(LABELS, None, TWO)),
        ("labels(a)[1..]", Slice(LABELS, ONE, None)),
        ("labels(a)[1..1]", Slice(LABELS, ONE, ONE)),
        ("[(a.x IN labels(a))]", ListOf((Compare(A_X, Comparison.IN, LABELS),))),
        ("[1 IN labels(a)]", ListOf((Compare(ONE, Comparison.IN, LABELS),))),
        ("[x IN labels(a) | CASE x WHEN 1 THEN 2 END]", Comprehension("x", LABELS, None, CHOSEN)),
        ("[x IN labels(a) | CASE WHEN x = 1 THEN 2 END]", Comprehension("x", LABELS, None, CHOSEN)),
        ("[x IN labels(a) WHERE x = 1 | 2]", Comprehension("x", LABELS, Compare(X, Comparison.EQUAL, ONE), TWO)),
        ("[x IN labels(a) | x]", Comprehension("x", LABELS, None, X)),
        ("[a IN labels(a) | a]", Comprehension("a_1", LABELS, None, Variable("a_1"))),
        ("ANY(x IN labels(a) WHERE x = 1)", Quantified(Quantifier.ANY, "x", LABELS, Compare(X, Comparison.EQUAL, ONE))),
        (
            "reduce(s = 1, x IN labels(a) | s + x)",
            Reduction("s", ONE, "x", LABELS, Arithmetic(Variable("s"), ArithmeticOperator.ADD, X)),
        ),
        ("percentileCont(a.x, 0.5)", Aggregate(AggregateFunction.PERCENTILE, A_X, share=0.5)),
    ],
)
def test_what_is_said_of_cases_and_lists_is_read_as(text: str, expected: Expression):
    assert value(text) == expected
    assert value(write_part(expected)) == expected


def test_a_list_of_the_members_of_a_list_is_a_comprehension():
    assert value("[x IN labels(a)]") == Comprehension("x", LABELS, None, None)


@pytest.mark.parametrize("subquery", ["EXISTS { (a)-->() }", "COUNT { MATCH (a)-->() }"])
def test_a_subquery_may_be_the_value_of_a_comprehension(subquery: str):
    assert value(f"[x IN labels(a) | {subquery}]") == Comprehension("x", LABELS, None, value(subquery))


@pytest.mark.parametrize("name", ["CASE", "count", "Exists", "COLLECT"])
@pytest.mark.parametrize("rest", ["", " {name: 'x'}", " WHERE a.x = 1", "&B", "|B"])
def test_the_words_of_values_are_names_among_alternative_labels(name: str, rest: str):
    (match, *_) = parse_cypher(f"MATCH (a:A|{name}{rest}) RETURN a").pipelines[0].clauses
    assert name in repr(match)
