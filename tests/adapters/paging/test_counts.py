"""Counts say how sure they are, together and in part, and are kept as long as they may be."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.paging import counts as counts_module
from kgnav_mcp.adapters.paging.counts import (
    CountCache,
    CountRequest,
    RelationCounts,
    merge_counts,
    paths_in_order,
    relations_page,
    sum_counts,
)
from kgnav_mcp.model import Count, Direction, Entity, Relation, Stop
from tests.adapters.sparql_base.clock import Clock, timed

A, B, AB = ("a",), ("b",), ("a", "b")
COUNTS: RelationCounts[str, str] = sum_counts(
    [("ann", A, 2), ("ann", B, 3), ("bob", A, 1), ("ann", A, 1), ("bob", AB, 4)]
)


def test_rows_are_summed_by_path_and_told_by_entity():
    assert (COUNTS.total, COUNTS.by_path()) == (Count(11), {A: Count(4), B: Count(3), AB: Count(4)})
    assert COUNTS.by_entity(A) == {"ann": 3, "bob": 1}
    assert COUNTS.restricted_to({B}).rows == {"ann": {B: 3}}
    assert COUNTS.restricted_to(lambda path: len(path) == 2).total == Count(4)


def test_a_count_is_a_lower_bound_where_a_part_of_it_is():
    bounds = RelationCounts[str, str]({"eve": {A: 5}}, lower_bounds=frozenset({("eve", A)}))
    both = merge_counts([COUNTS, bounds])
    assert (both.total, both.by_path()[A], both.by_path()[B]) == (
        Count.at_least(16),
        Count.at_least(9),
        Count(3),
    )
    assert both.restricted_to({B}).total == Count(3)
    cut = merge_counts([COUNTS, RelationCounts[str, str](stop=Stop.TIME_OUT)])
    assert (cut.total, cut.by_path()[B], cut.exact("ann", B)) == (Count.at_least(11), Count.at_least(3), False)


@pytest.mark.parametrize(("direction", "mediated"), [(Direction.OUTGOING, "a"), (Direction.INCOMING, "b")])
def test_a_page_of_relations_has_counts_for_each_entity_and_says_which_lead_to_mediators(
    direction: Direction, mediated: str
):
    page = relations_page(
        COUNTS,
        direction,
        relation_paths=paths_in_order(COUNTS, lambda path: path),
        limit=2,
        names={name: Relation(f"ex:{name}", name) for name in "ab"},
        printed=str.upper,
        examples={A: [Entity("x")]},
        stop=Stop.COMPLETE,
    )
    assert [(one.relation.id, one.count, one.per_entity) for one in page.items] == [
        ("ex:a", Count(4), {"ANN": 3, "BOB": 1}),
        ("ex:a.ex:b", Count(4), {"BOB": 4}),
    ]
    assert [one.mediators for one in page.items] == [mediated == "a", False]
    assert (page.items[0].examples, page.total, page.stop) == ((Entity("x"),), Count(3), Stop.LIMIT)


async def test_counts_are_kept_for_a_minute_and_narrowed_without_counting(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counts_module, "TTLCache", timed(clock := Clock()))
    made: list[RelationCounts[str, str]] = []

    async def count() -> RelationCounts[str, str]:
        made.append(COUNTS)
        return COUNTS

    cache = CountCache[str, str]()
    asked = CountRequest[str](frozenset({"ann", "bob"}), Direction.OUTGOING, None)
    for seconds, times in [(0, 1), (59, 1), (61, 2)]:
        clock.now = seconds
        assert await cache.get(asked, count) is COUNTS
        some = CountRequest(asked.entities, asked.direction, None, frozenset({B}))
        assert (await cache.get(some, count)).rows == {"ann": {B: 3}}
        assert len(made) == times


@pytest.mark.parametrize("keeps", [False, True])
async def test_counts_that_a_time_out_cut_are_counted_again_unless_that_would_take_as_long(keeps: bool):
    made: list[int] = []

    async def count() -> RelationCounts[str, str]:
        made.append(1)
        return RelationCounts(stop=Stop.TIME_OUT)

    cache = CountCache[str, str](timed_out=keeps)
    asked = CountRequest[str](frozenset({"ann"}), Direction.OUTGOING, None)
    await cache.get(asked, count)
    await cache.get(asked, count)
    assert len(made) == (1 if keeps else 2)
