"""How many queries a verb costs on a live server, and how much of a hub they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString, cast

import pytest
from neo4j import GraphDatabase, Query

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.cypher.session import Row
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.model import Count, Direction, Entity, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.relations import get_triples
from kgnav_mcp.port import AdapterOptions, FarEndFilter, GraphAdapter, far_end_filters
from tests.adapters.neo4j.graphs import PRODUCTS, SHOP, fill
from tests.neo4j_service import Neo4j


async def _category(graph: GraphAdapter) -> Entity:
    (found,) = (await graph.nodes("Category", None, None, limit=2)).items
    return found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Mapping[str, object]]]:
    """The queries that are asked from now on, with their parameters."""
    found: list[tuple[str, Mapping[str, object]]] = []
    rows = Store.rows

    async def noted(self: Store, query: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        found.append((query, parameters or {}))
        return await rows(self, query, parameters)

    monkeypatch.setattr(Store, "rows", noted)
    return found


async def test_a_call_costs_one_query_at_a_small_node_and_at_a_hub(
    graph: GraphAdapter, asked: list[tuple[str, Mapping[str, object]]]
):
    hub = await _category(graph)
    calls = (
        lambda: search(graph, "Product:sku=7", Direction.OUTGOING, limits=Limits()),
        lambda: search(graph, "Product:sku=7", Direction.OUTGOING, only=["IN_CATEGORY"], limits=Limits()),
        lambda: get_triples(graph, "Product:sku=7", ["IN_CATEGORY", "SELLS"], limits=Limits()),
        lambda: search(graph, hub.id, Direction.INCOMING, limits=Limits()),
    )
    for call in calls:
        asked.clear()
        await call()
        assert len(asked) == 1


async def test_a_set_costs_a_query_for_each_two_thousand_ids(
    graph: GraphAdapter, asked: list[tuple[str, Mapping[str, object]]]
):
    ids = [f"Product:sku={n}" for n in range(1, 3_001)]
    asked.clear()

    page = await graph.relations(ids, None, limit=50)

    assert len(asked) == 2
    assert len(page.anchors) == PRODUCTS
    (facts,) = [facts for facts in page.items if facts.relation.id == "IN_CATEGORY"]
    assert facts.per_entity == {f"Product:sku={n}": 1 for n in range(1, PRODUCTS + 1)}


async def test_many_names_cost_a_question_for_each_index_or_label(
    graph: GraphAdapter, asked: list[tuple[str, Mapping[str, object]]]
):
    (first,) = (await graph.nodes("Product", "sku", "7", limit=1)).items
    names = [first.label or "", *(f"nobody {n}" for n in range(300))]
    one = await graph.find_by_name(names[0], limit=3)
    asked.clear()

    found = await graph.find_by_names(names, limit=3)

    assert len(asked) < 20
    assert found[names[0]] == one
    assert [each for each in names if found[each].items] == names[:1]


async def test_a_long_list_is_searched_by_the_store_as_it_is_when_read(
    graph: GraphAdapter, asked: list[tuple[str, Mapping[str, object]]], monkeypatch: pytest.MonkeyPatch
):
    hub = [(await _category(graph)).id]
    wanted = (
        FarEndFilter(words="PRODUCT 199"),
        FarEndFilter(words="product 7", label="product"),
        FarEndFilter(words="nothing"),
    )
    for far in wanted:
        read = await graph.matching(hub, None, far=far, limit=500)
        with monkeypatch.context() as patch:
            patch.setattr(far_end_filters, "_ROWS", 100)
            asked.clear()
            found = await graph.matching(hub, None, far=far, limit=500)
            assert not any("SKIP $skip LIMIT $take" in query for query, _ in asked if "$words" not in query)
            pages = [await graph.matching(hub, None, far=far, limit=5)]
            while pages[-1].stop is Stop.LIMIT and len(pages) < 4:
                after = pages[-1].positions[-1]
                pages.append(await graph.matching(hub, None, far=far, limit=5, after=after))
        assert {link.triple for link in found.items} == {link.triple for link in read.items}
        assert (found.total, found.stop, found.anchors) == (read.total, read.stop, read.anchors)
        paged = [link for page in pages for link in page.items]
        assert paged == list(found.items[: len(paged)])
        assert len(paged) == min(len(found.items), 20)


async def test_a_later_page_counts_no_more_nodes_than_it_shows(
    graph: GraphAdapter, asked: list[tuple[str, Mapping[str, object]]]
):
    ids = [f"Product:sku={n}" for n in range(1, PRODUCTS + 1)]
    first = await graph.neighbours(ids, Direction.INCOMING, limit=10)
    asked.clear()

    second = await graph.neighbours(ids, Direction.INCOMING, limit=10, after=first.positions[-1])

    assert [link.anchor.id for link in (*first.items, *second.items)] == ids[:20]
    assert sum(len(cast("Sequence[object]", given.get("values", ()))) for _, given in asked) < 100
    assert (second.total, second.stop) == (first.total, first.stop)


async def test_edges_of_a_hub_cost_one_query_and_not_its_degree(
    neo4j: Neo4j, graph: GraphAdapter, asked: list[tuple[str, Mapping[str, object]]]
):
    hub = await _category(graph)
    asked.clear()

    sold = await graph.edges(["Supplier:name=Leaf & Co"], ["Product:sku=7", "Product:sku=0"], limit=5)

    assert [(triple.relation.id, getattr(triple.tail, "id", None)) for triple in sold.items] == [
        ("SELLS", "Product:sku=7")
    ]
    assert len(asked) == 1
    assert _hits(neo4j.url, *asked[0]) < 100
    asked.clear()
    loved = await graph.edges(["Product:sku=8", "Product:sku=7"], [hub.id], relations=["FAVOURITE_OF"], limit=1)
    assert (len(loved.items), loved.total, loved.stop) == (1, Count(2), Stop.LIMIT)


async def test_counting_a_hub_never_expands_it(shop: str, asked: list[tuple[str, Mapping[str, object]]]):
    await _never_expands(shop, asked)


async def test_counting_a_hub_by_apoc_never_expands_it(
    neo4j_with_apoc: Neo4j, asked: list[tuple[str, Mapping[str, object]]]
):
    await _never_expands(fill(neo4j_with_apoc, SHOP), asked)


async def _never_expands(url: str, asked: list[tuple[str, Mapping[str, object]]]) -> None:
    async with open_adapter(url, AdapterOptions()) as graph:
        hub = [(await _category(graph)).id]
        asked.clear()
        await graph.neighbours(hub, Direction.INCOMING, limit=50, all_or_none=True)
        await graph.relations(hub, Direction.INCOMING, limit=50)

    assert len(asked) == 2
    for query, given in asked:
        assert _hits(url, query, given) < 100


def _hits(url: str, query: str, parameters: Mapping[str, object]) -> int:
    """How often the store looks at a node, an edge or a property to answer a query."""

    def of_plan(plan: Any) -> int:
        return int(plan.get("dbHits", 0)) + sum(map(of_plan, plan.get("children", [])))

    driver: Any
    with GraphDatabase.driver(url) as driver:  # pyright: ignore[reportUnknownMemberType]
        done = driver.execute_query(Query(cast("LiteralString", f"PROFILE {query}")), dict(parameters))
    return of_plan(done.summary.profile)
