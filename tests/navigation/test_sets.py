"""Several entities in one call: the same facts as one call for each, told apart, at the cost of one."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from kgnav_mcp.errors import AmbiguousEntity, InvalidArgument, UnknownEntity, UnknownRelation, UnresolvedEntities
from kgnav_mcp.model import AtEntities, Count, Direction, Link, Page, Stop, Triple
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.references import resolve_entities
from kgnav_mcp.navigation.relations import get_relations, get_triples
from kgnav_mcp.port import GraphAdapter
from tests.contract import toy
from tests.navigation.walking import all_pages, short

OUTGOING, INCOMING = Direction.OUTGOING, Direction.INCOMING
LIMITS = Limits()
PEOPLE = ["ada", "ben", "cyd", "hermit"]
SMALL = ["ouroboros", "mercury_metal", "hermit"]


def without(found: AtEntities[Link]) -> dict[str, list[str]]:
    """Names with the ids of the entities that lack them."""
    return {each.relation: [one.id for one in each.entities] for each in found.entities_without}


async def rows_of(graph: GraphAdapter, entity: str, direction: Direction, only: list[str]) -> list[Triple]:
    try:
        found = await search(graph, entity, direction, only=only, limits=LIMITS)
    except UnknownRelation:
        return []
    assert found.rows is not None
    return list(found.rows.items)


@pytest.mark.parametrize(
    ("direction", "only"),
    [
        (OUTGOING, ["knows"]),
        (INCOMING, ["knows"]),
        (OUTGOING, ["Knows", "lives_at"]),
        (OUTGOING, ["marriage.spouse", "knows"]),
        (INCOMING, ["marriage.spouse"]),
    ],
)
async def test_rows_of_several_entities_are_those_of_each(
    graph: GraphAdapter, direction: Direction, only: list[str]
) -> None:
    together = await search(graph, PEOPLE, direction, only=only, limits=LIMITS)
    assert together.rows is not None
    apart = [row for one in PEOPLE for name in sorted(only) for row in await rows_of(graph, one, direction, [name])]
    assert sorted(map(str, together.rows.items)) == sorted(map(str, apart))
    assert [one.id for one in together.entities] == PEOPLE


async def test_entities_that_lack_a_relation_are_named_which_is_no_error(graph: GraphAdapter) -> None:
    for limits in (LIMITS, Limits(row_limit=2)):
        found = await get_triples(graph, PEOPLE, ["knows", "tag"], limits=limits)
        lacking = without(found)
        for name in ("knows", "tag"):
            assert lacking.get(name, []) == [one for one in PEOPLE if not await _has(graph, one, name)]
        assert "hermit" in lacking["knows"]


async def _has(graph: GraphAdapter, entity: str, relation: str) -> bool:
    page = await graph.relations([entity], None, limit=1000)
    return relation in {facts.relation.id for facts in page.items}


async def test_a_relation_that_no_entity_has_is_an_error_with_the_nearest(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation, match="none of the 4 entities has the relation 'nows'") as caught:
        await get_triples(graph, PEOPLE, ["nows"], limits=LIMITS)
    assert caught.value.nearest[0] == "knows"
    among_others = await get_triples(graph, PEOPLE, ["knows", "nows"], limits=LIMITS)
    assert among_others == replace(
        await get_triples(graph, PEOPLE, ["knows"], limits=LIMITS), absent=among_others.absent
    )
    assert [(one.name, one.nearest[0]) for one in among_others.absent] == [("nows", "knows")]
    with pytest.raises(UnknownRelation) as turned:
        await search(graph, [toy.HUB, "hermit"], OUTGOING, only=["moored_at"], limits=LIMITS)
    assert turned.value.opposite


async def test_a_few_rows_of_several_entities_are_shown_whole(graph: GraphAdapter) -> None:
    found = await search(graph, SMALL, INCOMING, limits=LIMITS)
    assert found.rows is not None
    assert [short(row) for row in found.rows.items] == [
        ("ouroboros", "eats", "ouroboros"),
        ("ouroboros", "eats", "mercury_metal"),
    ]
    assert [(each.relation, [one.id for one in each.entities]) for each in found.entities_without] == [("", ["hermit"])]


async def test_several_entities_are_a_hub_where_they_have_more_than_k_rows_together(graph: GraphAdapter) -> None:
    limits = Limits(hub_threshold=2)
    whole = await search(graph, SMALL, INCOMING, limits=limits)
    assert whole.rows is not None
    collapsed = await search(graph, PEOPLE, OUTGOING, limits=limits)
    assert collapsed.relations is not None
    knows = next(facts for facts in collapsed.relations.items if facts.relation.id == "knows")
    each = [await rows_of(graph, one, OUTGOING, ["knows"]) for one in PEOPLE]
    assert (knows.count, len(knows.per_entity)) == (Count(sum(map(len, each))), sum(map(bool, each)))


async def test_relations_of_several_entities_say_how_many_have_them(graph: GraphAdapter) -> None:
    found = await get_relations(graph, ["ada", "ben", "hermit"], limits=LIMITS)
    counts = {(facts.relation.id, facts.direction): facts for facts in found.page.items}
    for name in ("ada", "ben"):
        for facts in (await get_relations(graph, name, limits=LIMITS)).page.items:
            assert counts[facts.relation.id, facts.direction].per_entity[name] == facts.count.value


@pytest.mark.parametrize("size", [1, 7])
async def test_sets_are_paged_row_by_row(graph: GraphAdapter, size: int) -> None:
    ids = ["ada", toy.HUB, "ben", toy.REGISTRY]

    async def read(limits: Limits, after: str | None = None) -> Page[Triple]:
        found = await search(graph, ids, INCOMING, only=["knows", "visited"], after=after, limits=limits)
        assert found.rows is not None
        return found.rows

    whole = await read(LIMITS)
    assert whole.stop is Stop.COMPLETE
    assert await all_pages(lambda after: read(Limits(row_limit=size), after)) == list(whole.items)


async def test_ids_are_read_in_one_go_and_never_one_by_one(graph: GraphAdapter) -> None:
    boats = (await graph.nodes("Boat", None, None, limit=50)).items
    ids = [boat.id for boat in boats]
    with (
        patch.object(graph, "find_by_name", side_effect=AssertionError("these are ids")),
        patch.object(graph, "neighbours", wraps=graph.neighbours) as neighbours,
        patch.object(graph, "relations", wraps=graph.relations) as relations,
        patch.object(graph, "describe", wraps=graph.describe) as describe,
    ):
        await search(graph, ids, OUTGOING, only=["moored_at"], limits=LIMITS)
        await search(graph, ids, OUTGOING, limits=LIMITS)
        await get_relations(graph, ids, limits=LIMITS)
        await get_triples(graph, ids, ["moored_at"], limits=LIMITS)
    assert neighbours.await_count + relations.await_count + describe.await_count <= 6


async def test_names_and_ids_may_be_mixed_and_count_once(graph: GraphAdapter) -> None:
    entities = await resolve_entities(graph, ["Ben Waters", "ada", " ben ", "Ada Stone", "cyd"])
    assert [one.id for one in entities] == ["ben", "ada", "cyd"]
    found = await get_triples(graph, ["Ben Waters", "ada", "ben"], ["knows"], limits=LIMITS)
    assert [one.id for one in found.entities] == ["ben", "ada"]
    outgoing = [link.anchor.id for link in found.page.items if link.direction is OUTGOING]
    assert outgoing == ["ben"] * outgoing.count("ben") + ["ada"] * 3


async def test_every_unknown_and_ambiguous_name_is_told_at_once(graph: GraphAdapter) -> None:
    with pytest.raises(UnresolvedEntities) as caught:
        await search(graph, ["ada", "Ada Stne", "Mercury", "Bn Waters"], OUTGOING, limits=LIMITS)
    unknown, ambiguous, other = caught.value.problems
    assert isinstance(unknown, UnknownEntity)
    assert (unknown.reference, unknown.nearest[0].id) == ("Ada Stne", "ada")
    assert isinstance(ambiguous, AmbiguousEntity)
    assert {one.id for one in ambiguous.candidates} == {"mercury_planet", "mercury_metal"}
    assert isinstance(other, UnknownEntity)
    with pytest.raises(UnknownEntity):
        await search(graph, ["ada", "Ada Stne"], OUTGOING, limits=LIMITS)


async def test_a_thousand_names_are_one_look_up_and_only_the_first_unknown_ones_get_advice(graph: GraphAdapter) -> None:
    names = ["Ada Stone", *(f"Ada Stne {n}" for n in range(999))]
    looked_up = patch.object(type(graph), "find_by_names", autospec=True, side_effect=type(graph).find_by_names)
    found = patch.object(type(graph), "find", autospec=True, side_effect=type(graph).find)
    with (
        looked_up as look_ups,
        found as finds,
        pytest.raises(UnresolvedEntities, match="999 of the entities") as caught,
    ):
        await search(graph, names, OUTGOING, limits=LIMITS)
    assert (look_ups.call_count, finds.call_count) == (1, 8)
    first, *_, last = caught.value.problems
    assert isinstance(first, UnknownEntity)
    assert isinstance(last, UnknownEntity)
    assert (bool(first.nearest), bool(last.nearest)) == (True, False)


@pytest.mark.parametrize("nothing", [[], ["ada", " "]])
async def test_a_set_with_nothing_in_it_is_refused(graph: GraphAdapter, nothing: list[str]) -> None:
    with pytest.raises(InvalidArgument, match="empty"):
        await search(graph, nothing, OUTGOING, limits=LIMITS)


async def test_entities_without_rows_are_told_of_the_other_direction(graph: GraphAdapter) -> None:
    found = await search(graph, ["mercury_planet", "hermit"], INCOMING, limits=LIMITS)
    there = await search(graph, ["mercury_planet", "hermit"], OUTGOING, limits=LIMITS)
    assert there.rows is not None
    assert (found.opposite, found.qualified) == (there.rows.total, None)


async def test_who_lacks_a_relation_is_told_by_the_rows_that_were_read_even_where_not_all_are_shown(
    graph: GraphAdapter,
) -> None:
    limits = Limits(characters=40)
    with patch.object(graph, "relations", side_effect=AssertionError("rows were read that tell it")):
        found = await search(graph, [toy.HUB, "ada"], INCOMING, only=["visited"], limits=limits)
    assert found.rows is not None
    assert found.rows.stop is Stop.LIMIT
    whole = await search(graph, [toy.HUB, "ada"], INCOMING, only=["visited"], limits=LIMITS)
    assert found.entities_without == whole.entities_without
    assert whole.entities_without
