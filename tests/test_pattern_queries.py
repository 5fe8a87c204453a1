"""Which plans a store reads that matches single patterns, and which conditions on the values of properties."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Count, Entity, Stop
from kgnav_mcp.plan import (
    Call,
    Column,
    Compare,
    Comparison,
    ComparisonChain,
    Constant,
    Expression,
    Function,
    GivenNodes,
    ListOf,
    Match,
    Not,
    Order,
    PathKind,
    Plan,
    Property,
    Variable,
)
from kgnav_mcp.port.pattern_conditions import Bound, QualifierCondition, number_condition
from kgnav_mcp.port.pattern_queries import PatternMatch, pattern_query
from tests.navigation.plans.writing import compared, edge, matches_of, matching, node, path, with_result
from tests.plans.short import both, cmp

KNOWS = edge("a", "knows", "b")
NUMBER = Variable("number")
COUNTED = matches_of(matching(KNOWS), ["a", "b"])
SEASON = Compare(Property("r", "season", ("season",)), Comparison.EQUAL, Constant("spring"))

AGE = Property("n", "age", ("age",))
LESS, AT_MOST, AT_LEAST = Comparison.LESS, Comparison.AT_MOST, Comparison.AT_LEAST


@pytest.mark.parametrize(
    ("condition", "bounds"),
    [
        (cmp(AGE, ">=", 3), [(AT_LEAST, 3.0)]),
        (cmp(3, "<=", AGE), [(AT_LEAST, 3.0)]),
        (ComparisonChain((Constant(3), AGE, Constant(5)), (AT_MOST, LESS)), [(AT_LEAST, 3.0), (LESS, 5.0)]),
        (Compare(AGE, Comparison.IN, ListOf((Constant(3), Constant(4.5)))), [(Comparison.IN, (3.0, 4.5))]),
    ],
)
def test_a_range_of_numbers_is_one_condition_with_both_bounds(condition: Expression, bounds: list[Bound]):
    assert number_condition(condition) == (AGE, tuple(bounds))


@pytest.mark.parametrize(
    "condition",
    [
        both(cmp(AGE, ">=", 3), cmp(AGE, "<", 5)),
        ComparisonChain((Constant("a"), AGE, Constant("b")), (LESS, LESS)),
        ComparisonChain((Constant(3), AGE, Property("n", "size", ("size",))), (LESS, LESS)),
        cmp(AGE, "<>", 3),
        cmp(AGE, "=", 10**15),
        Compare(AGE, Comparison.IN, ListOf((Constant(3), Constant("a")))),
        Compare(AGE, Comparison.IN, ListOf(())),
    ],
)
def test_other_conditions_are_no_condition_of_numbers(condition: Expression):
    assert number_condition(condition) is None


def test_a_plan_of_one_pattern_is_read_as_its_nodes_and_the_number_of_matches():
    given = GivenNodes(("b",), (("ben",), ("cyd",)))
    query = pattern_query(matches_of(matching(KNOWS), ["a"], given, counted="b"))
    assert (query.nodes, query.given_nodes, query.given_rows) == (("b", "a"), ("b",), (("ben",), ("cyd",)))
    assert (query.columns, query.counted) == (("b", "a", "number"), "b")
    assert not query.largest_first
    assert query.least == 1


def test_an_order_by_the_number_of_matches_and_its_least_value_are_read():
    query = pattern_query(with_result(COUNTED, order=(Order(NUMBER, descending=True),)))
    assert query.largest_first
    least = Compare(NUMBER, Comparison.AT_LEAST, Constant(3))
    assert pattern_query(with_result(COUNTED, where=least)).least == 3


def test_conditions_on_edges_are_read_only_where_they_are_checked_again():
    own = compared("a.age", ">", 3)
    asked = matches_of(matching(KNOWS, where=both(SEASON, own)), ["a", "b"])
    with pytest.raises(Unsupported):
        pattern_query(asked)
    query = pattern_query(replace(asked, prefilter=True))
    assert query.match.where == own
    assert query.qualifiers == (QualifierCondition(Property("r", "season", ("season",)), ("spring",)),)


COLUMNS = tuple(Column(name, Variable(name)) for name in ("a", "b"))


@pytest.mark.parametrize(
    "asked",
    [
        replace(COUNTED, in_any_order=False),
        replace(COUNTED, only_exists=True),
        replace(COUNTED, pipelines=COUNTED.pipelines * 2),
        matches_of(matching(KNOWS, optional=True), ["a"]),
        matches_of(matching(KNOWS), ["a", "r"]),
        matches_of(matching(KNOWS, edge("c", "knows", "d", "s")), ["a", "c"]),
        matches_of(matching(path("a", "knows", "b", PathKind.TRAILS, 1, 3)), ["a"]),
        matches_of(matching(path("a", "knows", "b", PathKind.REACHABLE)), ["a"]),
        matches_of(matching(node("a")), ["a"]),
        matches_of(matching(KNOWS, where=Not(compared("a.age", ">", 3))), ["a"]),
        matches_of(matching(KNOWS, where=Not(compared("a.town", "=", "York"))), ["a"]),
        matches_of(matching(KNOWS, where=compared("a.town", "<", "York")), ["a"]),
        with_result(COUNTED, limit=3),
        with_result(COUNTED, skip=3),
        with_result(COUNTED, order=(Order(NUMBER),)),
        with_result(COUNTED, order=(Order(Variable("a"), descending=True),)),
        with_result(COUNTED, where=Compare(NUMBER, Comparison.LESS, Constant(3))),
        with_result(COUNTED, where=Compare(NUMBER, Comparison.AT_LEAST, Constant(value=True))),
        with_result(matches_of(matching(KNOWS), []), where=Compare(NUMBER, Comparison.AT_LEAST, Constant(3))),
        with_result(COUNTED, columns=COLUMNS),
        with_result(COUNTED, columns=(*COLUMNS, Column("c", Variable("a")))),
        with_result(COUNTED, columns=(*COLUMNS, Column("n", Call(Function.LABELS, (Variable("a"),))))),
        with_result(COUNTED, columns=tuple(reversed(COUNTED.pipelines[0].result.columns))),
        with_result(
            matches_of(matching(KNOWS), [], GivenNodes(("b",), (("ben",),))),
            columns=COUNTED.pipelines[0].result.columns[::2],
        ),
    ],
)
def test_any_other_plan_is_refused_before_the_store_is_queried(asked: Plan):
    with pytest.raises(Unsupported):
        pattern_query(asked)


def test_nodes_without_their_number_are_read_only_if_each_comes_once():
    assert pattern_query(with_result(COUNTED, columns=COLUMNS, distinct=True)).columns == ("a", "b")
    alone = with_result(matches_of(Match((node("a", "Person"),)), ["a"]), columns=COLUMNS[:1])
    assert pattern_query(alone).nodes == ("a",)


def test_matches_are_a_page_of_rows_that_says_whether_there_may_be_more():
    query = pattern_query(COUNTED)
    found = [PatternMatch(("ada", "ben"), 2)]
    page = query.page(found, 2)
    assert [row.cells for row in page.items] == [(Entity("ada"), Entity("ben"), 2)]
    assert (page.columns, page.total, page.stop) == (("a", "b", "number"), Count(1), Stop.COMPLETE)
    assert (query.page(found, 1).total, query.page(found, 1).stop) == (Count.at_least(1), Stop.LIMIT)
    assert [row.cells for row in pattern_query(matches_of(matching(KNOWS), [])).page([], 9).items] == [(0,)]
