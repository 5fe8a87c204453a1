"""GraphWalker's two tools, without the weaknesses of its public code."""

from __future__ import annotations

import pytest

from kgnav_mcp.errors import UnknownEntity, UnknownRelation
from kgnav_mcp.model import Count, Direction, Entity, Link, Page, RelationFacts, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.relations import get_relations, get_triples
from kgnav_mcp.port import GraphAdapter
from tests.contract import toy
from tests.navigation.walking import all_pages, entity, roles, short

OUTGOING, INCOMING = Direction.OUTGOING, Direction.INCOMING
LIMITS = Limits()


async def test_each_relation_keeps_its_direction(graph: GraphAdapter) -> None:
    page = (await get_relations(graph, await entity(graph, "ada"), limits=LIMITS)).page
    directions = [(facts.relation.id, facts.direction) for facts in page.items]
    assert ("knows", OUTGOING) in directions
    assert ("knows", INCOMING) in directions
    assert ("dislikes", INCOMING) in directions
    assert ("dislikes", OUTGOING) not in directions


async def test_two_hop_relations_through_mediators_are_offered(graph: GraphAdapter) -> None:
    page = (await get_relations(graph, await entity(graph, "ada"), limits=LIMITS)).page
    counts = {facts.relation.id: facts.count for facts in page.items if facts.direction is OUTGOING}
    assert counts["marriage.spouse"] == Count(2)
    assert counts["marriage.from"] == Count(2)
    assert counts["marriage.rite"] == Count(1)


async def test_every_offered_relation_is_accepted_and_has_as_many_triples_as_it_said(graph: GraphAdapter) -> None:
    for name in ("ada", "ben", toy.HUB, toy.HOSTILE_HUNTER, "ouroboros"):
        start = await entity(graph, name)
        for facts in (await get_relations(graph, start, limits=LIMITS)).page.items:
            chosen = facts.relation.id
            page = (await get_triples(graph, start, [chosen], limits=LIMITS)).page
            same_way = [link for link in page.items if link.direction is facts.direction]
            if not facts.mediators:
                assert Count(len(same_way)) == facts.count, (name, chosen)
            assert same_way, (name, chosen)


async def test_a_question_ranks_and_cuts_and_the_rest_stays_reachable(graph: GraphAdapter) -> None:
    ada = await entity(graph, "ada")
    limits = Limits(top_k=3)
    first = (
        await get_relations(graph, ada, question="To whom is there a marriage, who is the spouse?", limits=limits)
    ).page
    assert first.items[0].relation.id == "marriage.spouse"
    assert (len(first.items), first.stop) == (3, Stop.LIMIT)

    async def page(after: str | None) -> Page[RelationFacts]:
        return (await get_relations(graph, ada, question="spouse", after=after, limits=limits)).page

    paged = await all_pages(page)
    whole = (await get_relations(graph, ada, limits=LIMITS)).page
    assert len(paged) == len(whole.items) == first.total.value
    assert {(facts.relation.id, facts.direction) for facts in paged} == {
        (facts.relation.id, facts.direction) for facts in whole.items
    }


async def test_a_flattened_relation_is_not_lost_to_the_white_list(graph: GraphAdapter) -> None:
    page = (await get_relations(graph, await entity(graph, "ada"), limits=Limits(white_list=("marriage.*",)))).page
    assert {facts.relation.id for facts in page.items} == {"marriage.spouse", "marriage.from", "marriage.rite"}


async def test_triples_of_both_directions_come_together(graph: GraphAdapter) -> None:
    page = (await get_triples(graph, await entity(graph, "ada"), ["knows"], limits=LIMITS)).page
    assert [short(link.triple) for link in page.items] == [
        ("ada", "knows", "ben"),
        ("ada", "knows", "ben"),
        ("ada", "knows", "cyd"),
        ("ben", "knows", "ada"),
    ]
    assert page.total == Count(4)


