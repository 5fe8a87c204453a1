"""What the endpoint's time cut is never taken for the whole: neither shown as such, nor kept."""

from __future__ import annotations

import pytest
from rdflib import Literal, URIRef

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.freebase.catalogue import CatalogueCache
from kgnav_mcp.adapters.freebase.counts import CountReader
from kgnav_mcp.adapters.freebase.linking import Linker
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.sparql import catalogue as catalogue_module
from kgnav_mcp.adapters.sparql.linking import Size
from kgnav_mcp.adapters.sparql.schema import SchemaReader
from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Certainty, Count, Direction, Entity, Stop
from kgnav_mcp.port import AdapterOptions
from tests.adapters.freebase.stubbed import ANN, NAME, Endpoint, Row, lists_of, ns, page_of, relations_of, store_of
from tests.adapters.sparql.clock import Clock, timed
from tests.adapters.sparql.stub import always, serving, table

LABELLED: Row = {"s": ANN, "p": NAME, "o": Literal("Ann", lang="en")}


async def test_an_entity_of_which_it_was_not_seen_in_time_that_it_is_there_is_not_said_to_be_missing():
    endpoint = Endpoint(("EXISTS", [{"s": ANN}]))
    endpoint.cut = {"EXISTS"}
    names = Names(store_of(endpoint))
    with pytest.raises(StoreTimeout, match="stopped the query"):
        await names.described([ANN])
    endpoint.cut = set()
    assert (await names.described([ANN]))[ANN].mediator


async def test_the_name_of_a_relation_that_was_not_read_in_time_is_read_again():
    relation = ns("film.actor.film")
    endpoint = Endpoint(("type.object.name", [{"s": relation, "o": Literal("Films", lang="en")}]))
    endpoint.cut = {"type.object.name"}
    names = Names(store_of(endpoint))
    with pytest.raises(StoreTimeout):
        await names.relations([relation])
    endpoint.cut = set()
    assert (await names.relations([relation]))[relation].label == "Films"


async def test_counts_that_a_time_out_cut_are_counted_again():
    endpoint = Endpoint(("GROUP BY", [{"p": ns("a.b"), "n": Literal(7)}]))
    counts = CountReader(store_of(endpoint))
    endpoint.cut = {"GROUP BY"}
    assert (await counts.one_hop([ANN], Direction.OUTGOING, None)).total == Count.at_least(7)
    endpoint.cut = set()
    assert (await counts.one_hop([ANN], Direction.OUTGOING, None)).total == Count(7)


async def test_a_page_ends_before_the_rows_that_were_not_read_in_time():
    slices = [{"o": ns(f"m.{n:03}")} for n in range(150)]
    endpoint = Endpoint(
        ("GROUP BY", [{"p": ns("a.large"), "n": Literal(150)}, {"p": ns("b.small"), "n": Literal(3)}]),
        (r"VALUES \(.s .p\)", [{"s": ANN, "p": ns("b.small"), "o": ns("m.only_one_of_three")}]),
        ("OFFSET", slices),
        (all_rows := r"SELECT .s .p .o WHERE . VALUES .s ", []),
    )
    endpoint.cut = {r"VALUES \(.s .p\)", all_rows}
    page = await page_of(endpoint, [ANN], 200)
    assert {triple.relation.id for triple in page.items} == {"a.large"}
    assert (len(page.items), page.stop) == (150, Stop.TIME_OUT)
    endpoint.cut = {"OFFSET"}
    page = await page_of(endpoint, [ANN], 200, all_or_none=True)
    assert (len(page.items), page.stop) == (150, Stop.TIME_OUT)
    assert page.positions[-1].startswith("0|150.0|a.large")


@pytest.mark.parametrize(("rows", "query"), [(5_000, "AS .first"), (5_000_000, "LIMIT 1000")])
async def test_mediators_that_were_not_looked_for_in_time_are_said_to_be_missing(rows: int, query: str):
    endpoint = Endpoint((r"SELECT \?p \(COUNT", [{"p": ns("a.b"), "n": Literal(rows)}]), (query, []))
    counts = CountReader(store_of(endpoint))
    endpoint.cut = {query}
    assert (await counts.two_hops([ANN], Direction.OUTGOING, None)).stop is Stop.TIME_OUT
    endpoint.cut = set()
    assert (await counts.two_hops([ANN], Direction.OUTGOING, None)).stop is Stop.COMPLETE


@pytest.mark.parametrize(("anchors", "query"), [([ANN], "AS .o0"), ([ANN, ns("m.bob")], "AS .number")])
async def test_examples_that_were_not_read_in_time_are_said_to_be_missing(anchors: list[URIRef], query: str):
    counts = [{"s": anchor, "p": ns("a.b"), "n": Literal(5)} for anchor in anchors]
    endpoint = Endpoint(("GROUP BY", counts), (query, []))
    endpoint.cut = {query}
    page = await relations_of(endpoint, anchors, 2)
    assert (page.items[0].count, page.stop) == (Count(5 * len(anchors)), Stop.TIME_OUT)


