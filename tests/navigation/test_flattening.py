"""A mediator is folded into one triple that keeps its sibling roles together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kgnav_mcp.model import AnchoredPage, Certainty, Count, Direction, Entity, Link, Stop
from kgnav_mcp.navigation.flattening import read_flattened
from kgnav_mcp.port import GraphAdapter
from tests.contract import toy
from tests.navigation.walking import all_pages, roles, short

OUTGOING, INCOMING = Direction.OUTGOING, Direction.INCOMING


async def test_a_marriage_is_one_triple_with_its_other_roles_as_qualifiers(graph: GraphAdapter) -> None:
    page = await read_flattened(graph, ["ada"], OUTGOING, relation_paths=[("marriage",)], limit=10)
    assert [short(link.triple) for link in page.items] == [
        ("ada", "marriage.spouse", "ben"),
        ("ada", "marriage.spouse", "cyd"),
    ]
    assert [roles(link.triple) for link in page.items] == [
        {"from": "1835-07-08", "rite": "civil"},
        {"from": "1846-02-14"},
    ]
    assert [link.triple.via.id for link in page.items if link.triple.via] == ["marriage1", "marriage2"]
    assert page.total == Count(2)


async def test_a_two_hop_relation_gives_the_same_triples_as_its_first_hop(graph: GraphAdapter) -> None:
    folded = await read_flattened(graph, ["ada"], OUTGOING, relation_paths=[("marriage",)], limit=10)
    direct = await read_flattened(graph, ["ada"], OUTGOING, relation_paths=[("marriage", "spouse")], limit=10)
    assert [(short(link.triple), roles(link.triple)) for link in direct.items] == [
        (short(link.triple), roles(link.triple)) for link in folded.items
    ]


async def test_a_two_hop_relation_may_end_at_a_literal_role(graph: GraphAdapter) -> None:
    page = await read_flattened(graph, ["ada"], OUTGOING, relation_paths=[("marriage", "from")], limit=10)
    assert [short(link.triple) for link in page.items] == [
        ("ada", "marriage.from", "1835-07-08"),
        ("ada", "marriage.from", "1846-02-14"),
    ]
    assert [roles(link.triple) for link in page.items] == [{"rite": "civil", "spouse": "ben"}, {"spouse": "cyd"}]


async def test_seen_from_its_tail_a_mediator_leads_to_the_other_heads(graph: GraphAdapter) -> None:
    page = await read_flattened(graph, ["ben"], INCOMING, relation_paths=[("spouse",)], limit=10)
    assert [short(link.triple) for link in page.items] == [("ada", "marriage.spouse", "ben")]
    assert roles(page.items[0].triple) == {"from": "1835-07-08", "rite": "civil"}


async def test_what_is_no_mediator_stays_as_it_is(graph: GraphAdapter) -> None:
    page = await read_flattened(graph, ["ada"], OUTGOING, relation_paths=[("knows",)], limit=10)
    assert [short(link.triple) for link in page.items] == [
        ("ada", "knows", "ben"),
        ("ada", "knows", "ben"),
        ("ada", "knows", "cyd"),
    ]
    assert all(link.triple.via is None for link in page.items)


@pytest.mark.parametrize("size", [1, 2, 7, 50])
@pytest.mark.parametrize(("start", "direction"), [("ada", OUTGOING), (toy.HUB, INCOMING), ("visitor001", OUTGOING)])
async def test_paging_through_folded_rows_loses_none_and_repeats_none(
    graph: GraphAdapter, size: int, start: str, direction: Direction
) -> None:
    whole = (await read_flattened(graph, [start], direction, limit=10_000)).items
    paged = await all_pages(lambda after: read_flattened(graph, [start], direction, limit=size, after=after))
    assert paged == list(whole)


async def test_going_on_between_the_rows_of_one_mediator_shows_the_rest_of_them(graph: GraphAdapter) -> None:
    page = await read_flattened(graph, [toy.HUB], INCOMING, relation_paths=[("part_of",)], limit=5)
    several = next(
        (n for n in range(len(page.items) - 1) if page.items[n].triple.via == page.items[n + 1].triple.via is not None),
        None,
    )
    assert several is not None, "a berth is reached by several heads"
    rest = await read_flattened(
        graph, [toy.HUB], INCOMING, relation_paths=[("part_of",)], limit=5, after=page.positions[several]
    )
    assert rest.items[0] == page.items[several + 1]


async def test_no_mediator_is_shown_where_it_leads_on(graph: GraphAdapter) -> None:
    for start, direction in (("ada", OUTGOING), (toy.HUB, INCOMING)):
        for link in (await read_flattened(graph, [start], direction, limit=10_000)).items:
            far = link.far_end
            assert not (isinstance(far, Entity) and far.mediator), short(link.triple)


@pytest.mark.parametrize("path", [("assigned",), ("assigned", "part_of")])
async def test_rows_that_an_answer_has_no_room_for_are_neither_read_nor_lost(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    monkeypatch.setattr("kgnav_mcp.navigation.flattening._BATCH", 4)
    counter = _RequestCounter(graph, monkeypatch)
    whole = await read_flattened(graph, [toy.REGISTRY], OUTGOING, relation_paths=[path], limit=1_000)
    in_all = counter.mediators
    page = await read_flattened(graph, [toy.REGISTRY], OUTGOING, relation_paths=[path], limit=1_000, characters=200)
    assert 0 < len(page.items) < len(whole.items)
    assert page.stop is Stop.LIMIT
    assert counter.mediators - in_all < in_all / 2
    rows = await all_pages(
        lambda after: read_flattened(
            graph, [toy.REGISTRY], OUTGOING, relation_paths=[path], limit=1_000, characters=200, after=after
        )
    )
    assert rows == list(whole.items)


async def test_a_page_that_has_room_for_all_rows_says_that_nothing_follows(graph: GraphAdapter) -> None:
    whole = await read_flattened(graph, ["ada"], OUTGOING, relation_paths=[("marriage",)], limit=10)
    assert (
        await read_flattened(graph, ["ada"], OUTGOING, relation_paths=[("marriage",)], limit=10, characters=10_000)
        == whole
    )


async def test_the_second_direction_waits_until_the_first_is_shown_whole(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgnav_mcp.navigation.flattening._BATCH", 4)
    whole = await read_flattened(graph, [toy.HUB, toy.REGISTRY], None, limit=1_000)
    rows = await all_pages(
        lambda after: read_flattened(graph, [toy.HUB, toy.REGISTRY], None, limit=1_000, characters=300, after=after)
    )
    assert rows == list(whole.items)


@pytest.mark.parametrize(
    ("stop", "said"), [(Stop.TIME_OUT, "timed out"), (Stop.LIMIT, "too many"), (Stop.ROW_CAP, "no more rows")]
)
async def test_roles_that_could_not_be_read_are_said_to_be_missing(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch, stop: Stop, said: str
) -> None:
    whole = graph.neighbours

    async def cut(ids: Sequence[str], *given: Any, **named: Any) -> AnchoredPage[Link]:
        page = await whole(ids, *given, **named)
        return (
            replace(page, stop=stop, items=page.items[:1], positions=page.positions[:1]) if "ada" not in ids else page
        )

    monkeypatch.setattr(graph, "neighbours", cut)
    page = await read_flattened(graph, ["ada"], OUTGOING, relation_paths=[("marriage",)], limit=10)

    assert said in page.note
    assert page.total.certainty is Certainty.AT_LEAST
    assert page.stop is Stop.COMPLETE


class _RequestCounter:
    """Counts the entities whose triples are asked for."""

    def __init__(self, graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mediators = 0
        self._neighbours = graph.neighbours
        monkeypatch.setattr(graph, "neighbours", self.neighbours)

    async def neighbours(self, ids: Sequence[str], *given: Any, **named: Any) -> AnchoredPage[Link]:
        self.mediators += len(ids)
        return await self._neighbours(ids, *given, **named)
