"""GraphWalk's primitives: nodes by value, neighbours with properties, distinct values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from kgnav_mcp.errors import UnknownName, UnknownRelation
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Stop
from kgnav_mcp.navigation.graphwalk import (
    FROM_FIRST_LINK,
    MISSING_PROPERTIES,
    get_all_nearest_neighbors,
    get_node_by_property,
    get_unique_property_values,
)
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.port import FarEndKind, GraphAdapter, ValueOwner
from tests.contract import toy
from tests.navigation.walking import all_pages, end, roles, short

LIMITS = Limits()


async def test_nodes_are_found_by_a_typed_value_with_all_their_properties(graph: GraphAdapter) -> None:
    page = (await get_node_by_property(graph, "Person", "age", "36")).page
    assert [item.entity.id for item in page.items] == ["ada", "cyd"]
    ada = {(triple.relation.id, end(triple.tail)) for triple in page.items[0].properties}
    assert {("age", "36"), ("height", "1.71"), ("alive", "false"), ("tag", "clocks"), ("tag", "night")} <= ada


async def test_any_label_stands_for_graphs_that_have_none(graph: GraphAdapter) -> None:
    page = (await get_node_by_property(graph, "*", "name", "Mercury")).page
    assert {item.entity.id for item in page.items} == {"mercury_metal", "mercury_planet"}


async def test_a_value_nobody_has_gives_an_empty_page_and_not_an_error(graph: GraphAdapter) -> None:
    page = (await get_node_by_property(graph, "Person", "age", "999")).page
    assert (page.items, page.total) == ((), Count(0))


async def test_what_was_not_looked_for_is_said_with_the_nodes_and_with_their_neighbours(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await graph.nodes("Person", "age", "36", limit=9)
    for items in (ada.items, ()):
        part = replace(ada, items=items, total=Count.at_least(len(items)), note="Other languages were left out.")
        monkeypatch.setattr(graph, "nodes", AsyncMock(return_value=part))
        page = (await get_node_by_property(graph, "Person", "age", "36")).page
        assert (page.total, page.note) == (part.total, part.note)
        near = await get_all_nearest_neighbors(graph, "Person", "age", "36", limits=LIMITS)
        assert near.anchors.note == part.note


@pytest.mark.parametrize("stop", [Stop.TIME_OUT, Stop.ROW_CAP, Stop.UNORDERED])
async def test_nodes_whose_properties_the_store_did_not_all_return_are_a_partial_answer(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch, stop: Stop
) -> None:
    read = graph.neighbours

    async def cut(*given: Any, far_end_kind: FarEndKind | None = None, **named: Any) -> AnchoredPage[Link]:
        page = await read(*given, far_end_kind=far_end_kind, **named)
        return replace(page, items=page.items[:1], stop=stop) if far_end_kind is FarEndKind.LITERAL else page

    monkeypatch.setattr(graph, "neighbours", cut)
    page = (await get_node_by_property(graph, "Person", "age", "36")).page
    assert (page.stop, page.note) == (stop, MISSING_PROPERTIES)
    links = (await get_all_nearest_neighbors(graph, "Person", "age", "36", limits=LIMITS)).links
    assert links is not None
    assert (links.stop, links.note) == (stop, MISSING_PROPERTIES)


async def test_an_unknown_label_or_property_names_the_nearest(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownName, match="no label 'Persn'") as label:
        await get_node_by_property(graph, "Persn", "age", "36")
    assert label.value.nearest[0] == "Person"
    with pytest.raises(UnknownName, match="no property 'agee'") as prop:
        await get_node_by_property(graph, "Person", "agee", "36")
    assert prop.value.nearest[0] == "age"


async def test_neighbours_come_with_their_properties_and_the_relationships_own(graph: GraphAdapter) -> None:
    found = await get_all_nearest_neighbors(graph, "Person", "name", "Ben Waters", limits=LIMITS)
    assert found.links is not None
    seen = [short(link.triple) for link in found.links.items]
    assert seen == [
        ("ben", "knows", "ada"),
        ("ben", "marriage.spouse", "ada"),
        ("ada", "knows", "ben"),
        ("ada", "knows", "ben"),
        ("ada", "marriage.spouse", "ben"),
    ]
    assert roles(found.links.items[1].triple) == {"from": "1835-07-08", "rite": "civil"}
    assert ("age", "36") in {(triple.relation.id, end(triple.tail)) for triple in found.neighbours["ada"].properties}


async def test_neighbours_come_with_their_labels(graph: GraphAdapter) -> None:
    found = await get_all_nearest_neighbors(graph, "Person", "name", "Ben Waters", limits=LIMITS)
    assert found.neighbours["ada"].entity.types == (await graph.describe(["ada"]))["ada"].types


@pytest.mark.parametrize("direction", Direction)
async def test_neighbours_narrow_to_a_direction(graph: GraphAdapter, direction: Direction) -> None:
    both = await get_all_nearest_neighbors(graph, "Person", "name", "Ben Waters", limits=LIMITS)
    one = await get_all_nearest_neighbors(graph, "Person", "name", "Ben Waters", direction=direction, limits=LIMITS)
    assert both.links is not None
    assert one.links is not None
    assert list(one.links.items) == [link for link in both.links.items if link.direction is direction]


async def test_neighbours_of_a_hub_narrow_to_a_relationship_and_a_label(graph: GraphAdapter) -> None:
    hub = ("Place", "name", "Old Harbour")
    for relationship, label, ids in (
        ("Lives at", None, ["ada"]),
        (None, "Person", ["ada"]),
        ("moored_at", "person", []),
    ):
        found = await get_all_nearest_neighbors(
            graph, *hub, relationship=relationship, neighbor_label=label, limits=LIMITS
        )
        assert found.links is not None
        assert [link.far_end.id for link in found.links.items if isinstance(link.far_end, Entity)] == ids
    boats = await get_all_nearest_neighbors(graph, *hub, neighbor_label="Boat", limits=LIMITS)
    assert boats.links is not None
    assert {link.triple.relation.id for link in boats.links.items} == {"moored_at"}
    with pytest.raises(UnknownRelation) as caught:
        await get_all_nearest_neighbors(graph, *hub, relationship="mored_at", limits=LIMITS)
    assert caught.value.nearest[0] == "moored_at"
    with pytest.raises(UnknownName, match="no label 'Boaat'"):
        await get_all_nearest_neighbors(graph, *hub, neighbor_label="Boaat", limits=LIMITS)


async def test_a_hub_collapses_to_relations_between_nodes(graph: GraphAdapter) -> None:
    found = await get_all_nearest_neighbors(graph, "Place", "name", "Old Harbour", limits=LIMITS)
    assert found.links is None
    assert found.relations is not None
    offered = {facts.relation.id for facts in found.relations.items}
    assert {"visited", "moored_at", "lives_at"} <= offered
    assert "name" not in offered, "a literal is no neighbour"


async def test_every_neighbour_of_a_hub_can_be_paged_through(graph: GraphAdapter) -> None:
    links = await all_pages(lambda after: _links(graph, "Place", "Old Harbour", after or FROM_FIRST_LINK))
    visited = [link for link in links if link.triple.relation.id == "visited"]
    assert len({link.triple.head.id for link in visited}) == len(visited) == toy.VISITORS


async def _links(graph: GraphAdapter, label: str, name: str, after: str):
    found = await get_all_nearest_neighbors(graph, label, "name", name, after=after, limits=LIMITS)
    assert found.links is not None
    return found.links


async def test_several_nodes_with_one_value_are_all_followed(graph: GraphAdapter) -> None:
    found = await get_all_nearest_neighbors(graph, "*", "name", "Mercury", limits=LIMITS)
    assert found.anchors.total == Count(2)
    assert found.links is not None
    assert [short(link.triple) for link in found.links.items] == [("ouroboros", "eats", "mercury_metal")]


async def test_distinct_values_of_nodes_and_of_relationships(graph: GraphAdapter) -> None:
    nodes = await get_unique_property_values(graph, "flag", "Boat", ValueOwner.NODE, limits=LIMITS)
    assert [(one.value.text, one.count) for one in nodes.items] == [
        ("blue", Count(toy.BOATS // 2)),
        ("red", Count(toy.BOATS // 2)),
    ]
    edges = await get_unique_property_values(graph, "year", "visited", ValueOwner.RELATIONSHIP, limits=LIMITS)
    assert [one.value.text for one in edges.items] == ["1950", "1951", "1952", "1953", "1954"]


async def test_neighbours_behind_mediators_are_listed_once(graph: GraphAdapter) -> None:
    near = await get_all_nearest_neighbors(graph, "Person", "name", "Ada Stone", relationship="marriage", limits=LIMITS)
    assert near.links is not None
    rows = [short(link.triple) for link in near.links.items]
    assert sorted(rows) == sorted({*rows})
    assert ("ada", "marriage.spouse", "ben") in rows
