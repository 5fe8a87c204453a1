"""What Neo4j on a live server does beyond the contract: ids, names, values, hubs, and a graph that is written to."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import ConfigurationError, InvalidCursor, UnknownName
from kgnav_mcp.model import Count, Direction, Entity, Literal, QualifierFacts, ValueFacts
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.port import AdapterOptions, FarEndKind, GraphAdapter, ValueOwner
from tests.adapters.neo4j.graphs import PRODUCTS, write
from tests.contract.suite.base import every
from tests.neo4j_service import Neo4j
from tests.rows import triples_at


async def _category(graph: GraphAdapter) -> Entity:
    (found,) = (await graph.nodes("Category", None, None, limit=2)).items
    return found


async def test_a_unique_key_is_the_id_and_text_and_numbers_are_both_accepted(graph: GraphAdapter):
    found = await graph.describe(["Product:sku=7", "Supplier:name=Leaf & Co", "Product:sku=0007", "Product:price=1"])

    assert {reference: (entity.id, entity.label) for reference, entity in found.items()} == {
        "Product:sku=7": ("Product:sku=7", "Product 7"),
        "Supplier:name=Leaf & Co": ("Supplier:name=Leaf & Co", "Leaf & Co"),
    }


async def test_a_node_without_a_unique_key_goes_by_the_stores_own_id_and_the_check_says_so(graph: GraphAdapter):
    category = await _category(graph)

    assert category.id.count(":") == 2
    assert (await graph.describe([category.id]))[category.id] == category
    advice = " ".join((await graph.health()).advice)
    assert "No property identifies nodes of Category" in advice
    assert "CREATE CONSTRAINT FOR (n:`Category`)" in advice
    assert "Product" not in advice.partition("CREATE CONSTRAINT")[0]


async def test_a_configured_key_is_the_id_where_there_is_no_constraint(shop: str):
    options = AdapterOptions(extra={"keys": {"Category": "categoryName"}})
    async with open_adapter(shop, options) as graph:
        assert (await _category(graph)).id == "Category:categoryName=Drinks"
        assert list(await graph.describe(["Category:categoryName=Drinks"])) == ["Category:categoryName=Drinks"]
        assert "Category" not in " ".join((await graph.health()).advice).partition("CREATE CONSTRAINT")[0]


async def test_names_are_the_usual_property_else_the_one_that_looks_like_a_name_else_the_configured_one(shop: str):
    async with open_adapter(shop, AdapterOptions()) as graph:
        found = await graph.describe(["Product:sku=1", "Supplier:name=Leaf & Co"])
        assert [entity.label for entity in found.values()] == ["Product 1", "Leaf & Co"]
        category = await _category(graph)
        assert (category.label, category.description) == ("Drinks", "All that is drunk")
    async with open_adapter(shop, AdapterOptions(extra={"names": {"Category": "description"}})) as graph:
        assert (await _category(graph)).label == "All that is drunk"


@pytest.mark.parametrize(
    ("options", "reason", "nearest"),
    [
        ({"keys": {"Categori": "categoryName"}}, "no label 'Categori' of the option 'keys'", "Category"),
        ({"keys": {"Category": "catName"}}, "no property 'catName' of the option 'keys'", "categoryName"),
        ({"names": {"Category": "descrption"}}, "no property 'descrption' of the option 'names'", "description"),
        ({"aliases": ["nam"]}, "no property 'nam' of the option 'aliases'", "name"),
        ({"descriptions": ["descriptio"]}, "no property 'descriptio'", "description"),
    ],
)
async def test_an_option_that_names_what_the_graph_does_not_have_is_refused_with_the_nearest(
    shop: str, options: dict[str, object], reason: str, nearest: str
):
    with pytest.raises(ConfigurationError, match=reason) as refused:
        async with open_adapter(shop, AdapterOptions(extra=options)):
            pass
    assert nearest in refused.value.next_step.split(": ")[1].rstrip(".").split(", ")


async def test_every_kind_of_value_is_shown_and_found_again_as_it_is_printed(graph: GraphAdapter):
    page = await triples_at(
        graph, ["Supplier:name=Leaf & Co"], Direction.OUTGOING, far_end_kind=FarEndKind.LITERAL, limit=50
    )
    shown = [(triple.relation.id, triple.tail.text) for triple in page.items if isinstance(triple.tail, Literal)]

    assert shown == [
        ("founded", "1901-02-03"),
        ("local", "2024-07-01T12:00:00.5"),
        ("name", "Leaf & Co"),
        ("notice", "1 month 15 days"),
        ("open", "08:30:00"),
        ("place", "latitude 52.5, longitude 4.75"),
        ("seen", "2024-01-02T03:04:05Z"),
        ("tags", "tea"),
        ("tags", "herbs"),
        ("utc", "2024-07-01T12:00:00Z"),
        ("vector", "vector of 1,536 numbers"),
        ("zoned", "2024-07-01T12:00:00+02:00[Europe/Paris]"),
    ]
    for name, text in (pair for pair in shown if pair[0] != "vector"):
        found = await graph.nodes("Supplier", name, text, limit=5)
        assert [entity.id for entity in found.items] == ["Supplier:name=Leaf & Co"], name
    photo = await triples_at(graph, ["Product:sku=7"], Direction.OUTGOING, relation_paths=[("photo",)], limit=5)
    assert [triple.tail for triple in photo.items] == [Literal("2,000 bytes", "bytes")]
    assert (await graph.values("vector", "Supplier", ValueOwner.NODE, limit=5)).items == ()


async def test_a_hub_collapses_to_its_relations_with_exact_counts(graph: GraphAdapter):
    found = await search(graph, await _category(graph), Direction.INCOMING, limits=Limits())

    assert found.relations is not None
    counts = {facts.relation.id: facts.count for facts in found.relations.items}
    assert counts == {"IN_CATEGORY": Count(PRODUCTS), "FAVOURITE_OF": Count(2)}
    assert all(facts.examples for facts in found.relations.items)


async def test_a_list_that_was_narrowed_leaves_nothing_out_of_what_is_asked_next(graph: GraphAdapter):
    product, outgoing = ["Product:sku=7"], Direction.OUTGOING
    probe = await triples_at(graph, product, outgoing, far_end_kind=FarEndKind.ENTITY, limit=1, all_or_none=True)
    facts = await graph.relations(product, outgoing, limit=50)

    assert probe.total.value == 3
    offered = {each.relation.id for each in facts.items}
    assert offered == {"IN_CATEGORY", "FAVOURITE_OF", "photo", "price", "productName", "sku"}


async def test_a_hub_is_paged_whole_without_gaps_or_repeats(graph: GraphAdapter):
    category = await _category(graph)

    read = await every(lambda after: triples_at(graph, [category.id], Direction.INCOMING, limit=300, after=after))

    assert sorted(triple.head.id for triple in read if triple.relation.id == "IN_CATEGORY") == sorted(
        f"Product:sku={n}" for n in range(1, PRODUCTS + 1)
    )
    since = {triple.qualifiers[0].value for triple in read if triple.head.id == "Product:sku=7" and triple.qualifiers}
    assert since == {Literal("1907", "integer")}


async def test_parallel_relationships_stay_apart(graph: GraphAdapter):
    page = await triples_at(graph, ["Product:sku=7"], Direction.OUTGOING, relation_paths=[("FAVOURITE_OF",)], limit=5)

    assert len(page.items) == 2


async def test_a_cursor_notices_that_the_list_was_written_to(neo4j: Neo4j, graph: GraphAdapter):
    category = await _category(graph)
    page = await triples_at(graph, [category.id], Direction.INCOMING, limit=5)
    write(neo4j, "MATCH (c:Category) CREATE (:Product {sku: 0})-[:IN_CATEGORY]->(c)")
    try:
        with pytest.raises(InvalidCursor, match="has changed since"):
            await triples_at(graph, [category.id], Direction.INCOMING, limit=5, after=page.positions[-1])
    finally:
        write(neo4j, "MATCH (p:Product {sku: 0}) DETACH DELETE p")
    again = await triples_at(graph, [category.id], Direction.INCOMING, limit=5, after=page.positions[-1])
    assert len(again.items) == 5


async def test_relations_labels_and_properties_that_are_new_since_the_opening_are_known(
    neo4j: Neo4j, graph: GraphAdapter
):
    write(neo4j, "MATCH (c:Category) CREATE (:Guest {nick: 'Ann'})-[:DRINKS {how: 'hot'}]->(c)")
    try:
        relations = await graph.relations([(await _category(graph)).id], Direction.INCOMING, limit=50)
        assert {facts.relation.id: facts.count.value for facts in relations.items}["DRINKS"] == 1
        assert len((await graph.nodes("Guest", "nick", "Ann", limit=5)).items) == 1
        values = await graph.values("how", "DRINKS", ValueOwner.RELATIONSHIP, limit=5)
        assert values.items == (ValueFacts(Literal("hot"), Count(1)),)
    finally:
        write(neo4j, "MATCH (g:Guest) DETACH DELETE g")


async def test_names_of_labels_and_keys_are_quoted_whatever_is_in_them(graph: GraphAdapter):
    label = "we`ird {cell}"
    page = await graph.nodes(label, "key {edge}", "odd value", limit=5)
    assert [entity.types for entity in page.items] == [(label,)]
    (facts,) = (await graph.schema(label, limit=5)).labels
    assert facts.count == Count(1)
    with pytest.raises(UnknownName):
        await graph.nodes("Category`) DETACH DELETE n //", None, None, limit=5)


async def test_the_schema_says_what_it_counted_and_what_it_sampled(graph: GraphAdapter):
    schema = await graph.schema(limit=50)

    assert schema.entities == Count(PRODUCTS + 3)
    assert schema.sampled == "labels and properties of relations are from 1,000 of each"
    (sells,) = [facts for facts in schema.relations if facts.relation.id == "SELLS"]
    assert (sells.count, sells.heads, sells.tails, sells.qualifiers) == (
        Count(PRODUCTS),
        ("Supplier",),
        ("Product",),
        (QualifierFacts("price", ("integer",)),),
    )


async def test_find_without_an_index_forgives_slips_and_the_check_asks_for_an_index(graph: GraphAdapter):
    best = (await graph.find("Prodct 1999", limit=3)).items[0]

    assert best.entity.id == "Product:sku=1999"
    assert "CREATE FULLTEXT INDEX" in " ".join((await graph.health()).advice)


async def test_a_database_is_chosen_by_name(shop: str):
    async with open_adapter(f"{shop}/neo4j", AdapterOptions()) as graph:
        assert "database neo4j" in (await graph.health()).store
        revision = graph.revision
    async with open_adapter(f"{shop}?database=neo4j", AdapterOptions()) as graph:
        assert graph.revision == revision
    absent = open_adapter(f"{shop}/films", AdapterOptions())
    with pytest.raises(ConfigurationError, match="no database 'films'") as caught:
        await absent.open()
    assert caught.value.next_step