async def test_parallel_edges_keep_their_own_qualifiers(graph: GraphAdapter) -> None:
    page = (await get_triples(graph, await entity(graph, "ada"), ["knows"], limits=LIMITS)).page
    to_ben = [roles(link.triple) for link in page.items if short(link.triple)[2] == "ben"]
    assert to_ben == [{"since": "1830"}, {"how": "work", "since": "1841"}]


async def _triples(
    graph: GraphAdapter, anchor: Entity, chosen: list[str], after: str | None, limits: Limits
) -> Page[Link]:
    return (await get_triples(graph, anchor, chosen, after=after, limits=limits)).page


@pytest.mark.parametrize("size", [1, 3, 4, 5, 100])
async def test_paging_crosses_from_outgoing_to_incoming_without_loss(graph: GraphAdapter, size: int) -> None:
    ada = await entity(graph, "ada")
    chosen = ["knows", "dislikes", "marriage.spouse"]
    whole = (await get_triples(graph, ada, chosen, limits=LIMITS)).page.items
    limits = Limits(row_limit=size)
    paged = await all_pages(lambda after: _triples(graph, ada, chosen, after, limits))
    assert paged == list(whole)
    first = (await get_triples(graph, ada, chosen, limits=limits)).page
    assert first.total == Count(len(whole)), "the total is of the whole list, whichever page"


@pytest.mark.parametrize("chosen", [["Knows"], ["knows", "DISLIKES"], ["Knows", "marriage.spouse"]])
async def test_labels_are_paged_through_as_ids_are(graph: GraphAdapter, chosen: list[str]) -> None:
    ada = await entity(graph, "ada")
    whole = (await get_triples(graph, ada, chosen, limits=LIMITS)).page.items
    assert whole
    limits = Limits(row_limit=2)
    assert await all_pages(lambda after: _triples(graph, ada, chosen, after, limits)) == list(whole)


async def test_a_relation_that_the_black_list_hides_has_no_triples_either(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation):
        await get_triples(graph, await entity(graph, "ada"), ["knows"], limits=Limits(black_list=("knows",)))


async def test_no_limit_is_silent(graph: GraphAdapter) -> None:
    page = (await get_triples(graph, await entity(graph, toy.HUB), ["visited"], limits=Limits(row_limit=40))).page
    assert (len(page.items), page.total, page.stop) == (40, Count(toy.VISITORS), Stop.LIMIT)


async def test_an_unknown_relation_names_the_nearest_valid_ones(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation) as caught:
        await get_triples(graph, await entity(graph, "ada"), ["know"], limits=LIMITS)
    assert "knows" in caught.value.nearest


async def test_a_hostile_relation_name_is_only_a_name(graph: GraphAdapter) -> None:
    page = (
        await get_triples(graph, await entity(graph, toy.HOSTILE_HUNTER), [toy.HOSTILE_RELATION], limits=LIMITS)
    ).page
    assert [link.triple.relation.id for link in page.items] == [toy.HOSTILE_RELATION]


@pytest.mark.parametrize("written", ["ada", "Ada Stone"])
async def test_the_entity_may_be_given_by_id_or_name(graph: GraphAdapter, written: str) -> None:
    ada = await entity(graph, "ada")
    for relations in (["knows"], ["Knows"]):
        found = await get_triples(graph, written, relations, limits=LIMITS)
        assert [(one.id, one.label) for one in found.entities] == [("ada", ada.label)]
        assert found.page.total == Count(4)
    offered = await get_relations(graph, written, limits=LIMITS)
    assert [(one.id, one.label) for one in offered.entities] == [("ada", ada.label)]
    assert offered.page == (await get_relations(graph, ada, limits=LIMITS)).page


async def test_an_unknown_entity_is_said_before_an_unknown_relation(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownEntity):
        await get_triples(graph, "nobody at all", ["knows"], limits=LIMITS)
    with pytest.raises(UnknownEntity):
        await get_relations(graph, "nobody at all", limits=LIMITS)
