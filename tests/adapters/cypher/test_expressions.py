"""Expressions in Cypher keep their meaning inside others: each operator stands in its own brackets."""

from __future__ import annotations

from typing import cast

import pytest

from kgnav_mcp.adapters.cypher.entities import Entities
from kgnav_mcp.adapters.cypher.plans.context import QueryContext
from kgnav_mcp.adapters.cypher.plans.expressions import Expressions, Scope
from kgnav_mcp.adapters.cypher.plans.kinds import BOOLEAN, PropertyTypes, Single, Typed
from kgnav_mcp.plan import Constant, Expression, Match
from tests.plans.short import cmp, no, null, x

SCOPE: Scope = {"x": Typed("x", Single(BOOLEAN)), "y": Typed("y", Single(BOOLEAN))}
NOT, IS_NULL = no(".x"), null(".x")
MEMBER, LESS = cmp(".x", "IN", (".y",)), cmp(".x", "<", ".y")


def written(expression: Expression) -> str:
    """The text of an expression of the booleans x and y."""

    def pattern(match: Match, scope: Scope, template: str) -> str:
        raise AssertionError((match, scope, template))

    context = QueryContext(cast("Entities", None), cast("PropertyTypes", None))
    return Expressions(context, pattern).value(expression, SCOPE).text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (null(NOT), "((NOT x) IS NULL)"),
        (cmp(NOT, "IN", (".y",)), "((NOT x) IN coalesce([y]))"),
        (cmp(NOT, "<", ".y"), "((NOT x) < y)"),
        (cmp(".y", "=", NOT), "(y = (NOT x))"),
        (no(NOT), "(NOT (NOT x))"),
        (no(IS_NULL), "(NOT (x IS NULL))"),
        (null(IS_NULL), "((x IS NULL) IS NULL)"),
        (cmp(IS_NULL, "=", ".y"), "((x IS NULL) = y)"),
        (cmp(".y", "IN", (IS_NULL,)), "(y IN coalesce([(x IS NULL)]))"),
        (null(MEMBER), "((x IN coalesce([y])) IS NULL)"),
        (cmp(MEMBER, "IN", (".y",)), "((x IN coalesce([y])) IN coalesce([y]))"),
        (cmp(MEMBER, "<>", ".y"), "((x IN coalesce([y])) <> y)"),
        (cmp(LESS, "<", ".y"), "((x < y) < y)"),
        (cmp(".y", "=", LESS), "(y = (x < y))"),
    ],
)
def test_an_operator_is_bracketed_inside_another_one(expression: Expression, text: str):
    assert written(expression) == text


def test_a_constant_is_a_parameter_so_that_its_sign_is_no_operator():
    assert written(null(x(Constant(-1)))) == "($p0 IS NULL)"
