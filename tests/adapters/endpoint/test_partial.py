"""What the endpoint's time cut is never stated as all there is: no count, no list, and nothing for not being there."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from rdflib import URIRef

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.endpoint.catalogue import Catalogue, CatalogueCache
from kgnav_mcp.adapters.endpoint.linking import Linker
from kgnav_mcp.adapters.endpoint.lists import ListReader
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.options import Endpoint
from kgnav_mcp.adapters.endpoint.reification import Notation, detect_notations
from kgnav_mcp.adapters.endpoint.schema import SchemaReader
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.sparql.reading import Reader
from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Certainty, Count, Direction, Stop
from kgnav_mcp.port import AdapterOptions
from tests.adapters.endpoint.graph import STATEMENTS
from tests.adapters.endpoint.inprocess import HERE, counts_of, entity, store_of
from tests.adapters.sparql.inprocess import InProcess
from tests.adapters.sparql.stub import Exchange, serving, table

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
PEOPLE = f"""
PREFIX ex: <http://ex.example/>
ex:ann a ex:Person ; {LABEL} "Ann" ; ex:knows ex:bob, ex:cyd ; ex:age 30 .
ex:bob a ex:Person ; {LABEL} "Bob" ; ex:knows ex:cyd ; ex:age 40 .
ex:cyd a ex:Person ; {LABEL} "Cyd" ; ex:age 50 .
"""
ANN, KNOWS = URIRef("http://ex.example/ann"), URIRef("http://ex.example/knows")
RELATION_COUNTS = r"WHERE \{ \?s \?p \?o BIND"
TYPE_COUNTS = r"\?t FILTER\(isIRI"
NODE_COUNT, VALUE_COUNT = r"COUNT\(DISTINCT \?s", r"COUNT\(DISTINCT \?v"


async def _catalogue(client: InProcess) -> Catalogue:
    store = await store_of(client)
    return await CatalogueCache(store, Names(store)).get()


async def _lists(client: InProcess) -> ListReader:
    store = await store_of(client)
    names = Names(store)
    return ListReader(store, Linker(store, names), CatalogueCache(store, names))


async def _schema(client: InProcess) -> SchemaReader:
    store = await store_of(client)
    names = Names(store)
    return SchemaReader(store, names, CatalogueCache(store, names))


NOT_WHOLE = [
    {"slow": [RELATION_COUNTS]},
    {"slow": [TYPE_COUNTS]},
    {"cut": {RELATION_COUNTS: 1}},
    {"cut": {TYPE_COUNTS: 0}},
]


@pytest.mark.parametrize("fault", NOT_WHOLE, ids=str)
async def test_a_catalogue_of_a_part_denies_nothing(fault: Mapping[str, object]):
    part = await _catalogue(InProcess(PEOPLE, **fault))  # pyright: ignore[reportArgumentType]
    for ask in (part.properties, part.types_named, part.types_and_relations_named, part.edges, part.edge_properties):
        with pytest.raises(StoreTimeout, match=r"in time whether it has a .*'nothing'"):
            ask("nothing", None)
    whole = await _catalogue(InProcess(PEOPLE))
    for ask in (
        whole.properties,
        whole.types_named,
        whole.types_and_relations_named,
        whole.edges,
        whole.edge_properties,
    ):
        with pytest.raises(UnknownName):
            ask("nothing", None)


@pytest.mark.parametrize("capped", [{RELATION_COUNTS: 1}, {TYPE_COUNTS: 0}], ids=str)
async def test_a_catalogue_that_the_row_cap_cut_denies_nothing_and_is_no_time_out(capped: Mapping[str, int]):
    part = await _catalogue(InProcess(PEOPLE, capped=capped))
    for ask in (part.properties, part.types_named, part.types_and_relations_named, part.edges, part.edge_properties):
        with pytest.raises(Unsupported, match=r"whether the store has a .*'nothing': its row cap") as caught:
            ask("nothing", None)
        assert "in time" not in caught.value.message
    assert "the endpoint's row cap cut them" in (part.sampled or "")


async def test_a_catalogue_that_time_and_the_row_cap_cut_may_be_whole_at_another_try():
    part = await _catalogue(InProcess(PEOPLE, capped={RELATION_COUNTS: 1}, cut={TYPE_COUNTS: 0}))
    with pytest.raises(StoreTimeout, match="in time whether it has a property 'nothing'"):
        part.properties("nothing", None)


async def test_what_nodes_are_called_is_a_property_also_where_not_all_relations_are_known():
    lists = await _lists(InProcess(PEOPLE, cut={RELATION_COUNTS: 0}))
    page = await lists.nodes(None, "name", "Ann", 5, None)
    assert [entity.id for entity in page.items] == ["ex:ann"]
    with pytest.raises(StoreTimeout, match="in time whether it has a property 'age'"):
        await lists.nodes(None, "age", "30", 5, None)
    lists = await _lists(InProcess(PEOPLE, capped={RELATION_COUNTS: 0}))
    page = await lists.nodes(None, "name", "Ann", 5, None)
    assert [entity.id for entity in page.items] == ["ex:ann"]
    with pytest.raises(Unsupported, match="its row cap"):
        await lists.nodes(None, "age", "30", 5, None)


async def test_relations_and_types_that_were_not_all_counted_are_lower_bounds_and_said_to_be_so():
    catalogue = await _catalogue(InProcess(PEOPLE, cut={RELATION_COUNTS: 9, TYPE_COUNTS: 9}))
    assert catalogue.relations[KNOWS].edges == Count.at_least(3)
    assert [count.certainty for count in catalogue.types.values()] == [Certainty.AT_LEAST]
    assert "relations may be missing" in (catalogue.sampled or "")
    assert "labels may be missing" in (catalogue.sampled or "")
    assert "100,000" not in (catalogue.sampled or "")


@pytest.mark.parametrize(("fault", "why"), [("cut", "takes too long"), ("capped", "gives too few rows at once")])
async def test_statements_that_were_not_all_counted_make_no_exact_catalogue(fault: str, why: str):
    client = InProcess(STATEMENTS)
    assert (await _catalogue(client)).sampled is None
    asked = [query for query in client.queries if "GROUP BY" in query and not re.search(RELATION_COUNTS, query)]
    facts = [query for query in asked if "Statement" in query or "subject" in query]
    assert facts
    for query in facts:
        client = InProcess(STATEMENTS)
        setattr(client, fault, {re.escape(query): 0})
        catalogue = await _catalogue(client)
        assert all(use.edges in (Count.unknown(), Count.at_least(0)) for use in catalogue.relations.values())
        assert catalogue.triples == Count.at_least(0)
        assert why in (catalogue.sampled or "")


async def test_rows_of_parallel_statements_that_were_not_all_counted_leave_lower_bounds():
    client = InProcess(STATEMENTS)
    store, _, counts = await counts_of(client)
    cyd = entity(store, "ex:cyd")
    assert (await counts.one_hop([cyd], Direction.OUTGOING, None)).total.certainty is Certainty.EXACT
    client.cut = {re.escape(client.queries[-1]): 0}
    _, _, counts = await counts_of(client)
    assert (await counts.one_hop([cyd], Direction.OUTGOING, None)).total.certainty is Certainty.AT_LEAST


async def test_a_notation_that_was_not_found_in_time_is_not_known_to_be_missing():
    found = await detect_notations(Reader(InProcess(PEOPLE, cut={"LIMIT 1": 0}), {}, 30.0))
    assert (found.notations, found.unsure) == (frozenset(), frozenset(Notation))


async def test_what_names_nodes_is_not_guessed_from_a_part():
    with pytest.raises(StoreTimeout, match="stopped the query"):
        await store_of(InProcess(PEOPLE, cut={"UNION": 0}))


async def test_a_node_that_was_not_found_in_time_to_lead_on_is_not_taken_for_no_mediator():
    options = AdapterOptions()
    client = InProcess("<http://ex.example/a> <http://ex.example/p> <http://ex.example/b> .")
    store = await Store.opened(client, Endpoint.read(f"{HERE}&mediators=unnamed", options), options)
    client.queries.clear()
    a = URIRef("http://ex.example/a")
    assert (await Names(store).described([a]))[a].mediator
    client.cut = {re.escape(client.queries[-1]): 0}
    with pytest.raises(StoreTimeout, match="stopped the query"):
        await Names(store).described([a])


@pytest.mark.parametrize("in_time", [0, 1])
async def test_a_list_that_was_not_all_counted_is_not_taken_for_a_short_one(in_time: int):
    lists = await _lists(InProcess(PEOPLE, cut={NODE_COUNT: in_time, VALUE_COUNT: in_time}))
    nodes = await lists.nodes("Person", None, None, 2, None)
    assert (len(nodes.items), nodes.total, nodes.stop) == (2, Count.at_least(3 if in_time else 2), Stop.LIMIT)
    values = await lists.values("age", None, 2, None)
    assert (len(values.items), values.total, values.stop) == (2, Count.at_least(3 if in_time else 2), Stop.LIMIT)
    last = await lists.values("age", None, 2, "2")
    assert (len(last.items), last.total, last.stop) == (1, Count.at_least(3), Stop.COMPLETE)


async def test_what_a_name_means_is_not_answered_in_part():
    with pytest.raises(StoreTimeout, match="stopped the query"):
        await (await _lists(InProcess(PEOPLE, cut={"LCASE": 0}))).nodes(None, "knows", "ANN", 2, None)


async def test_a_name_that_was_not_read_in_time_is_no_unambiguous_one():
    for fault in ({r"VALUES \?o": 1}, {"LCASE": 0}):
        store = await store_of(InProcess(PEOPLE, cut=fault))
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await Linker(store, Names(store)).named("Ann" if "LCASE" not in fault else "ANN", 5)


async def test_a_degree_that_was_not_all_counted_is_a_lower_bound():
    for cut, count in (({}, Count(5)), ({r"\?s \(COUNT": 9}, Count.at_least(5))):
        store = await store_of(InProcess(PEOPLE, cut=cut))
        (found,) = (await Linker(store, Names(store)).find("Bob", None, 5)).items
        assert found.degree == count


async def test_candidates_whose_types_were_not_all_read_in_time_are_no_whole_list():
    store = await store_of(InProcess(PEOPLE, cut={r"VALUES \?s .*Person": 0}))
    page = await Linker(store, Names(store)).find("Bob", [URIRef("http://ex.example/Person")], 5)
    assert (page.items, page.total, page.stop) == ((), Count.at_least(0), Stop.TIME_OUT)


DETAILS = {"heads": r"\?x <.*knows> \?y", "tails": r"\?y <.*knows> \?x", "datatypes": "DATATYPE"}


@pytest.mark.parametrize("cut", DETAILS.values(), ids=DETAILS)
@pytest.mark.parametrize("slow", [False, True])
async def test_parts_of_a_schema_that_were_not_read_in_time_are_said_to_be_missing_and_read_again(cut: str, slow: bool):
    client = InProcess(PEOPLE)
    reader = await _schema(client)
    if slow:
        client.slow = [cut]
    else:
        client.cut = {cut: 0}
    assert "time was over" in ((await reader.overview(9)).sampled or "")
    client.slow, client.cut = [], {}
    schema = await reader.overview(9)
    assert "time was over" not in (schema.sampled or "")
    (knows,) = (one for one in schema.relations if one.relation.id == "ex:knows")
    assert (knows.heads, knows.tails) == (("Person",), ("Person",))
    assert {one.relation.id: one.datatypes for one in schema.properties}["ex:age"] == ("xsd:integer",)


async def test_the_values_at_a_type_that_were_not_all_read_in_time_are_lower_bounds():
    whole = await (await _schema(InProcess(PEOPLE))).around("Person", 9)
    assert {one.count for one in whole.properties} == {Count(3)}
    part = await (
        await _schema(InProcess(PEOPLE, cut={r"\?s \?p \?o BIND\(isLiteral\(\?o\) AS \?l\) \} GROUP": 9}))
    ).around("Person", 9)
    assert {one.count for one in part.properties} == {Count.at_least(3)}
    assert "time was over" in (part.sampled or "")


@pytest.mark.parametrize("graphs", [True, False])
async def test_the_doctor_says_nothing_of_a_graph_that_was_not_looked_through(graphs: bool):
    async def answer(exchange: Exchange) -> None:
        (query,) = exchange.request.form["query"]
        cells = [{"n": {"type": "literal", "value": "0"}}] if "COUNT" in query else []
        cut = "GRAPH" in query if graphs else "COUNT" in query or query.endswith("LIMIT 1")
        await exchange.answer(table(["n"], cells), *(["X-SQL-State: S1TAT"] if cut else []))

    async with (
        serving(answer) as stub,
        open_adapter(f"sparql+{stub.url}", AdapterOptions()) as adapter,
    ):
        advice = " ".join((await adapter.health()).advice)
    assert "load it first" not in advice
    assert "No node has a name" not in advice
    assert ("is empty: name a graph" in advice) is graphs
