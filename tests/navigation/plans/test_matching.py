"""Patterns fitted to the toy graph: a row for each match, as Cypher has them."""

from __future__ import annotations

from collections import Counter

import pytest

from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Entity, Page
from kgnav_mcp.navigation.plans import evaluate, lookups
from kgnav_mcp.plan import AggregateFunction, CountOf, Exists, HasLabel, IsNull, Match, NodePattern, Not
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract import toy as definition
from tests.contract.example import DictAdapter
from tests.navigation.plans.writing import compared, edge, give, is_id, matching, named, node, plan, rows, total


def knowing() -> list[tuple[str, str]]:
    """Who knows whom, an item for each edge."""
    return sorted((one.head, one.tail) for one in definition.EDGES if one.relation == "knows")


async def test_a_row_comes_for_each_edge_and_parallel_ones_count_apart(toy: GraphAdapter):
    page = await evaluate(toy, plan(matching(edge("p", "knows", "q")), give("p", "q")), limit=50)
    assert rows(page) == knowing()
    assert Counter(rows(page))["ada", "ben"] == 2


async def test_an_edge_against_its_direction_matches_only_where_either_is_meant(toy: GraphAdapter):
    around = matching(edge("p", "knows", "q", either=True), where=is_id("p", "cyd"))
    assert rows(await evaluate(toy, plan(around, give("q")), limit=50)) == [("ada",)]
    away = matching(edge("p", "knows", "q"), where=is_id("p", "cyd"))
    assert rows(await evaluate(toy, plan(away, give("q")), limit=50)) == []


async def test_an_edge_between_two_unbound_nodes_matches_both_ways_where_either_is_meant(toy: GraphAdapter):
    page = await evaluate(toy, plan(matching(edge("p", "knows", "q", either=True)), give("p", "q")), limit=50)
    assert sorted(rows(page)) == sorted([*knowing(), *((tail, head) for head, tail in knowing())])


async def test_an_edge_that_leads_back_matches_once(toy: GraphAdapter):
    snake = matching(edge("s", "eats", "t", either=True), where=is_id("s", "ouroboros"))
    assert rows(await evaluate(toy, plan(snake, give("t")), limit=5)) == [("mercury_metal",), ("ouroboros",)]
    itself = matching(edge("s", "eats", "s"))
    assert rows(await evaluate(toy, plan(itself, give("s", "r")), limit=5)) == [
        ("ouroboros", ("ouroboros", "eats", "ouroboros"))
    ]


async def test_no_edge_stands_for_two_of_one_pattern_unless_it_may(toy: GraphAdapter):
    parts = edge("p", "knows", "q", "r"), edge("o", "knows", "q", "s")
    together = [
        (one.head, other.head)
        for one in definition.EDGES
        for other in definition.EDGES
        if one.relation == other.relation == "knows" and one.tail == other.tail
    ]
    page = await evaluate(toy, plan(matching(*parts, differ=False), give("p", "o")), limit=50)
    assert sorted(rows(page)) == sorted(together)
    page = await evaluate(toy, plan(matching(*parts), give("p", "o")), limit=50)
    assert len(rows(page)) == len(together) - len(knowing())
    page = await evaluate(toy, plan(matching(parts[0]), matching(parts[1]), give("p", "o")), limit=50)
    assert sorted(rows(page)) == sorted(together)


async def test_labels_are_groups_of_which_a_node_has_one_each(toy: GraphAdapter):
    both = Match((NodePattern("p", (("Person",), ("Sailor",))),))
    assert rows(await evaluate(toy, plan(both, give("p")), limit=5)) == [("ben",)]
    some = matching(node("p", "Planet", "Metal"))
    assert rows(await evaluate(toy, plan(some, give("p")), limit=5)) == [("mercury_metal",), ("mercury_planet",)]
    far = matching(edge("s", "eats", "t"), node("t", "Metal"))
    assert rows(await evaluate(toy, plan(far, give("t")), limit=5)) == [("mercury_metal",)]


