"""What is made of rows: columns, sums, order, a part of them."""

from __future__ import annotations

import pytest

from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import (
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Constant,
    Expression,
    Function,
    ListOf,
    Order,
    Pipeline,
    Plan,
    Project,
    Unwind,
    Variable,
)
from kgnav_mcp.port import GraphAdapter
from tests.contract import toy as definition
from tests.navigation.plans.writing import (
    called,
    compared,
    descending,
    edge,
    give,
    is_id,
    matching,
    named,
    node,
    of,
    plan,
    rows,
    total,
)

BOATS = matching(node("b", "Boat"))
COUNT, SUM, COLLECT = AggregateFunction.COUNT, AggregateFunction.SUM, AggregateFunction.COLLECT
PLAIN = (COUNT, SUM, AggregateFunction.AVERAGE, AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM, COLLECT)


def lengths() -> dict[str, list[int]]:
    """Lengths of boats by their flags."""
    found: dict[str, list[int]] = {"blue": [], "red": []}
    for number in range(definition.BOATS):
        found["red" if number % 2 else "blue"].append(5 + number % 7)
    return found


async def test_sums_are_made_for_each_different_row_of_the_other_columns(toy: GraphAdapter):
    sums = [named(each.value, total(each, "b.length")) for each in PLAIN if each is not COLLECT]
    page = await evaluate(toy, plan(BOATS, give("b.flag", *sums)), limit=9)
    assert rows(page) == [
        (flag, len(own), sum(own), pytest.approx(sum(own) / len(own)), min(own), max(own))
        for flag, own in lengths().items()
    ]


async def test_lists_come_in_the_order_of_values_unless_rows_were_sorted(toy: GraphAdapter):
    some = matching(node("b", "Boat"), where=is_id("b", "boat01", "boat02", "boat06", "boat08"))
    all_of = give(named("all", total(COLLECT, "b.length")))
    assert rows(await evaluate(toy, plan(some, all_of), limit=1)) == [([6, 6, 7, 11],)]
    each = give(named("all", total(COLLECT, "b.length", distinct=True)))
    assert rows(await evaluate(toy, plan(some, each), limit=1)) == [([6, 7, 11],)]
    falling = give("b", order=(descending("b.length"),))
    assert rows(await evaluate(toy, plan(some, falling, all_of), limit=1)) == [([11, 7, 6, 6],)]


async def test_a_list_of_distinct_values_has_each_where_it_came_first(toy: GraphAdapter):
    some = matching(node("b", "Boat"), where=is_id("b", "boat01", "boat02", "boat06", "boat08"))
    by_id = give("b", order=(Order(Variable("b")),))
    each = give(named("all", total(COLLECT, "b.length", distinct=True)))
    assert rows(await evaluate(toy, plan(some, by_id, each), limit=1)) == [([6, 7, 11],)]


async def test_a_sum_of_no_rows_is_one_row_unless_rows_are_grouped(toy: GraphAdapter):
    none = matching(node("b", "Boat"), where=is_id("b", "nobody"))
    every = [named(each.value, total(each, "b.length")) for each in PLAIN]
    page = await evaluate(toy, plan(none, give(*every)), limit=1)
    assert rows(page) == [(0, 0, None, None, None, [])]
    assert rows(await evaluate(toy, plan(none, give("b.flag", *every)), limit=1)) == []


async def test_a_column_may_reckon_with_sums_and_groups(toy: GraphAdapter):
    rest: Expression = Arithmetic(total(COUNT), ArithmeticOperator.REMAINDER, Constant(7))
    page = await evaluate(toy, plan(BOATS, give("b.flag", named("rest", rest))), limit=9)
    assert rows(page) == [(flag, len(own) % 7) for flag, own in lengths().items()]


async def test_rows_are_sorted_with_nulls_as_the_largest_and_by_their_cells_where_equal(toy: GraphAdapter):
    people = matching(node("p", "Person"))
    page = await evaluate(toy, plan(people, give("p", order=(Order(of("p.age")),))), limit=9)
    assert [row[0] for row in rows(page)] == ["ada", "cyd", "ben", "hunter", "jose", "yolka"]
    page = await evaluate(toy, plan(people, give("p", order=(descending("p.age"),))), limit=9)
    assert [row[0] for row in rows(page)] == ["hunter", "jose", "yolka", "ben", "ada", "cyd"]


async def test_the_most_frequent_come_first_by_a_sum_or_by_its_column(toy: GraphAdapter):
    visits = matching(edge("v", "", "h"), where=is_id("h", "harbour"))
    kinds = named("kind", called(Function.TYPE, "r"))
    for order in (descending(total(COUNT)), descending("n")):
        frequent = give(kinds, named("n", total(COUNT)), order=(order,), limit=2)
        assert rows(await evaluate(toy, plan(visits, frequent), limit=9)) == [("visited", 150), ("moored_at", 80)]


async def test_distinct_rows_skip_limit_and_a_condition_on_what_is_left(toy: GraphAdapter):
    of_length = named("n", of("b.length"))
    page = await evaluate(toy, plan(BOATS, give(of_length, distinct=True, skip=1, limit=3)), limit=9)
    assert rows(page) == [(6,), (7,), (8,)]
    left = give(of_length, distinct=True, skip=1, limit=3, where=compared("n", ">", 6))
    assert rows(await evaluate(toy, plan(BOATS, left), limit=9)) == [(7,), (8,)]


async def test_one_and_true_are_different_values_and_one_and_one_point_nought_are_equal(toy: GraphAdapter):
    values = Unwind(ListOf((Constant(1), Constant(True), Constant(1.0), Constant("1"), Constant(None))), "v")
    page = await evaluate(toy, plan(values, give("v", distinct=True)), limit=9)
    assert [repr(row[0]) for row in rows(page)] == ["'1'", "True", "1", "None"]


async def test_a_list_is_spread_over_rows(toy: GraphAdapter):
    ada = matching(node("p", "Person"), where=is_id("p", "ada"))
    assert rows(await evaluate(toy, plan(ada, Unwind(of("p.tag"), "t"), give("t")), limit=9)) == [
        ("clocks",),
        ("night",),
    ]
    nothing = Unwind(of("p.nothing"), "t")
    assert rows(await evaluate(toy, plan(ada, nothing, give("t")), limit=9)) == []


async def test_a_union_drops_equal_rows_unless_they_are_kept(toy: GraphAdapter):
    def parts() -> tuple[Pipeline, ...]:
        sides = (matching(edge("p", "knows", "q"), where=is_id("p", one)) for one in ("ada", "ben", "cyd"))
        return tuple(Pipeline((side, give("p"))) for side in sides)

    assert rows(await evaluate(toy, Plan(parts()), limit=9)) == [("ada",), ("ben",)]
    assert rows(await evaluate(toy, Plan(parts(), keep_duplicates=True), limit=9)) == [("ada",)] * 3 + [("ben",)]


async def test_a_projection_hides_what_it_does_not_name(toy: GraphAdapter):
    first = matching(edge("p", "knows", "q"), where=is_id("p", "ada"))
    renamed = Project((named("x", Variable("q")),), distinct=True)
    again = matching(edge("x", "knows", "p"))
    page = await evaluate(toy, plan(first, renamed, again, give("x", "p")), limit=9)
    assert rows(page) == [("ben", "ada")]
