"""Many entities at once: both directions, the entities behind the ids, counts for each, edges between two sets."""

from __future__ import annotations

import pytest

from kgnav_mcp.model import Certainty, Direction, Entity
from kgnav_mcp.port import Capability, GraphAdapter
from tests.contract import toy
from tests.contract.suite.base import ALL, AdapterContract, every, has, without_examples
from tests.contract.toy_views import Row, View, as_row, as_rows, tally

PEOPLE = ["ada", "ben", "cyd", "hermit", "ouroboros"]
MAX = 10_000
"""Maximum ids that a verb must accept."""


class SetContract(AdapterContract):
    @pytest.mark.parametrize("direction", [None, *Direction])
    async def test_rows_and_relations_come_with_what_the_ids_are(
        self, adapter: GraphAdapter, view: View, direction: Direction | None
    ):
        ids = [view.node(node) for node in ("ada", "nobody", "hermit", toy.HUB, "ada")]
        known = await adapter.describe(ids)
        rows = await adapter.neighbours(ids, direction, limit=ALL)
        facts = await adapter.relations(ids, direction, limit=ALL)
        for anchors in (rows.anchors, facts.anchors):
            assert {given: (one.id, one.label) for given, one in anchors.items()} == {
                given: (one.id, one.label) for given, one in known.items()
            }

    async def test_who_has_no_row_of_a_relation_is_told_whatever_the_page_holds(
        self, adapter: GraphAdapter, view: View
    ):
        ids = [view.node(node) for node in ("hermit", "ada", toy.HUB, "ben", "ouroboros")]
        paths = [(view.relation("knows"),)]
        for direction in (None, *Direction):
            pages = [await adapter.neighbours(ids, direction, relation_paths=paths, limit=limit) for limit in (1, ALL)]
            having = {link.anchor.id for link in pages[-1].items}
            for without in (page.without for page in pages if page.without is not None):
                assert [one.id for one in without] == [one for one in ids if one not in having]

    async def test_an_entity_without_rows_is_told_from_no_entity(self, adapter: GraphAdapter, view: View):
        path = [(view.relation("eats"),)]
        for node, known in (("ada", True), ("nobody", False)):
            page = await adapter.neighbours([view.node(node)], None, relation_paths=path, limit=5)
            assert (page.items, view.node(node) in page.anchors) == ((), known)

    @pytest.mark.parametrize("size", [1, 7, ALL])
    async def test_both_directions_are_one_list_outgoing_first(self, adapter: GraphAdapter, view: View, size: int):
        ids = [view.node("ada"), view.node("ouroboros")]
        read = await self.walked(lambda limit, after: adapter.neighbours(ids, None, limit=limit, after=after), size)
        sides = [link.direction for link in read]
        assert sides == sorted(sides, key=list(Direction).index)
        for side in Direction:
            own = [link for link in read if link.direction is side]
            assert tally(as_rows([link.triple for link in own])) == tally(view.around(ids, side))
            order = [ids.index(link.anchor.id) for link in own]
            assert order == sorted(order)

    async def test_the_total_of_both_directions_is_the_same_on_every_page(self, adapter: GraphAdapter, view: View):
        ids = [view.node(toy.HUB)]
        after: str | None = None
        for _ in range(3):
            page = await adapter.neighbours(ids, None, limit=70, after=after)
            if page.total.certainty is Certainty.EXACT:
                assert page.total.value == sum(len(view.around(ids, side)) for side in Direction)
            after = page.positions[-1]

    async def test_all_or_none_counts_both_directions_together(self, adapter: GraphAdapter, view: View):
        ids = [view.node("ada")]
        size = sum(len(view.around(ids, side)) for side in Direction)
        whole = await adapter.neighbours(ids, None, limit=size, all_or_none=True)
        assert (len(whole.items), whole.stop) == (size, "complete")
        page = await adapter.neighbours(ids, None, limit=size - 1, all_or_none=True)
        assert (page.items, page.stop) == ((), "limit")
        assert page.total.value > size - 1

    async def test_relations_of_both_directions_are_those_of_each(self, adapter: GraphAdapter, view: View):
        ids = [view.node("ada"), view.node(toy.HUB)]
        both = await adapter.relations(ids, None, examples=1, limit=ALL)
        apart = [await adapter.relations(ids, side, examples=1, limit=ALL) for side in Direction]
        assert without_examples(both.items) == without_examples((*apart[0].items, *apart[1].items))
        cut = await adapter.relations(ids, None, examples=1, limit=3)
        assert (without_examples(cut.items), cut.stop) == (without_examples(both.items[:3]), "limit")

    @pytest.mark.parametrize("direction", Direction)
    async def test_a_relation_says_how_many_rows_each_entity_has(
        self, adapter: GraphAdapter, view: View, direction: Direction
    ):
        ids = [view.node(node) for node in (*PEOPLE, toy.HUB, toy.REGISTRY)]
        page = await adapter.relations(ids, direction, limit=ALL)
        expected = {node: view.counts([node], direction) for node in ids}
        for facts in page.items:
            assert facts.count.value == sum(facts.per_entity.values())
            name = facts.relation.id
            assert set(facts.per_entity) == {node for node in ids if expected[node][name]}
            if facts.count.certainty is Certainty.EXACT:
                assert facts.per_entity == {node: expected[node][name] for node in facts.per_entity}

    async def test_two_hop_relations_say_it_too(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.MEDIATORS):
            return
        ids = [view.node(node) for node in ("ada", "ben", toy.REGISTRY)]
        page = await adapter.relations(ids, Direction.OUTGOING, hops=2, limit=ALL)
        for facts in page.items:
            if len(facts.hops) == 2 and facts.count.certainty is Certainty.EXACT:
                through = {node: view.counts_through([node], Direction.OUTGOING)[facts.relation.id] for node in ids}
                assert facts.per_entity == {node: rows for node, rows in through.items() if rows}

    @pytest.mark.parametrize("size", [1, ALL])
    async def test_edges_between_two_sets_are_all_there_and_no_others(
        self, adapter: GraphAdapter, view: View, size: int
    ):
        heads = [view.node(node) for node in (*PEOPLE, "visitor001", "visitor002", "nobody")]
        tails = [view.node(node) for node in ("ben", "cyd", toy.HUB, "ouroboros", "nobody")]
        read = await self.walked(lambda limit, after: adapter.edges(heads, tails, limit=limit, after=after), size)
        assert tally(as_rows(read)) == tally(_between(view, heads, tails))
        order = [heads.index(triple.head.id) for triple in read]
        assert order == sorted(order)

    async def test_edges_are_narrowed_to_relations(self, adapter: GraphAdapter, view: View):
        heads, tails = [view.node("ada")], [view.node("ben"), view.node(toy.HUB)]
        relations = [view.relation("knows"), view.relation("no_such_relation")]
        page = await adapter.edges(heads, tails, relations=relations, limit=ALL)
        expected = [row for row in _between(view, heads, tails) if row[1] in relations]
        assert tally(as_rows(page.items)) == tally(expected)
        assert (await adapter.edges(heads, tails, relations=[], limit=ALL)).items == ()

    async def test_one_edge_of_a_hub_is_found_or_known_not_to_be_there(self, adapter: GraphAdapter, view: View):
        hub = [view.node(toy.HUB)]
        found = await adapter.edges([view.node("visitor007")], hub, limit=5)
        assert [(triple.relation.id, triple.tail.id) for triple in found.items if isinstance(triple.tail, Entity)] == [
            (view.relation("visited"), hub[0])
        ]
        assert found.items[0].head.label == "Visitor Number 7"
        nothing = await adapter.edges(hub, [view.node("visitor007")], limit=5)
        assert (nothing.items, nothing.stop) == ((), "complete")

    async def test_no_ids_have_no_edges(self, adapter: GraphAdapter, view: View):
        for heads, tails in (([], [view.node("ada")]), ([view.node("ada")], []), ([], [])):
            page = await adapter.edges(heads, tails, limit=5)
            assert (page.items, page.stop) == ((), "complete")

    @pytest.mark.parametrize(
        ("size", "direction"), [*((size, side) for size in (1, 5) for side in Direction), (1_001, None)]
    )
    async def test_a_set_of_any_size_is_answered_whole(
        self, adapter: GraphAdapter, view: View, size: int, direction: Direction | None
    ):
        await _is_answered_whole(adapter, view, size, direction)

    @pytest.mark.parametrize("size", [5, 1_001])
    async def test_a_large_set_is_paged_and_narrowed(self, adapter: GraphAdapter, view: View, size: int):
        await _is_paged_and_narrowed(adapter, view, size)

    async def test_edges_between_large_sets_are_found(self, adapter: GraphAdapter, view: View):
        await _edges_are_found(adapter, view, 1_001)


