"""A hub with thousands of mediators on a live Virtuoso: what its collapse states, and its pages."""

from __future__ import annotations

from collections import Counter

import pytest

from kgnav_mcp.model import Count, Direction, Entity, Link, Page, Stop
from kgnav_mcp.navigation.flattening import read_flattened
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.port import FarEndKind, GraphAdapter
from tests.adapters.freebase.graph import EVENTS, guests
from tests.contract.suite.base import every
from tests.rows import triples_at
from tests.sampling import extended

GUESTS = Counter(guest for n in range(EVENTS) for guest in guests(n))
EVENT, NAME = "club.club.event", "type.object.name"
COUNTS = {
    Direction.OUTGOING: {
        EVENT: EVENTS + 2,
        f"{EVENT}.club.event.guest": GUESTS.total(),
        f"{EVENT}.club.event.host": EVENTS,
        f"{EVENT}.club.event.note": EVENTS,
        NAME: 1,
    },
    Direction.INCOMING: {"club.event.club": EVENTS, "club.guest.event.club.event.club": GUESTS.total()},
}
PATHS = [
    (Direction.OUTGOING, (EVENT, "club.event.guest")),
    (Direction.INCOMING, ("club.guest.event", "club.event.club")),
]


@pytest.mark.parametrize("direction", Direction)
async def test_a_hub_with_mediators_collapses_to_exact_counts(graph: GraphAdapter, direction: Direction):
    club = (await graph.describe(["m.club"]))["m.club"]
    seen = await search(graph, club, direction, limits=Limits(collapse_single=True))
    assert seen.relations is not None
    counts = {facts.relation.id: facts.count for facts in seen.relations.items}
    assert counts == {relation: Count(rows) for relation, rows in COUNTS[direction].items()}
    assert {facts.relation.id for facts in seen.relations.items if facts.mediators} == {
        EVENT if direction is Direction.OUTGOING else "club.event.club"
    }


@pytest.mark.parametrize("examples", [1, 2, 3])
@pytest.mark.parametrize("direction", Direction)
async def test_examples_at_a_hub_are_far_ends_with_their_names_and_always_the_same(
    graph: GraphAdapter, direction: Direction, examples: int
):
    page = await graph.relations(["m.club"], direction, hops=2, examples=examples, limit=50)
    for facts in page.items:
        assert len(set(facts.examples)) == len(facts.examples) == min(examples, _distinct(facts.relation.id))
        if len(facts.hops) == 2:
            ends = [end for end in facts.examples if isinstance(end, Entity)]
            assert all(
                end.label in {"The Host", f"Fan {int(end.id[-5:])}" if "fan" in end.id else None} for end in ends
            )
            assert {end.id for end in ends} <= {*GUESTS, "m.host"}
    assert await graph.relations(["m.club"], direction, hops=2, examples=examples, limit=50) == page


def _distinct(relation: str) -> int:
    """Far ends of a relation at the club, up to some."""
    return 1 if relation == NAME or relation.endswith("host") else EVENTS


async def test_two_hop_relations_narrow_to_entities_or_to_values(graph: GraphAdapter):
    for kind, expected in ((FarEndKind.LITERAL, {"note"}), (FarEndKind.ENTITY, {"guest", "host"})):
        page = await graph.relations(["m.club"], Direction.OUTGOING, hops=2, far_end_kind=kind, examples=2, limit=50)
        two_hops = [facts for facts in page.items if len(facts.hops) == 2]
        assert {facts.relation.id.rpartition(".")[2] for facts in two_hops} == expected
        assert all(
            isinstance(end, Entity) is (kind is FarEndKind.ENTITY) for facts in two_hops for end in facts.examples
        )


@pytest.mark.parametrize("size", [130, extended(700)])
@pytest.mark.parametrize(("direction", "path"), PATHS)
async def test_pages_through_thousands_of_mediators_lose_nothing_and_show_nothing_twice(
    graph: GraphAdapter, direction: Direction, path: tuple[str, str], size: int
):
    rows = await every(
        lambda after: triples_at(graph, ["m.club"], direction, relation_paths=[path], limit=size, after=after),
        pages=100,
    )
    assert Counter(end.id for row in rows if isinstance(end := row.far_end(direction), Entity)) == GUESTS
    assert len({(row.via, row.far_end(direction)) for row in rows}) == GUESTS.total()


@pytest.mark.parametrize("path", [(EVENT, "club.event.guest"), extended((EVENT,))])
async def test_pages_that_end_where_an_answer_is_full_go_on_there(graph: GraphAdapter, path: tuple[str, ...]):
    async def page(room: int, after: str | None) -> Page[Link]:
        return await read_flattened(
            graph, ["m.club"], Direction.OUTGOING, relation_paths=[path], limit=1_000, characters=room, after=after
        )

    rows = await every(lambda after: page(30_000, after), pages=100)
    through = [link.far_end for link in rows if link.triple.via]
    ends = [end.id for end in through if isinstance(end, Entity) and end.id != "m.host"]
    assert Counter(ends) == GUESTS
    small: list[Link] = []
    after = None
    for _ in range(12):
        few = await page(1, after)
        small += few.items
        after = few.positions[-1]
    assert small == rows[: len(small)]


async def test_of_a_hub_no_row_is_read_to_learn_that_it_is_one(graph: GraphAdapter):
    page = await triples_at(graph, ["m.club"], Direction.OUTGOING, limit=50, all_or_none=True)
    assert (page.items, page.stop, page.total) == ((), Stop.LIMIT, Count(EVENTS + 3))
