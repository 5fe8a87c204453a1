"""Values of rows: literals as Python has them, comparisons with three outcomes, functions, dates."""

from __future__ import annotations

import math

import pytest

from kgnav_mcp.model import Literal
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import (
    Arithmetic,
    ArithmeticOperator,
    Connective,
    Constant,
    During,
    Expression,
    Function,
    Joined,
    ListOf,
    Not,
    Scalar,
    Unwind,
)
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.values.scalars import Date, scalar
from tests.navigation.plans.writing import (
    called,
    compared,
    constant,
    edge,
    give,
    is_id,
    matching,
    named,
    node,
    of,
    plan,
    rows,
)

FULL = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (Literal("36", "xsd:integer"), 36),
        (Literal("-36", "integer"), -36),
        (Literal("36", FULL + "nonNegativeInteger"), 36),
        (Literal("7", "xsd:unsignedShort"), 7),
        (Literal("1.71", "xsd:decimal"), 1.71),
        (Literal("1e3", "float"), 1_000.0),
        (Literal("12", "quantity"), 12),
        (Literal("12.5", "quantity"), 12.5),
        (Literal("12 metre", "quantity"), "12 metre"),
        (Literal("true", "boolean"), True),
        (Literal("0", "xsd:boolean"), False),
        (Literal("INF", "xsd:double"), math.inf),
        (Literal("9007199254740993", "xsd:decimal"), 9007199254740993),
        (Literal("3", "xsd:decimal"), 3.0),
        (Literal("many", "xsd:integer"), "many"),
        (Literal("36"), "36"),
        (Literal("36", None, "en"), "36"),
        (Literal("1815-12-10", "xsd:date"), "1815-12-10"),
    ],
)
def test_literals_are_the_values_of_python_that_their_datatypes_say(literal: Literal, expected: Scalar):
    found = scalar(literal)
    assert (found, isinstance(found, bool), isinstance(found, int)) == (
        expected,
        isinstance(expected, bool),
        isinstance(expected, int),
    )


def test_dates_are_texts_that_know_what_they_are():
    kinds = ("xsd:date", "date", "datetime", "xsd:gYear", "time")
    assert all(isinstance(scalar(Literal("1815", kind)), Date) for kind in kinds)
    assert not isinstance(scalar(Literal("1815")), Date)


async def value(toy: GraphAdapter, expression: Expression) -> object:
    """What an expression over Ada is."""
    ada = matching(node("p", "Person"), where=is_id("p", "ada"))
    ((found,),) = rows(await evaluate(toy, plan(ada, give(named("x", expression))), limit=2))
    return found


@pytest.mark.parametrize(
    ("comparison", "text", "expected"),
    [
        ("=", "1815-12-10", True),
        ("=", "1815-12", True),
        ("=", "1815", True),
        ("=", "1815-12-10T08:00:00Z", True),
        ("<>", "1815", False),
        (">", "1815", False),
        (">=", "1816", False),
        ("<", "1815-12-11", True),
        ("=", "10 December 1815", False),
        ("=", 1815, False),
        ("<", 1815, None),
    ],
)
async def test_dates_compare_by_the_precision_that_both_have(
    toy: GraphAdapter, comparison: str, text: Scalar, expected: bool | None
):
    assert await value(toy, compared("p.born", comparison, text)) is expected