class VastSetContract(AdapterContract):
    """The largest sets of ids, tested once for each adapter, since the adapter divides a set into queries."""

    async def test_ten_thousand_ids_are_answered_whole(self, adapter: GraphAdapter, view: View):
        await _is_answered_whole(adapter, view, MAX, None)

    async def test_a_set_of_ten_thousand_is_paged_and_narrowed(self, adapter: GraphAdapter, view: View):
        await _is_paged_and_narrowed(adapter, view, MAX)

    async def test_edges_between_sets_of_ten_thousand_are_found(self, adapter: GraphAdapter, view: View):
        await _edges_are_found(adapter, view, MAX)


async def _is_answered_whole(adapter: GraphAdapter, view: View, size: int, direction: Direction | None) -> None:
    ids = _ids(view, size)
    page = await adapter.neighbours(ids, direction, limit=ALL)
    relations = await adapter.relations(ids, direction, limit=ALL)
    for side in Direction if direction is None else (direction,):
        own = [link.triple for link in page.items if link.direction is side]
        assert tally(as_rows(own)) == tally(view.around(ids, side))
        counted = {
            facts.relation.id: sum(facts.per_entity.values()) for facts in relations.items if facts.direction is side
        }
        assert counted == view.counts(ids, side)
    assert set(page.anchors) == set(relations.anchors) == {node for node in ids if node in view.types}
    assert len(await adapter.describe(ids)) == len(page.anchors)


