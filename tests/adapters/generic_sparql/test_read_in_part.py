"""What the endpoint's time cut is never stated as all there is: no count, no list, and nothing for not being there."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Certainty, Count
from kgnav_mcp.port import AdapterOptions
from tests.adapters.generic_sparql.inprocess import catalogue_of, lists_of, store_of
from tests.adapters.sparql_base.inprocess import InProcess
from tests.adapters.sparql_base.stub import Exchange, serving, table
from tests.contract.faults.catalogue import RELATION_COUNTS
from tests.contract.faults.people import ANN, ENDPOINT, PEOPLE

TURTLE = ENDPOINT.written(PEOPLE)
TYPE_COUNTS = r"\?t FILTER\(isIRI"


async def test_what_nodes_are_called_is_a_property_also_where_not_all_relations_are_known():
    lists = await lists_of(InProcess(TURTLE, cut={RELATION_COUNTS: 0}))
    page = await lists.nodes(None, "name", "Ann", 5, None)
    assert [entity.id for entity in page.items] == [ENDPOINT.node(ANN)]
    with pytest.raises(StoreTimeout, match="whether the store has a property 'height'"):
        await lists.nodes(None, "height", "30", 5, None)
    lists = await lists_of(InProcess(TURTLE, capped={RELATION_COUNTS: 0}))
    page = await lists.nodes(None, "name", "Ann", 5, None)
    assert [entity.id for entity in page.items] == [ENDPOINT.node(ANN)]
    with pytest.raises(Unsupported, match="its row cap"):
        await lists.nodes(None, "height", "30", 5, None)


@pytest.mark.parametrize(
    "broken",
    [InProcess(TURTLE, cut={RELATION_COUNTS: 1}), InProcess(TURTLE, capped={RELATION_COUNTS: 1})],
    ids=["time-out", "row cap"],
)
async def test_a_property_is_found_also_where_not_all_relations_are_known(broken: InProcess):
    complete = await (await lists_of(InProcess(TURTLE))).nodes(None, "age", None, 5, None)
    lists = await lists_of(broken)
    assert complete.items
    assert (await lists.nodes(None, "age", None, 5, None)).items == complete.items


async def test_relations_and_types_that_were_not_all_counted_are_lower_bounds_and_said_to_be_so():
    catalogue = await catalogue_of(InProcess(TURTLE, cut={RELATION_COUNTS: 9, TYPE_COUNTS: 9}))
    assert catalogue.relations[ENDPOINT.iri(ENDPOINT.knows)].edges == Count.at_least(3)
    assert [count.certainty for count in catalogue.types.values()] == [Certainty.AT_LEAST]
    assert "relations may be missing" in (catalogue.sampled or "")
    assert "labels may be missing" in (catalogue.sampled or "")
    assert "100,000" not in (catalogue.sampled or "")


async def test_what_names_nodes_is_not_guessed_from_a_part():
    with pytest.raises(StoreTimeout, match="stopped the query"):
        await store_of(InProcess(TURTLE, cut={"UNION": 0}))


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
    assert "load data first" not in advice
    assert "No node has a name" not in advice
    assert ("is empty: choose a graph" in advice) is graphs
