"""Sets of entities: one job a verb, counts of each entity, both directions, edges between sets, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.entities import Anchors
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.adapters.embedded.neighbours import CountReader
from kgnav_mcp.adapters.embedded.pool import Pool
from kgnav_mcp.adapters.embedded.session import Row, Session
from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import Direction, Link, RelationFacts
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.port import AdapterOptions, FarEndKind, GraphAdapter, defaults
from tests.adapters.embedded.test_load_statistics import random_turtle
from tests.contract.suite.base import ALL, every

PREFIXES = "@prefix : <http://x/> .\n"
NODES = [":hub0", ":n3", ":nowhere", ":hub1", *(f":n{n}" for n in range(40, 4, -1))]
"""Two hubs among small nodes, and one that is not there."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets")
    (folder / "g.ttl").write_text(PREFIXES + random_turtle(3), encoding="utf-8")
    load([folder / "g.ttl"], folder / "g.kg")
    return folder / "g.kg"


@pytest.fixture
async def graph(path: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(path), AdapterOptions()) as opened:
        yield opened


async def everything(graph: GraphAdapter, ids: Sequence[str], direction: Direction | None) -> Sequence[Link]:
    return (await graph.neighbours(ids, direction, limit=ALL)).items


async def test_a_verb_of_both_directions_is_one_job(graph: GraphAdapter):
    with patch.object(Pool, "run", autospec=True, side_effect=Pool.run) as run:
        await graph.neighbours(NODES, None, limit=20)
        await graph.relations(NODES, None, hops=2, examples=2, limit=ALL)
        await graph.edges(NODES, NODES, limit=20)
    assert run.call_count == 3


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 200])
@pytest.mark.parametrize("ids", [NODES[:2], NODES], ids=["two", "all"])
async def test_pages_of_both_directions_are_those_of_each_one_after_the_other(
    graph: GraphAdapter, ids: list[str], size: int
):
    separate = [*await everything(graph, ids, Direction.OUTGOING), *await everything(graph, ids, Direction.INCOMING)]
    totals = set[int]()

    async def page(after: str | None):
        found = await graph.neighbours(ids, None, limit=size, after=after)
        totals.add(found.total.value)
        return found

    assert await every(page) == separate
    assert totals == {len(separate)}


async def test_a_position_of_the_other_direction_is_refused(graph: GraphAdapter):
    page = await graph.neighbours(NODES, Direction.OUTGOING, limit=1)
    with pytest.raises(InvalidCursor):
        await graph.neighbours(NODES, Direction.INCOMING, limit=1, after=page.positions[0])


@pytest.mark.parametrize("far_end_kind", [None, *FarEndKind])
async def test_relations_have_the_counts_of_each_entity_that_their_rows_have(
    graph: GraphAdapter, far_end_kind: FarEndKind | None
):
    def of(page: Sequence[RelationFacts]) -> dict[tuple[str, str], dict[str, int]]:
        assert all(facts.count.value == sum(facts.per_entity.values()) for facts in page)
        return {(facts.direction, facts.relation.id): dict(facts.per_entity) for facts in page}

    found = await graph.relations(NODES, None, far_end_kind=far_end_kind, limit=ALL)
    counted = await defaults.relations(graph, NODES, None, hops=1, far_end_kind=far_end_kind, examples=0, limit=ALL)
    assert of(found.items) == of(counted.items)
    assert found.anchors.keys() == {*NODES} - {":nowhere"}


@pytest.mark.parametrize("far_end_kind", [None, *FarEndKind])
async def test_two_hop_relations_have_the_counts_of_each_entity_that_their_rows_have(
    graph: GraphAdapter, far_end_kind: FarEndKind | None
):
    found = await graph.relations(NODES, None, hops=2, far_end_kind=far_end_kind, limit=ALL)
    through = [facts for facts in found.items if len(facts.hops) == 2]
    assert through
    for facts in through:
        path = (facts.hops[0].id, facts.hops[1].id)
        rows = await graph.neighbours(
            NODES, facts.direction, relation_paths=[path], far_end_kind=far_end_kind, limit=ALL
        )
        assert Counter(link.anchor.id for link in rows.items) == dict(facts.per_entity)


async def test_a_set_is_looked_up_and_counted_once_for_all_its_pages(graph: GraphAdapter):
    ids = [one for one in NODES if one != ":nowhere"]
    first = await graph.neighbours(ids, None, limit=20)
    known = AssertionError("this is known")
    with (
        patch.object(CountReader, "one_hop_at_hubs", side_effect=known),
        patch.object(Anchors, "read", side_effect=known),
    ):
        second = await graph.neighbours(ids, None, limit=20, after=first.positions[-1])
    assert (second.total, len(second.items)) == (first.total, 20)