async def _is_paged_and_narrowed(adapter: GraphAdapter, view: View, size: int) -> None:
    ids, path = _ids(view, size), (view.relation("visited"),)
    expected = [row for row in view.around(ids, Direction.OUTGOING) if row[1] == path[0]]
    read = await every(
        lambda after: adapter.neighbours(ids, Direction.OUTGOING, relation_paths=[path], limit=100, after=after)
    )
    assert tally(as_row(link.triple) for link in read) == tally(expected)
    for limit in (max(len(expected), 1), max(len(expected) - 1, 1)):
        page = await adapter.neighbours(ids, Direction.OUTGOING, relation_paths=[path], limit=limit, all_or_none=True)
        assert len(page.items) == (len(expected) if limit >= len(expected) else 0)


async def _edges_are_found(adapter: GraphAdapter, view: View, size: int) -> None:
    ids = _ids(view, size)
    page = await adapter.edges(ids, ids, limit=ALL)
    assert tally(as_rows(page.items)) == tally(_between(view, ids, ids))


def _ids(view: View, size: int) -> list[str]:
    """This many ids: nodes of the graph, hubs not first, with unknown ids between and after them."""
    known = [view.node(node.id) for node in toy.NODES]
    unknown = [view.node(f"nobody{number}") for number in range(size)]
    mixed = [one for pair in zip(known, unknown, strict=False) for one in pair]
    return [*mixed, *unknown[len(known) :]][:size]


def _between(view: View, heads: list[str], tails: list[str]) -> list[Row]:
    ends = set(tails)
    return [row for row in view.around(dict.fromkeys(heads), Direction.OUTGOING) if row[2] in ends]