async def test_times_compare_across_zones(toy: GraphAdapter):
    assert await value(toy, compared("p.seen", "=", "1842-01-05T09:30:00+01:00")) is True
    assert await value(toy, compared("p.seen", "=", "1842-01-04T23:30:00-09:00")) is True
    assert await value(toy, compared("p.seen", "<", "1842-01-05T08:30:00+01:00")) is False


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (compared("p.tag", "=", "night"), True),
        (compared("p.tag", "<>", "night"), False),
        (compared("p.tag", "<>", "day"), True),
        (compared("p.tag", "=", ["clocks", "night"]), True),
        (compared("p.tag", "STARTS WITH", "nig"), True),
        (compared("p.tag", "IN", ["night", None]), True),
        (compared("p.tag", "IN", ["day", None]), None),
        (compared(constant("night"), "IN", of("p.tag")), True),
        (compared(constant("36"), "IN", of("p.age")), False),
        (compared(constant(36), "IN", of("p.age")), True),
        (compared(called(Function.SIZE, "p.tag"), "=", 2), True),
        (compared("p.age", "CONTAINS", "3"), None),
        (compared("p.alive", "=", False), True),
        (compared("p.alive", "=", 0), False),
        (compared("p.age", "=", 36.0), True),
        (compared("p.nothing", "IN", []), False),
        (Not(compared("p.nothing", "=", 1)), None),
        (Joined(Connective.OR, (compared("p.nothing", "=", 1), compared("p.age", "=", 36))), True),
        (Joined(Connective.AND, (compared("p.nothing", "=", 1), compared("p.age", "=", 1))), False),
        (Joined(Connective.XOR, (compared("p.age", "=", 36), compared("p.nothing", "=", 1))), None),
        (compared(constant([1, 2]), "<", [1, 3]), True),
        (compared(constant([1, None]), "=", [1, 2]), None),
        (called(Function.COALESCE, "p.nothing", "p.age"), 36),
        (called(Function.UPPER, "p.name"), "ADA STONE"),
        (called(Function.UPPER, "p.tag"), ["CLOCKS", "NIGHT"]),
        (called(Function.YEAR, "p.born"), 1815),
        (called(Function.TEXT, constant(10_000_000.0)), "1.0E7"),
        (called(Function.TEXT, constant(True)), "true"),
        (called(Function.NUMBER, constant("1.5x")), None),
        (called(Function.TO_INTEGER, constant("12.7")), 12),
        (called(Function.ROUND, constant(-1.5)), -1.0),
        (called(Function.LAST, "p.tag"), "night"),
        (called(Function.ID, "p"), "ada"),
        (Arithmetic(Constant(-7), ArithmeticOperator.DIVIDE, Constant(2)), -3),
        (Arithmetic(Constant(-7), ArithmeticOperator.REMAINDER, Constant(2)), -1),
        (Arithmetic(Constant(1), ArithmeticOperator.DIVIDE, Constant(0)), None),
        (Arithmetic(Constant("a"), ArithmeticOperator.ADD, Constant(1)), "a1"),
        (Arithmetic(Constant("a"), ArithmeticOperator.MULTIPLY, Constant(1)), None),
        (Arithmetic(of("p.tag"), ArithmeticOperator.ADD, Constant(1)), ["clocks", "night", 1]),
    ],
    ids=repr,
)
async def test_values_are_compared_and_reckoned_with_as_cypher_does(
    toy: GraphAdapter, expression: Expression, expected: object
):
    found = await value(toy, expression)
    assert (found, type(found)) == (expected, type(expected))


async def test_properties_are_pairs_of_name_and_value(toy: GraphAdapter):
    ben = matching(edge("p", "knows", "q"), where=is_id("p", "ben"))
    shown = give(named("own", called(Function.PROPERTIES, "p")), named("edge", called(Function.PROPERTIES, "r")))
    assert rows(await evaluate(toy, plan(ben, shown), limit=5)) == [
        (
            [["age", 41], ["alive", True], ["name", "Ben Waters"], ["tag", "night"]],
            [["checked", True], ["since", 1830]],
        )
    ]


async def test_ids_of_edges_tell_them_from_their_parallels(toy: GraphAdapter):
    everything = matching(edge("p", "", "q", either=True))
    ids = give(named("id", called(Function.ID, "r")), "r", distinct=True)
    page = await evaluate(toy, plan(everything, ids), limit=5_000)
    assert len({row.cells[0] for row in page.items}) == len(page.items)


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (None, None, ["ada"]),
        ("1850", None, ["ada"]),
        ("1850-05-01", "1900", ["ada"]),
        ("1850-05-02", None, []),
        ("1700", "1701", ["ada"]),
    ],
)
async def test_an_edge_holds_in_a_time_that_it_has_a_part_of(
    toy: GraphAdapter, begin: str | None, end: str | None, expected: list[str]
):
    held = During("r", begin, end, ("from",), ("until",))
    page = await evaluate(toy, plan(matching(edge("p", "lives_at", "h"), where=held), give("p")), limit=5)
    assert [row[0] for row in rows(page)] == expected


async def test_an_edge_that_began_later_did_not_hold(toy: GraphAdapter):
    for end, expected in (("1829", 0), ("1830", 1), ("1841-01-01", 2)):
        held = During("r", None, end, ("since",), ())
        ben = matching(edge("p", "knows", "q"), where=Joined(Connective.AND, (held, is_id("q", "ben"))))
        assert len((await evaluate(toy, plan(ben, give("r")), limit=5)).items) == expected


async def test_hostile_texts_are_compared_as_they_stand(toy: GraphAdapter):
    hostile = matching(node("p", "Hostile"), where=is_id("p", "hostile5"))
    texts = plan(hostile, give("p.name"))
    ((name,),) = rows(await evaluate(toy, texts, limit=5))
    same = matching(node("q", "Hostile"), where=compared("q.name", "=", str(name)))
    assert rows(await evaluate(toy, plan(same, give("q")), limit=5)) == [("hostile5",)]
    spread = plan(Unwind(ListOf((Constant(str(name)),)), "x"), give("x"))
    assert rows(await evaluate(toy, spread, limit=5)) == [(name,)]
