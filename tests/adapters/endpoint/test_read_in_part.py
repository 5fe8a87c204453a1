"""What the endpoint's time cut is never stated as all there is: no count, no list, and nothing for not being there."""

from __future__ import annotations

import re

import pytest
from rdflib import URIRef

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.options import Endpoint
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Certainty, Count
from kgnav_mcp.port import AdapterOptions
from tests.adapters.endpoint.inprocess import HERE, catalogue_of, lists_of, store_of
from tests.adapters.sparql.inprocess import InProcess
from tests.adapters.sparql.stub import Exchange, serving, table

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
PEOPLE = f"""
PREFIX ex: <http://ex.example/>
ex:ann a ex:Person ; {LABEL} "Ann" ; ex:knows ex:bob, ex:cyd ; ex:age 30 .
ex:bob a ex:Person ; {LABEL} "Bob" ; ex:knows ex:cyd ; ex:age 40 .
ex:cyd a ex:Person ; {LABEL} "Cyd" ; ex:age 50 .
"""
KNOWS = URIRef("http://ex.example/knows")
RELATION_COUNTS = r"WHERE \{ \?s \?p \?o BIND"
TYPE_COUNTS = r"\?t FILTER\(isIRI"


async def test_what_nodes_are_called_is_a_property_also_where_not_all_relations_are_known():
    lists = await lists_of(InProcess(PEOPLE, cut={RELATION_COUNTS: 0}))
    page = await lists.nodes(None, "name", "Ann", 5, None)
    assert [entity.id for entity in page.items] == ["ex:ann"]
    with pytest.raises(StoreTimeout, match="in time whether it has a property 'age'"):
        await lists.nodes(None, "age", "30", 5, None)
    lists = await lists_of(InProcess(PEOPLE, capped={RELATION_COUNTS: 0}))
    page = await lists.nodes(None, "name", "Ann", 5, None)
    assert [entity.id for entity in page.items] == ["ex:ann"]
    with pytest.raises(Unsupported, match="its row cap"):
        await lists.nodes(None, "age", "30", 5, None)


async def test_relations_and_types_that_were_not_all_counted_are_lower_bounds_and_said_to_be_so():
    catalogue = await catalogue_of(InProcess(PEOPLE, cut={RELATION_COUNTS: 9, TYPE_COUNTS: 9}))
    assert catalogue.relations[KNOWS].edges == Count.at_least(3)
    assert [count.certainty for count in catalogue.types.values()] == [Certainty.AT_LEAST]
    assert "relations may be missing" in (catalogue.sampled or "")
    assert "labels may be missing" in (catalogue.sampled or "")
    assert "100,000" not in (catalogue.sampled or "")


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
