"""Walks over the trees of plans."""

from __future__ import annotations

from kgnav_mcp.plan import Constant, NodePattern, Variable
from kgnav_mcp.plan.walking import parts, rewritten
from tests.plans.short import cmp, edge, give, matching, node, plan

PLAN = plan(
    matching(node("a", "N"), edge("a-r->b", "TO"), where=cmp(".r.weight", "=", 13.7)), give({"a": ".a", "b": ".b"})
)


def test_a_copy_shares_the_parts_that_nothing_was_changed_in():
    changed = rewritten(PLAN, lambda part: Variable("c") if part == Variable("b") else None)

    assert rewritten(PLAN, lambda _: None) is PLAN
    assert changed.pipelines[0].clauses[0] is PLAN.pipelines[0].clauses[0]
    assert changed.pipelines[0].clauses[1] != PLAN.pipelines[0].clauses[1]


def test_outer_parts_come_before_inner_ones_and_those_before_what_is_written_behind_them():
    found = list(parts(PLAN))

    assert found[0] is PLAN
    assert [part for part in found if isinstance(part, NodePattern | Constant)] == [
        NodePattern("a", (("N",),)),
        NodePattern("b"),
        Constant(13.7),
    ]