async def test_relations_that_were_not_counted_in_time_are_listed_without_counts():
    relation = ns("a.b")
    endpoint = Endpoint(
        (r"\?l \(COUNT", [{"p": ns("a.other"), "l": Literal(0), "n": Literal(2)}]), ("DISTINCT", [{"p": relation}])
    )
    endpoint.cut = {r"\?l \(COUNT"}
    catalogues = CatalogueCache(store := store_of(endpoint), Names(store), Count(3))
    catalogue = await catalogues.get()
    assert catalogue.relations[relation].values.certainty is Certainty.UNKNOWN
    assert catalogue.stop is Stop.COMPLETE
    assert "not counted" in (catalogue.sampled or "")


@pytest.mark.parametrize("cut", ["DISTINCT", r"\?t \(COUNT"])
async def test_a_catalogue_of_a_part_denies_nothing_and_is_read_again(cut: str, monkeypatch: pytest.MonkeyPatch):
    endpoint = Endpoint(
        (r"\?l \(COUNT", []), ("DISTINCT", [{"p": ns("a.b")}]), (r"\?t \(COUNT", [{"t": ns("a.type"), "n": Literal(1)}])
    )
    endpoint.cut = {r"\?l \(COUNT", cut}
    monkeypatch.setattr(catalogue_module, "TTLCache", timed(clock := Clock()))
    catalogues = CatalogueCache(store := store_of(endpoint), Names(store), Count(3))
    part = await catalogues.get()
    for ask in (part.properties, part.types_named, part.types_and_relations_named):
        with pytest.raises(StoreTimeout, match=r"in time whether it has a .*'nothing'"):
            ask("nothing", None)
    assert await catalogues.get() is part
    endpoint.cut = set()
    clock.now += 59
    assert await catalogues.get() is part
    clock.now += 2
    whole = await catalogues.get()
    with pytest.raises(UnknownName):
        whole.types_named("nothing", None)


CAPS = [{r"\?l \(COUNT"}, {r"\?t \(COUNT"}, {"DISTINCT"}]


@pytest.mark.parametrize("capped", CAPS, ids=str)
async def test_a_catalogue_that_the_row_cap_cut_denies_nothing_and_is_no_time_out(capped: set[str]):
    endpoint = Endpoint(
        (r"\?l \(COUNT", [{"p": ns("a.b"), "l": Literal(1), "n": Literal(2)}]),
        ("DISTINCT", [{"p": ns("a.b")}]),
        (r"\?t \(COUNT", [{"t": ns("a.type"), "n": Literal(1)}]),
    )
    endpoint.capped = capped
    endpoint.cut = {r"\?l \(COUNT"} if "DISTINCT" in capped else set()
    catalogues = CatalogueCache(store := store_of(endpoint), Names(store), Count(3))
    part = await catalogues.get()
    for ask in (part.properties, part.types_named, part.types_and_relations_named):
        with pytest.raises(Unsupported, match=r"whether the store has a .*'nothing': its row cap"):
            ask("nothing", None)
    assert "missing" in (part.sampled or "")
    assert "the endpoint's row cap cut them" in (part.sampled or "")
    asked = len(endpoint.queries)
    assert (await catalogues.get(), len(endpoint.queries)) == (part, asked)


async def test_a_catalogue_that_time_and_the_row_cap_cut_may_be_whole_at_another_try():
    endpoint = Endpoint((r"\?l \(COUNT", [{"p": ns("a.b"), "l": Literal(1), "n": Literal(2)}]), (r"\?t \(COUNT", []))
    endpoint.capped, endpoint.cut = {r"\?l \(COUNT"}, {r"\?t \(COUNT"}
    catalogue = await CatalogueCache(store := store_of(endpoint), Names(store), Count(3)).get()
    with pytest.raises(StoreTimeout, match="in time whether it has a property 'nothing'"):
        catalogue.properties("nothing", None)


@pytest.mark.parametrize("counted", [[], [{"n": Literal(0)}], [{"n": Literal(40)}]])
async def test_a_list_that_was_not_counted_in_time_is_not_taken_for_a_short_one(counted: list[Row]):
    nodes = [{"s": ns(f"m.{n}")} for n in range(5)]
    endpoint = Endpoint(
        ("COUNT.DISTINCT", counted),
        ("OFFSET 6000 LIMIT 5", nodes),
        (r"\?l \(COUNT", []),
        ("EXISTS", nodes),
        ("DISTINCT .p", []),
    )
    endpoint.cut = {"COUNT.DISTINCT"}
    page = await lists_of(store_of(endpoint)).nodes(None, None, None, 5, "6000")
    assert [entity.id for entity in page.items] == [f"m.{n}" for n in range(5)]
    assert page.total.certainty is not Certainty.EXACT
    assert page.stop is Stop.LIMIT


async def test_a_name_that_was_not_read_in_time_is_no_unambiguous_one():
    endpoint = Endpoint((r"VALUES \?o", [LABELLED]))
    endpoint.cut = {r"VALUES \?o"}
    with pytest.raises(StoreTimeout):
        await Linker(store := store_of(endpoint), Names(store)).named("Ann", 5)


