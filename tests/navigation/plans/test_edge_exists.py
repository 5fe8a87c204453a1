"""Plans that only ask whether an edge leads from a label to a label: they end at the first one."""

from __future__ import annotations

import pytest

from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import Constant, Plan
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract.example import DictAdapter
from tests.navigation.plans.writing import edge, give, matching, named, node, plan, rows

BOUND = 1_500
"""Fewer than the nodes of each label."""
SIZE = 2_000
GRAPH = {
    "nodes": {f"{kind}{number}": [kind] for kind in ("Song", "Singer", "Town") for number in range(SIZE)},
    "rows": [
        *((f"Song{number}", "sung_by", f"Singer{number}", ()) for number in range(SIZE)),
        ("Song3", "sung_by", "Town3", ()),
    ],
}


def asked(source: str, target: str, *, either: bool = False, relation: str = "sung_by") -> Plan:
    ends = [node(name, label) for name, label in (("s", source), ("t", target)) if label]
    pattern = matching(*ends, edge("s", relation, "t", either=either))
    return plan(pattern, give(named("found", Constant(value=True)), limit=1))


@pytest.mark.parametrize("ends", [("Song", "Singer"), ("Song", ""), ("", "Singer")])
async def test_the_first_edge_that_matches_is_enough_however_many_there_are(ends: tuple[str, str]):
    async with DictAdapter("tests.navigation.plans.test_edge_exists", AdapterOptions()) as graph:
        assert rows(await evaluate(graph, asked(*ends), limit=1, bound=BOUND)) == [(True,)]
        assert rows(await evaluate(graph, asked("Singer", "Song", either=True), limit=1, bound=BOUND)) == [(True,)]


async def test_where_no_edge_was_found_within_the_bound_it_is_not_said_that_there_is_none():
    async with DictAdapter("tests.navigation.plans.test_edge_exists", AdapterOptions()) as graph:
        with pytest.raises(PlanTooLarge):
            await evaluate(graph, asked("Singer", "Song"), limit=1, bound=BOUND)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (asked("Person", "Person", relation="knows"), [(True,)]),
        (asked("Visitor", "Place", relation="visited"), [(True,)]),
        (asked("Place", "Visitor", relation="visited"), []),
        (asked("Person", "Office", relation="knows"), []),
        (asked("Nobody", "Person", relation="knows"), []),
        (asked("Person", "Nobody", relation="knows"), []),
    ],
)
async def test_a_matching_edge_is_found_and_that_there_is_none_is_told(
    toy: GraphAdapter, plan: Plan, expected: list[tuple[object, ...]]
):
    page = await evaluate(toy, plan, limit=1)
    assert rows(page) == expected
    assert bool(page.note) is not bool(expected)
