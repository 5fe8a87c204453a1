"""Which conditions a store is asked to apply to the values of properties."""

from __future__ import annotations

import pytest

from kgnav_mcp.plan import Comparison, ComparisonChain, Constant, Expression, Property
from kgnav_mcp.port.pattern_queries import number_condition
from tests.plans.short import both, cmp

AGE = Property("n", "age", ("age",))
LESS, AT_MOST, AT_LEAST = Comparison.LESS, Comparison.AT_MOST, Comparison.AT_LEAST


@pytest.mark.parametrize(
    ("condition", "bounds"),
    [
        (cmp(AGE, ">=", 3), [(AT_LEAST, 3.0)]),
        (cmp(3, "<=", AGE), [(AT_LEAST, 3.0)]),
        (ComparisonChain((Constant(3), AGE, Constant(5)), (AT_MOST, LESS)), [(AT_LEAST, 3.0), (LESS, 5.0)]),
    ],
)
def test_a_range_of_numbers_is_one_condition_with_both_bounds(
    condition: Expression, bounds: list[tuple[Comparison, float]]
):
    assert number_condition(condition) == (AGE, tuple(bounds))


@pytest.mark.parametrize(
    "condition",
    [
        both(cmp(AGE, ">=", 3), cmp(AGE, "<", 5)),
        ComparisonChain((Constant("a"), AGE, Constant("b")), (LESS, LESS)),
        ComparisonChain((Constant(3), AGE, Property("n", "size", ("size",))), (LESS, LESS)),
        cmp(AGE, "<>", 3),
    ],
)
def test_other_conditions_are_no_condition_of_numbers(condition: Expression):
    assert number_condition(condition) is None