async def test_a_full_text_index_that_did_not_answer_in_time_is_asked_for_again():
    whole = {"contains": [{"o": Literal("Anna")}], "LIMIT 50": [{"o": Literal("Anna")}]}
    linker = Linker(store := store_of(endpoint := Endpoint()), Names(store))
    for pattern in whole:
        endpoint.answers, endpoint.cut = tuple({**whole, pattern: []}.items()), {pattern}
        with pytest.raises(StoreTimeout):
            await linker.full_text()
    endpoint.answers, endpoint.cut = tuple(whole.items()), set()
    assert await linker.full_text()


async def test_a_degree_that_was_not_counted_in_time_is_a_lower_bound():
    endpoint = Endpoint(("GROUP BY", [{"s": ANN, "n": Literal(7)}]))
    linker = Linker(store := store_of(endpoint), Names(store))
    assert await linker.sizes([ANN]) == {ANN: Size(Count(14))}
    endpoint.cut = {"GROUP BY"}
    assert await linker.sizes([ANN]) == {ANN: Size(Count.at_least(14))}


async def test_the_values_at_a_type_are_lower_bounds_where_its_nodes_were_not_all_counted():
    endpoint = Endpoint(
        (r"\?l \(COUNT.*LIMIT", [{"p": ns("a.b"), "l": Literal(1), "n": Literal(3)}]),
        (r"\?l \(COUNT", [{"p": ns("a.b"), "l": Literal(1), "n": Literal(9)}]),
        (r"\?t \(COUNT", [{"t": ns("a.type"), "n": Literal(2)}]),
    )
    for cut, make in ((set[str](), Count), ({r"\?t \(COUNT"}, Count.at_least)):
        endpoint.cut = cut
        names = Names(store := store_of(endpoint))
        schema = await SchemaReader(store.reader, names, CatalogueCache(store, names, Count(3)).get).around("a.type", 5)
        assert [facts.count for facts in schema.properties] == [make(3)]


async def test_types_at_the_ends_of_relations_that_were_not_read_in_time_are_said_to_be_missing_and_read_again():
    endpoint = Endpoint(
        (r"\?l \(COUNT", [{"p": ns("a.b"), "l": Literal(0), "n": Literal(3)}]),
        (r"!isLiteral", [{"number": Literal(0), "t": ns("a.type"), "n": Literal(3)}]),
        (r"\?t \(COUNT", []),
    )
    names = Names(store := store_of(endpoint))
    reader = SchemaReader(store.reader, names, CatalogueCache(store, names, Count(3)).get)
    endpoint.cut = {r"!isLiteral"}
    assert "time was over" in ((await reader.overview(5)).sampled or "")
    endpoint.cut = set()
    schema = await reader.overview(5)
    assert "time was over" not in (schema.sampled or "")
    assert [facts.heads for facts in schema.relations] == [("type",)]


async def test_a_graph_is_not_opened_under_a_revision_that_it_never_had():
    counted = table(["n"], [{"n": {"type": "literal", "value": "12"}}])
    async with serving(always(counted, "X-SQL-State: S1TAT")) as stub:
        adapter = open_adapter(f"freebase+{stub.url}?default-graph-uri=http://g", AdapterOptions())
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await adapter.open()
        await adapter.close()


async def test_one_graph_among_those_read_in_time_is_not_taken_for_the_only_one():
    graphs = table(["g"], [{"g": {"type": "uri", "value": "http://g"}}])
    async with serving(always(graphs, "X-SQL-State: S1TAT")) as stub:
        with pytest.raises(StoreTimeout, match="which of its graphs") as caught:
            await open_adapter(f"freebase+{stub.url}", AdapterOptions()).open()
    assert "default-graph-uri" in caught.value.next_step


@pytest.mark.parametrize(("seconds", "milliseconds"), [(30, "27500"), (6, "3500"), (5, "2500"), (1, "500")])
async def test_the_store_is_given_a_time_that_ends_before_the_calls(seconds: float, milliseconds: str):
    counted = table(["n"], [{"n": {"type": "literal", "value": "12"}}])
    async with serving(always(counted)) as stub:
        location = f"freebase+{stub.url}?default-graph-uri=http://g"
        async with open_adapter(location, AdapterOptions(timeout=seconds)) as adapter:
            assert adapter.revision
        assert [request.form["timeout"] for request in stub.requests] == [[milliseconds]]


async def test_names_that_came_with_examples_of_which_time_cut_some_are_read_again():
    relation = ns("film.actor.film")
    endpoint = Endpoint(
        (r"\(COUNT", [{"p": relation, "n": Literal(5)}]),
        ("AS .o0", [{"p": relation, "o0": ANN}]),
        (r"VALUES \?s", [{"s": relation, "o": Literal("Films")}, {"s": ANN, "o": Literal("Ann")}]),
    )
    endpoint.cut = {"AS .o0"}
    page = await relations_of(endpoint, [ANN], 1)
    (facts,) = page.items
    assert (facts.relation.label, [node.label for node in facts.examples if isinstance(node, Entity)]) == (
        "Films",
        ["Ann"],
    )
    assert page.stop is Stop.TIME_OUT
