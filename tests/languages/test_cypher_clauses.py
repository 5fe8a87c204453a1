"""Clauses in Cypher and in GQL, and the algebra that they are."""

import pytest

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.cypher import parse_cypher, write_cypher
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    Column,
    Compare,
    Comparison,
    ListOf,
    Match,
    Order,
    Project,
    Unwind,
    Variable,
)
from tests.languages.cypher_plans import A_X, A_Y, ONE, A, B, columns, edge, equal

ROWS = Aggregate(AggregateFunction.COUNT, None)
MATCH_A, RETURN_A = Match((A,)), columns("a")
C_OVER_1 = Compare(Variable("c"), Comparison.GREATER, ONE)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("MATCH (a) RETURN a;", [MATCH_A, RETURN_A]),
        ("match (a) return distinct a", [MATCH_A, Project(RETURN_A.columns, distinct=True)]),
        ("MATCH (a)-->(b) RETURN *", [Match((A, B), (edge("a", "b"),)), columns("a", "b")]),
        ("MATCH (a) OPTIONAL MATCH (b) RETURN b", [MATCH_A, Match((B,), optional=True), columns("b")]),
        ("MATCH (a) RETURN a.x, a.y AS `a y`", [MATCH_A, Project((Column("a.x", A_X), Column("a y", A_Y)))]),
        ("MATCH (a) RETURN (a), ( a.x )", [MATCH_A, Project((*RETURN_A.columns, Column("( a.x )", A_X)))]),
        ("MATCH (a) RETURN count( * )", [MATCH_A, Project((Column("count( * )", ROWS),))]),
        (
            "MATCH (a) RETURN a ORDER BY a.x DESC, a.y SKIP 1 LIMIT 2",
            [MATCH_A, Project(RETURN_A.columns, order=(Order(A_X, descending=True), Order(A_Y)), skip=1, limit=2)],
        ),
        ("MATCH (a) RETURN a OFFSET 1", [MATCH_A, Project(RETURN_A.columns, skip=1)]),
        (
            "MATCH (a) RETURN a.x ORDER BY a.x",
            [MATCH_A, Project((Column("a.x", A_X),), order=(Order(Variable("a.x")),))],
        ),
        (
            "MATCH (a) RETURN a, count(*) AS c ORDER BY count(*) ASC",
            [MATCH_A, Project((*RETURN_A.columns, Column("c", ROWS)), order=(Order(Variable("c")),))],
        ),
        (
            "MATCH (a) WITH a, count(*) AS c WHERE c > 1 RETURN a",
            [MATCH_A, Project((*RETURN_A.columns, Column("c", ROWS)), where=C_OVER_1), RETURN_A],
        ),
        (
            "MATCH (a) WITH *, 1 AS c RETURN c",
            [MATCH_A, Project((*RETURN_A.columns, Column("c", ONE))), columns("c")],
        ),
        ("UNWIND [1] AS a RETURN a", [Unwind(ListOf((ONE,)), "a"), RETURN_A]),
        ("FOR a IN [1] RETURN a", [Unwind(ListOf((ONE,)), "a"), RETURN_A]),
        ("MATCH (a) FILTER a.x = 1 RETURN a", [MATCH_A, Project(RETURN_A.columns, where=equal(A_X, 1)), RETURN_A]),
        (
            "MATCH (a) LET c = a.x RETURN c",
            [MATCH_A, Project((*RETURN_A.columns, Column("c", A_X))), columns("c")],
        ),
    ],
)
def test_a_plan_is_read_as(text: str, clauses: list[Clause]):
    assert list(parse_cypher(text).pipelines[0].clauses) == clauses


def test_a_condition_behind_with_may_ask_for_what_goes_no_further():
    read = parse_cypher("MATCH (a) WITH a.x AS c WHERE a.y = 1 RETURN c").pipelines[0].clauses
    assert read == (MATCH_A, Project((Column("c", A_X),), where=equal(A_Y, 1)), columns("c"))


def test_a_condition_behind_distinct_may_ask_for_what_a_column_is_made_of():
    read = parse_cypher("MATCH (a) WITH DISTINCT a.x AS c WHERE a.x = 1 RETURN c").pipelines[0].clauses
    assert read[1] == Project((Column("c", A_X),), distinct=True, where=equal(Variable("c"), 1))


def test_a_literal_behind_with_is_itself_and_no_column():
    read = parse_cypher("MATCH (a) WITH DISTINCT 1 AS c WHERE c = 1 RETURN c").pipelines[0].clauses
    assert read[1] == Project((Column("c", ONE),), distinct=True, where=equal(Variable("c"), 1))


def test_what_is_sorted_by_may_be_made_of_columns():
    text = "MATCH (a) RETURN a.x AS c, count(*) AS d ORDER BY a.x = count(*)"
    (order,) = parse_cypher(text).pipelines[0].result.order
    assert order.by == Compare(Variable("c"), Comparison.EQUAL, Variable("d"))


def test_a_union_has_the_columns_of_its_sides():
    plan = parse_cypher("MATCH (a) RETURN a UNION MATCH (a:B) RETURN a")
    assert (len(plan.pipelines), plan.keep_duplicates, plan.columns) == (2, False, ("a",))
    assert parse_cypher("RETURN 1 AS a UNION ALL RETURN 1 AS a").keep_duplicates


def test_a_variable_may_be_called_as_a_word_of_the_language():
    plan = parse_cypher("MATCH (end:Order {limit: 1})-[:CONTAINS|ENDS]->(count) WHERE end.skip = 2 RETURN count, end")
    assert plan.columns == ("count", "end")


def test_a_column_may_be_called_as_any_word_of_the_language_and_rows_ordered_by_it():
    plain = parse_cypher("MATCH (a) RETURN a.code AS x, a.desc AS y, a.end AS z ORDER BY y DESC, x LIMIT 3")
    words = parse_cypher(
        "MATCH (a) RETURN a.code AS limit, a.desc AS desc, a.end AS ends ORDER BY desc DESC, `limit` LIMIT 3"
    )
    assert words.columns == ("limit", "desc", "ends")
    assert [column.value for column in words.pipelines[0].result.columns] == [
        column.value for column in plain.pipelines[0].result.columns
    ]
    assert parse_cypher(write_cypher(words)) == words


def test_a_text_is_read_once():
    text = "MATCH (a) RETURN a.once"
    assert parse_cypher(text) is parse_cypher(text)


def test_rows_are_sorted_by_an_aggregate_that_is_not_returned():
    first, last = parse_cypher("MATCH (a) RETURN a.x ORDER BY count(*) DESC, a.x LIMIT 3").pipelines[0].clauses[1:]
    assert isinstance(first, Project)
    named, counted = first.columns
    assert (named, counted.value) == (Column("a.x", A_X), ROWS)
    assert [key.by for key in first.order] == [Variable(counted.name), Variable("a.x")]
    assert (first.order[0].descending, first.limit) == (True, 3)
    assert last == Project((Column("a.x", Variable("a.x")),))


@pytest.mark.parametrize(
    "text", ["MATCH (a) RETURN DISTINCT a.x ORDER BY count(*)", "MATCH (a) RETURN a.x ORDER BY count(*) + a.y"]
)
def test_an_order_by_what_the_rows_no_longer_have_is_refused(text: str):
    with pytest.raises(InvalidPlan, match="only returned columns"):
        parse_cypher(text)