async def test_nodes_without_an_edge_between_them_are_paired(toy: GraphAdapter):
    page = await evaluate(toy, plan(matching(node("a", "Planet"), node("b", "Genre")), give("a", "b")), limit=9)
    assert rows(page) == [("mercury_planet", "play"), ("mercury_planet", "play_in_small")]


async def test_a_second_match_goes_on_from_the_rows_of_the_first(toy: GraphAdapter):
    first = matching(edge("p", "knows", "q"), where=is_id("p", "ada"))
    second = matching(edge("q", "knows", "o", "s"))
    assert rows(await evaluate(toy, plan(first, second, give("q", "o")), limit=9)) == [("ben", "ada"), ("ben", "ada")]


async def test_an_optional_pattern_leaves_nulls_where_nothing_matches(toy: GraphAdapter):
    people = matching(node("p", "Person"), where=is_id("p", "ada", "cyd", "jose"))
    disliked = matching(edge("p", "dislikes", "q"), where=compared("q.age", ">", 1), optional=True)
    after = matching(edge("q", "lives_at", "h", "s"), optional=True)
    page = await evaluate(toy, plan(people, disliked, after, give("p", "q", "h")), limit=9)
    assert rows(page) == [("ada", None, None), ("cyd", "ada", "harbour"), ("jose", None, None)]


async def test_a_pattern_around_a_null_matches_nothing(toy: GraphAdapter):
    people = matching(node("p", "Person"), where=is_id("p", "jose"))
    disliked = matching(edge("p", "dislikes", "q"), optional=True)
    page = await evaluate(toy, plan(people, disliked, matching(edge("q", "knows", "o", "s")), give("p", "o")), limit=9)
    assert rows(page) == []


async def test_a_bound_edge_is_the_same_edge_in_a_later_match(toy: GraphAdapter):
    first = matching(edge("p", "knows", "q"), where=compared("r.since", "=", 1841))
    page = await evaluate(toy, plan(first, matching(edge("x", "knows", "y")), give("x", "y")), limit=9)
    assert rows(page) == [("ada", "ben")]


async def test_exists_and_counts_ask_for_patterns_around_a_row(toy: GraphAdapter):
    people = matching(node("p", "Person"), where=Exists(matching(edge("p", "knows", "q"))))
    knows = named("n", CountOf(matching(edge("p", "knows", "q"))))
    assert rows(await evaluate(toy, plan(people, give("p", knows)), limit=9)) == [("ada", 3), ("ben", 1), ("jose", 1)]
    lonely = matching(node("p", "Person"), where=Not(Exists(matching(edge("p", "knows", "q", either=True)))))
    assert rows(await evaluate(toy, plan(lonely, give("p")), limit=9)) == [("hunter",)]


async def test_a_pattern_of_a_condition_sees_the_variables_around_it(toy: GraphAdapter):
    older = compared("q.age", ">", 40)
    back = Exists(matching(edge("q", "knows", "p", "back"), where=older))
    page = await evaluate(toy, plan(matching(edge("p", "knows", "q"), where=back), give("p", "q")), limit=9)
    assert rows(page) == [("ada", "ben"), ("ada", "ben")]


async def test_conditions_compare_types_of_edges_and_labels_of_nodes(toy: GraphAdapter):
    around = matching(edge("p", "", "q"), where=is_id("p", "ada"))
    kind = matching(edge("p", "", "q"), where=HasLabel("r", ("lives_at", "dislikes")))
    assert rows(await evaluate(toy, plan(kind, give("p", "q")), limit=9)) == [("ada", "harbour"), ("cyd", "ada")]
    sailors = give(named("n", total(AggregateFunction.COUNT)), where=None)
    page = await evaluate(toy, plan(around, sailors), limit=9)
    assert rows(page) == [(sum(one.head == "ada" for one in definition.EDGES),)]