async def test_who_lacks_a_relation_is_told_without_reading_all_its_rows(graph: GraphAdapter):
    whole = await search(graph, NODES[:2] + NODES[3:], Direction.OUTGOING, only=[":p1"], limits=Limits())
    patched = patch.object(graph, "neighbours", side_effect=graph.neighbours)
    with patched as read, patch.object(graph, "relations", side_effect=AssertionError("the page tells it")):
        found = await search(
            graph, NODES[:2] + NODES[3:], Direction.OUTGOING, only=[":p1"], limits=Limits(characters=1_000)
        )
    assert [call.kwargs["limit"] for call in read.call_args_list] == [100]
    assert found.entities_without == whole.entities_without
    assert found.entities_without


async def test_small_nodes_on_a_page_are_read_together_and_no_others(graph: GraphAdapter):
    ids = [f":n{n}" for n in range(60)]
    await graph.neighbours(ids, Direction.OUTGOING, limit=20)
    with patch.object(Session, "_rows", autospec=True, side_effect=Session._rows) as rows:  # pyright: ignore[reportPrivateUsage]
        page = await graph.neighbours(ids, Direction.OUTGOING, limit=40)
    assert len({link.anchor.id for link in page.items}) > 3
    assert rows.call_count <= 2, "edges, and attributes"


@pytest.mark.parametrize("rows", [1, 50, 10_000])
async def test_rows_or_relations_are_what_the_two_verbs_give(path: Path, rows: int):
    for ids in ([":n7"], [":hub0"], [one for one in NODES if one != ":nowhere"], [f":n{n}" for n in range(30)]):
        for direction in Direction:
            async with open_adapter(str(path), AdapterOptions()) as graph:
                limits = {"rows": rows, "relations": 100, "hops": 2, "examples": 2}
                expected = await GraphAdapter.rows_or_relations(graph, ids, direction, **limits)
            async with open_adapter(str(path), AdapterOptions()) as graph:
                for _ in range(2):
                    found = await graph.rows_or_relations(ids, direction, **limits)
                    assert found == expected


async def test_rows_of_a_set_are_counted_once_to_know_that_it_is_a_hub(graph: GraphAdapter):
    ids = [f":n{n}" for n in range(60)]
    with (
        patch.object(Session, "_rows", autospec=True, side_effect=Session._rows) as queries,  # pyright: ignore[reportPrivateUsage]
        patch.object(Pool, "run", autospec=True, side_effect=Pool.run) as run,
    ):
        found = await graph.rows_or_relations(ids, Direction.OUTGOING, rows=50, relations=100, examples=2)
    assert found.relations is not None
    assert run.call_count == 1
    assert len([call for call in queries.call_args_list if "group_concat(" in call.args[1]]) == 2, (
        "edges, and attributes"
    )


@pytest.mark.parametrize("relations", [None, [":p1", ":of2"], [":note1"], []])
@pytest.mark.parametrize(
    ("heads", "tails"),
    [
        (NODES, NODES),
        (NODES[::-1], NODES[:3]),
        ([":hub0"], [":n7"]),
        ([":n7", ":n8"], [":hub1"]),
        ([":hub0"], [":hub1", ":hub0"]),
        (NODES, []),
    ],
)
async def test_edges_between_sets_are_those_among_their_rows(
    graph: GraphAdapter, heads: list[str], tails: list[str], relations: list[str] | None
):
    expected = await defaults.edges(graph, heads, tails, relations=relations, limit=ALL, after=None)
    found = await every(lambda after: graph.edges(heads, tails, relations=relations, limit=3, after=after))
    assert Counter(found) == Counter(expected.items)
    order = [heads.index(triple.head.id) for triple in found]
    assert order == sorted(order)


async def test_one_edge_of_a_hub_is_found_without_reading_the_hub(graph: GraphAdapter):
    rows: list[int] = []

    def read(session: Session, query: str, *parameters: Any, **more: Any) -> list[Row]:
        found = actual(session, query, *parameters, **more)
        rows.append(len(found))
        return found

    actual = Session._rows  # pyright: ignore[reportPrivateUsage]
    degree = len(await everything(graph, [":hub0"], Direction.OUTGOING))
    with patch.object(Session, "_rows", autospec=True, side_effect=read):
        page = await graph.edges([":hub0"], [":n7", ":hub1"], limit=5)
    assert page.items
    assert sum(rows) < degree / 5
