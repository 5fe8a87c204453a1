"""Search-on-Graph's Algorithm 1: rows, filtered rows, or the relations of a hub."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from kgnav_mcp.errors import UnknownEntity, UnknownName, UnknownRelation
from kgnav_mcp.model import Count, Direction, Page, Stop, Triple
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.port import FarEndFilter, GraphAdapter
from tests.contract import toy
from tests.navigation.walking import all_pages, entity, short

OUTGOING, INCOMING = Direction.OUTGOING, Direction.INCOMING
LIMITS = Limits()


async def test_a_small_neighbourhood_is_shown_whole(graph: GraphAdapter) -> None:
    found = await search(graph, await entity(graph, "ouroboros"), OUTGOING, limits=LIMITS)
    assert found.relations is None
    assert found.rows is not None
    assert [short(triple)[1:] for triple in found.rows.items] == [
        ("name", "Ouroboros"),
        ("eats", "mercury_metal"),
        ("eats", "ouroboros"),
    ]
    assert (found.rows.total, found.rows.stop) == (Count(3), Stop.COMPLETE)


async def test_a_self_loop_is_seen_from_both_sides(graph: GraphAdapter) -> None:
    found = await search(graph, await entity(graph, "ouroboros"), INCOMING, limits=LIMITS)
    assert found.rows is not None
    assert [short(triple) for triple in found.rows.items] == [("ouroboros", "eats", "ouroboros")]


async def test_an_isolated_entity_has_an_empty_neighbourhood(graph: GraphAdapter) -> None:
    found = await search(graph, await entity(graph, "hermit"), INCOMING, limits=LIMITS)
    assert found.rows is not None
    assert (found.rows.items, found.rows.total) == ((), Count(0))


async def test_a_hub_collapses_to_its_relations_with_exact_counts_and_examples(graph: GraphAdapter) -> None:
    found = await search(graph, await entity(graph, toy.HUB), INCOMING, limits=LIMITS)
    assert found.rows is None
    assert found.relations is not None
    counts = {facts.relation.id: facts.count for facts in found.relations.items}
    assert counts["visited"] == Count(toy.VISITORS)
    assert counts["moored_at"] == Count(toy.BOATS)
    assert counts["lives_at"] == Count(1)
    assert all(1 <= len(facts.examples) <= 2 for facts in found.relations.items)


@pytest.mark.parametrize(("k", "hub"), [(2, True), (3, False), (4, False)])
async def test_k_is_the_largest_neighbourhood_that_is_shown(graph: GraphAdapter, k: int, hub: bool) -> None:
    found = await search(graph, await entity(graph, "ouroboros"), OUTGOING, limits=Limits(hub_threshold=k))
    assert (found.relations is not None) is hub


async def test_a_filter_shows_the_rows_of_a_hub_and_nothing_else(graph: GraphAdapter) -> None:
    found = await search(graph, await entity(graph, toy.HUB), INCOMING, only=["moored_at", "lives_at"], limits=LIMITS)
    assert found.rows is not None
    assert found.rows.total == Count(toy.BOATS + 1)
    assert {triple.relation.id for triple in found.rows.items} == {"moored_at", "lives_at"}


async def test_a_filter_takes_labels_and_any_letter_case(graph: GraphAdapter) -> None:
    found = await search(graph, await entity(graph, toy.HUB), INCOMING, only=["Moored At"], limits=LIMITS)
    assert found.rows is not None
    assert found.rows.total == Count(toy.BOATS)


async def test_p_rows_are_shown_at_most_and_the_rest_can_be_had(graph: GraphAdapter) -> None:
    hub = await entity(graph, toy.HUB)
    limits = Limits(row_limit=50)
    first = await search(graph, hub, INCOMING, only=["moored_at"], limits=limits)
    assert first.rows is not None
    assert (len(first.rows.items), first.rows.total, first.rows.stop) == (50, Count(toy.BOATS), Stop.LIMIT)
    after = first.rows.positions[-1]
    rest = await search(graph, hub, INCOMING, only=["moored_at"], after=after, limits=limits)
    assert rest.rows is not None
    assert len({triple.head.id for triple in (*first.rows.items, *rest.rows.items)}) == toy.BOATS


@pytest.mark.parametrize("named", [["Moored At"], ["moored_at", "Visited"], ["moored_at", "visited"]])
async def test_a_filter_by_labels_or_ids_is_paged_through_without_loss(graph: GraphAdapter, named: list[str]) -> None:
    hub = await entity(graph, toy.HUB)

    async def read(limits: Limits, after: str | None = None) -> Page[Triple]:
        found = await search(graph, hub, INCOMING, only=named, after=after, limits=limits)
        assert found.rows is not None
        return found.rows

    whole = await read(LIMITS)
    assert whole.stop is Stop.COMPLETE
    paged = await all_pages(lambda after: read(Limits(row_limit=25), after))
    assert paged == list(whole.items)


async def test_ids_are_followed_without_asking_what_else_they_may_mean(graph: GraphAdapter) -> None:
    hub = await entity(graph, toy.HUB)
    with patch.object(graph, "relations", side_effect=AssertionError("nothing is unclear")):
        found = await search(graph, hub, INCOMING, only=["visited", "moored_at"], limits=LIMITS)
    assert found.rows is not None
    assert found.rows.total == Count(toy.VISITORS + toy.BOATS)


async def test_a_hub_is_known_without_its_rows(graph: GraphAdapter) -> None:
    hub = await entity(graph, toy.HUB)
    with patch.object(graph, "rows_or_relations", wraps=graph.rows_or_relations) as reader:
        await search(graph, hub, INCOMING, limits=LIMITS)
    (call,) = reader.await_args_list
    found = await graph.rows_or_relations(*call.args, **call.kwargs)
    assert (found.rows.items, found.rows.stop) == ((), Stop.LIMIT)


async def test_a_question_puts_the_fitting_relation_of_a_hub_first(graph: GraphAdapter) -> None:
    hub = await entity(graph, toy.HUB)
    found = await search(graph, hub, INCOMING, question="Which boats are moored there?", limits=LIMITS)
    assert found.relations is not None
    assert found.relations.items[0].relation.id == "moored_at"


async def test_an_unknown_relation_names_the_nearest_of_that_entity(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation) as caught:
        await search(graph, await entity(graph, toy.HUB), INCOMING, only=["moored"], limits=LIMITS)
    assert caught.value.nearest[0] == "moored_at"
    assert not caught.value.opposite


async def test_a_relation_of_the_other_direction_is_said_to_be_there(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation, match="no outgoing relation") as caught:
        await search(graph, await entity(graph, toy.HUB), OUTGOING, only=["moored_at"], limits=LIMITS)
    assert caught.value.opposite
    assert "direction=incoming" in caught.value.next_step


async def test_absent_relations_among_known_ones_are_named_with_the_nearest(graph: GraphAdapter) -> None:
    for far in (FarEndFilter(), FarEndFilter(words="visitor number 7")):
        alone = await search(graph, toy.HUB, INCOMING, only=["visited"], far=far, limits=LIMITS)
        found = await search(graph, toy.HUB, INCOMING, only=["visited", "mored_at"], far=far, limits=LIMITS)
        assert found.rows is not None
        assert alone.rows is not None
        assert (found.rows.items, alone.absent) == (alone.rows.items, ())
        assert [(one.name, one.nearest[0]) for one in found.absent] == [("mored_at", "moored_at")]


async def test_a_caller_that_cannot_name_an_absent_relation_may_have_it_refused(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation, match="'mored_at'"):
        await search(graph, toy.HUB, INCOMING, only=["visited", "mored_at"], limits=LIMITS, refuse_absent=True)


async def test_a_two_hop_relation_is_accepted_by_the_filter(graph: GraphAdapter) -> None:
    found = await search(graph, await entity(graph, "ada"), OUTGOING, only=["marriage.spouse"], limits=LIMITS)
    assert found.rows is not None
    assert [short(triple)[2] for triple in found.rows.items] == ["ben", "cyd"]


@pytest.mark.parametrize("words", ["boat 7", "BOAT 7", "7 boat"])
async def test_a_hub_is_searched_by_the_words_of_its_far_ends(graph: GraphAdapter, words: str) -> None:
    for only in ([], ["moored_at"]):
        found = await search(graph, toy.HUB, INCOMING, only=only, far=FarEndFilter(words=words), limits=LIMITS)
        assert found.rows is not None
        assert {triple.head.id for triple in found.rows.items} == {"boat07", *(f"boat7{n}" for n in range(10))}


async def test_a_word_may_be_misspelt_where_no_far_end_has_it(graph: GraphAdapter) -> None:
    for words, expected in (("vistor number 7", True), ("visitor nummber 7", True), ("vstr number 7", False)):
        found = await search(graph, toy.HUB, INCOMING, only=["visited"], far=FarEndFilter(words=words), limits=LIMITS)
        assert found.rows is not None
        assert ("visitor007" in {triple.head.id for triple in found.rows.items}) is expected


async def test_a_hub_is_searched_by_the_label_of_its_far_ends(graph: GraphAdapter) -> None:
    found = await search(graph, toy.HUB, INCOMING, far=FarEndFilter(label="Person"), limits=LIMITS)
    assert found.rows is not None
    assert [short(triple)[0] for triple in found.rows.items if triple.relation.id == "lives_at"] == ["ada"]
    assert not [triple for triple in found.rows.items if triple.relation.id in ("visited", "moored_at")]
    with pytest.raises(UnknownName, match="no label 'Persn'"):
        await search(graph, toy.HUB, INCOMING, far=FarEndFilter(label="Persn"), limits=LIMITS)


async def test_what_lies_behind_mediators_is_searched_as_well(graph: GraphAdapter) -> None:
    for only in ([], ["marriage"], ["marriage.spouse"]):
        found = await search(graph, "ada", OUTGOING, only=only, far=FarEndFilter(words="ben waters"), limits=LIMITS)
        assert found.rows is not None
        assert ("ada", "marriage.spouse", "ben") in [short(triple) for triple in found.rows.items]
        assert {short(triple)[2] for triple in found.rows.items} == {"ben"}


async def test_an_id_is_followed_without_being_looked_up_first(graph: GraphAdapter) -> None:
    with patch.object(graph, "describe", side_effect=AssertionError("the rows hold the entity")):
        whole = await search(graph, "ouroboros", OUTGOING, limits=LIMITS)
        filtered = await search(graph, "ouroboros", INCOMING, only=["eats"], limits=LIMITS)
    for found in (whole, filtered):
        assert [(one.id, one.label) for one in found.entities] == [("ouroboros", "Ouroboros")]
        assert found.rows is not None
        assert found.rows.items


@pytest.mark.parametrize("only", [[], ["eats"], ["Eats"]])
@pytest.mark.parametrize("written", ["Ouroboros", " ouroboros ", "OUROBOROS"])
async def test_the_entity_may_be_given_in_other_words(graph: GraphAdapter, written: str, only: list[str]) -> None:
    found = await search(graph, written, OUTGOING, only=only, limits=LIMITS)
    assert found == await search(graph, await entity(graph, "ouroboros"), OUTGOING, only=only, limits=LIMITS)


@pytest.mark.parametrize("only", [[], ["eats"]])
async def test_an_unknown_entity_has_no_empty_neighbourhood(graph: GraphAdapter, only: list[str]) -> None:
    with pytest.raises(UnknownEntity):
        await search(graph, "nobody at all", OUTGOING, only=only, limits=LIMITS)


async def test_a_hub_that_is_given_by_its_id_is_told_by_its_name(graph: GraphAdapter) -> None:
    found = await search(graph, toy.HUB, INCOMING, limits=LIMITS)
    assert found.relations is not None
    assert found.entities == (await entity(graph, toy.HUB),)