async def test_a_missing_value_fails_each_comparison(toy: GraphAdapter):
    people = node("p", "Person")
    for where, expected in (
        (compared("p.age", "<>", 36), ["ben"]),
        (Not(compared("p.age", "=", 36)), ["ben"]),
        (compared("p.age", "<=", 36), ["ada", "cyd"]),
        (IsNull(compared("p.age", "=", 36)), ["hunter", "jose", "yolka"]),
    ):
        page = await evaluate(toy, plan(matching(people, where=where), give("p")), limit=9)
        assert rows(page) == [(one,) for one in expected]


async def test_instances_of_subclasses_count_where_the_pattern_includes_them():
    async with Classes("tests.navigation.plans.test_matching", AdapterOptions()) as graph:
        for subclasses, part, expected in (
            (False, "(b:Boat)", ["boat"]),
            (True, "(b:Boat*)", ["boat", "kayak", "raft"]),
        ):
            boats = Match((NodePattern("b", (("Boat",),), subclasses),))
            page = await evaluate(graph, plan(boats, give("b")), limit=9)
            assert [row[0] for row in rows(page)] == expected
            assert [(size.part, size.count.value) for size in page.sizes] == [(part, len(expected))]
            owned = Match((NodePattern("o"), NodePattern("b", (("Boat",),), subclasses)), (edge("o", "owns", "b"),))
            assert len((await evaluate(graph, plan(owned, give("b")), limit=9)).items) == len(expected)


async def test_no_set_is_counted_beside_a_few_ids():
    async with Uncounted("tests.navigation.plans.test_matching", AdapterOptions()) as graph:
        owned = matching(edge("o", "owns", "b"), where=is_id("o", "owner"))
        assert len((await evaluate(graph, plan(owned, give("b")), limit=9)).items) == 4


class Uncounted(DictAdapter):
    """Cannot count its nodes in time."""

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        del label, property_name, value, limit, after
        raise StoreTimeout(1.0)


class Classes(DictAdapter):
    """Classes above others, one of them in a ring."""

    @property
    def subclass_relations(self) -> frozenset[str]:
        return frozenset({"below"})


GRAPH = {
    "nodes": {
        "boat": ["Boat"],
        "kayak": ["Canoe"],
        "raft": ["Float"],
        "rock": ["Stone"],
        "owner": [],
        **{name: ["Class"] for name in ("Boat", "Canoe", "Float", "Stone")},
    },
    "rows": [
        ("Canoe", "below", "Boat", ()),
        ("Float", "below", "Canoe", ()),
        ("Boat", "below", "Float", ()),
        *(("owner", "owns", one, ()) for one in ("boat", "kayak", "raft", "rock")),
    ],
}


@pytest.mark.parametrize(("tag", "most"), [("night", 1_000), ("night", 1)], ids=["few", "more than are looked at"])
async def test_nodes_with_a_value_are_looked_up_once_in_each_direction(
    toy: GraphAdapter, monkeypatch: pytest.MonkeyPatch, tag: str, most: int
):
    nodes, asked = DictAdapter.nodes, list[object]()

    async def spied(self: DictAdapter, *given: object, **more: object) -> Page[Entity]:
        if "tag" in given:
            asked.append((*given, more["limit"]))
        return await nodes(self, *given, **more)  # pyright: ignore[reportArgumentType] - what was given

    monkeypatch.setattr(DictAdapter, "nodes", spied)
    monkeypatch.setattr(lookups, "MAX_IDS", most)
    by_tag = matching(edge("p", "knows", "q"), where=compared("p.tag", "=", tag))
    page = await evaluate(toy, plan(by_tag, give("p", "q")), limit=50)
    assert set(rows(page)) == {("ada", "ben"), ("ada", "cyd"), ("ben", "ada")}
    assert len(asked) == len(set(asked)) == (1 if most > 1 else 2)
