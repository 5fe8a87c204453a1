"""Relations of entities, with their counts."""

from __future__ import annotations

import pytest

from kgnav_mcp.errors import UnknownRelation, Unsupported
from kgnav_mcp.model import Certainty, Direction, Entity, Page, RelationFacts
from kgnav_mcp.navigation.degrees import get_degrees
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.relations import get_triples
from kgnav_mcp.port import Capability, GraphAdapter
from tests.contract import toy
from tests.contract.suite.base import ALL, AdapterContract, has
from tests.contract.toy_views import View, as_tail

SETS = (["ada"], [toy.HUB], [toy.REGISTRY], ["ouroboros"], ["ada", "ben", toy.HUB], ["hermit"], [toy.HOSTILE_HUNTER])
"""Single nodes, hubs and sets of both."""


class RelationContract(AdapterContract):
    @pytest.mark.parametrize("direction", Direction)
    @pytest.mark.parametrize("nodes", SETS)
    async def test_relations_and_counts_are_those_of_the_graph(
        self, adapter: GraphAdapter, view: View, nodes: list[str], direction: Direction
    ):
        ids = [view.node(node) for node in nodes]
        page = await adapter.relations(ids, direction, limit=ALL)
        _agrees(adapter, page, view.counts(ids, direction))
        assert all(facts.direction is direction and facts.hops == (facts.relation,) for facts in page.items)
        assert page.stop == "complete"

    @pytest.mark.parametrize("relation", [None, "knows", "eats"])
    async def test_the_degrees_of_entities_count_their_triples(
        self, adapter: GraphAdapter, view: View, relation: str | None
    ):
        ids = [view.node(node) for node in ("ada", toy.HUB, toy.REGISTRY, "ouroboros", "ben", "hermit")]
        named = None if relation is None else view.relation(relation)
        found = await get_degrees(adapter, ids, named, limits=Limits())
        shown = {(one.entity.id, one.direction): one.count for one in found.page.items}
        assert list(shown) == [(one, direction) for one in ids for direction in Direction]
        for (one, direction), count in shown.items():
            expected = sum(named in (None, row[1]) for row in view.around([one], direction))
            if has(adapter, Capability.EXACT_COUNTS):
                assert count.certainty is Certainty.EXACT
            assert count.value == expected if count.certainty is Certainty.EXACT else count.value <= expected

    async def test_relations_are_ordered_by_id_and_readable(self, adapter: GraphAdapter, view: View):
        page = await adapter.relations([view.node("ada")], Direction.OUTGOING, limit=ALL)
        ids = [facts.relation.id for facts in page.items]
        assert ids == sorted(ids)
        labels = {facts.relation.id: facts.relation.label for facts in page.items}
        assert labels[view.relation("lives_at")] == "lives at"

    async def test_a_list_with_absent_relations_is_answered_by_the_others_and_these_are_named(
        self, adapter: GraphAdapter, view: View
    ):
        ada, knows = view.node("ada"), view.relation("knows")
        names = [knows, view.relation("dislikes"), f"{knows}_not"]
        alone = await search(adapter, ada, Direction.OUTGOING, only=[knows], limits=Limits())
        found = await search(adapter, ada, Direction.OUTGOING, only=names, limits=Limits())
        assert found.rows == alone.rows
        assert (alone.absent, [one.name for one in found.absent]) == ((), names[1:])
        turned, unknown = found.absent
        assert (turned.opposite, turned.nearest) == (True, ())
        assert (unknown.opposite, knows in unknown.nearest) == (False, True)
        triples = await get_triples(adapter, ada, names, limits=Limits())
        assert {link.triple.relation.id for link in triples.page.items} == set(names[:2])
        assert [one.name for one in triples.absent] == names[2:]
        with pytest.raises(UnknownRelation) as refused:
            await search(adapter, ada, Direction.OUTGOING, only=names[1:], limits=Limits())
        assert (refused.value.relation, refused.value.opposite) == (names[1], True)

    async def test_a_limit_cuts_the_list_and_says_so(self, adapter: GraphAdapter, view: View):
        whole = await adapter.relations([view.node("ada")], Direction.OUTGOING, limit=ALL)
        page = await adapter.relations([view.node("ada")], Direction.OUTGOING, limit=2)
        assert page.items == whole.items[:2]
        assert page.stop == "limit"
        if page.total.certainty is Certainty.EXACT:
            assert page.total.value == len(whole.items)

    @pytest.mark.parametrize("direction", Direction)
    async def test_examples_are_distinct_far_ends_of_the_relation(
        self, adapter: GraphAdapter, view: View, direction: Direction
    ):
        for node in map(view.node, ("ada", toy.HUB, toy.REGISTRY)):
            page = await adapter.relations([node], direction, examples=2, limit=ALL)
            for facts in page.items:
                rows = [row for row in view.around([node], direction) if row[1] == facts.relation.id]
                ends = {row[2] if direction is Direction.OUTGOING else row[0] for row in rows}
                shown = [as_tail(example) for example in facts.examples]
                assert len(shown) == len(set(shown)) == min(2, len(ends))
                assert set(shown) <= ends

    @pytest.mark.parametrize("direction", Direction)
    @pytest.mark.parametrize(
        "nodes", [["ada"], ["ben", "cyd"], [toy.REGISTRY], [toy.HUB], ["boat03"], ["ada", toy.HUB]]
    )
    async def test_two_hop_relations_lead_through_mediators_and_never_back(
        self, adapter: GraphAdapter, view: View, nodes: list[str], direction: Direction
    ):
        ids = [view.node(node) for node in nodes]
        if not has(adapter, Capability.MEDIATORS):
            with pytest.raises(Unsupported):
                await adapter.relations(ids, direction, hops=2, limit=ALL)
            return
        page = await adapter.relations(ids, direction, hops=2, examples=2, limit=ALL)
        _agrees(adapter, page, view.counts(ids, direction) + view.counts_through(ids, direction))
        for facts in page.items:
            assert ".".join(hop.id for hop in facts.hops) == facts.relation.id
        near = 0 if direction is Direction.OUTGOING else 1
        mediated = {facts.hops[near] for facts in page.items if len(facts.hops) == 2}
        assert {facts.relation for facts in page.items if facts.mediators} == mediated
        for facts in page.items:
            if len(facts.hops) == 2:
                assert facts.examples
                assert not any(isinstance(end, Entity) and end.id in view.mediators for end in facts.examples)

    async def test_the_relations_that_state_classes_are_known_where_mediators_have_some(
        self, adapter: GraphAdapter, view: View
    ):
        stated = has(adapter, Capability.MEDIATORS) and view.style.type is not None
        assert adapter.class_relations == ({view.style.type} if stated else set())

    async def test_unknown_entities_have_no_relations(self, adapter: GraphAdapter, view: View):
        for ids in ([], [view.node("nobody")]):
            page = await adapter.relations(ids, Direction.OUTGOING, limit=ALL)
            assert (page.items, page.stop) == ((), "complete")

    async def test_an_entity_named_twice_counts_once(self, adapter: GraphAdapter, view: View):
        once = await adapter.relations([view.node("ben")], Direction.OUTGOING, limit=ALL)
        assert await adapter.relations([view.node("ben")] * 2, Direction.OUTGOING, limit=ALL) == once


def _agrees(adapter: GraphAdapter, page: Page[RelationFacts], expected: dict[str, int]) -> None:
    """Check that the relations are the expected ones, and that the counts are as exact as they claim."""
    assert [facts.relation.id for facts in page.items] == sorted(expected)
    for facts in page.items:
        count = facts.count
        if has(adapter, Capability.EXACT_COUNTS):
            assert count.certainty is Certainty.EXACT
        if count.certainty is Certainty.EXACT:
            assert count.value == expected[facts.relation.id], facts.relation.id
        elif count.certainty is Certainty.AT_LEAST:
            assert count.value <= expected[facts.relation.id]
