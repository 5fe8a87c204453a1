"""Hubs: what is not asked for is not read, what is not had in time is said, what is cut is asked for again."""

from __future__ import annotations

import re

import pytest

from kgnav_mcp.adapters.generic_sparql.catalogue import CatalogueCache, SchemaReader
from kgnav_mcp.adapters.generic_sparql.names import EntityFinder, Names
from kgnav_mcp.adapters.sparql_base.schema import SAMPLE
from kgnav_mcp.model import Certainty, Count, Direction, Stop
from tests.adapters.generic_sparql.inprocess import relations_of, rows_of, store_of
from tests.adapters.sparql_base.inprocess import InProcess
from tests.contract.faults.catalogue import RELATION_COUNTS

FANS = 2_500
"""More than two blocks of rows."""
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
HUB = "\n".join(
    [
        "PREFIX ex: <http://ex.example/>",
        f'ex:star {LABEL} "Star"@en ; ex:home ex:york .',
        "ex:york ex:mayor ex:star .",
        *(f'ex:fan{n} ex:likes ex:star ; {LABEL} "Fan {n}"@en .' for n in range(FANS)),
        *(f"ex:star ex:visit [ ex:day {n} ] ." for n in range(FANS)),
    ]
)
COUNTS = r"^SELECT \?p \(COUNT\(\*\) AS \?n\) WHERE \{ \?o \?p"
"""The exact count of a hub's incoming edges."""


async def test_a_short_list_is_read_without_counting_it_first():
    client = InProcess(HUB)
    page = await rows_of(client, "ex:star", Direction.OUTGOING, FANS + 10, all_or_none=True)
    assert (len(page.items), page.total, page.stop) == (FANS + 2, Count(FANS + 2), Stop.COMPLETE)
    assert not any("GROUP BY ?p" in query for query in client.queries)


@pytest.mark.slow
async def test_the_pages_of_a_hub_meet_at_any_border_blank_nodes_included():
    client = InProcess(HUB)
    for direction in Direction:
        whole = await rows_of(client, "ex:star", direction, 10_000)
        assert len(whole.items) == FANS + (2 if direction is Direction.OUTGOING else 1)
        assert len({str(triple) for triple in whole.items}) == len(whole.items)
        for place in (0, 998, 999, 1_000, 1_001, 2_499):
            page = await rows_of(client, "ex:star", direction, 3, after=whole.positions[place])
            assert page.items == whole.items[place + 1 : place + 4]
            assert page.total == whole.total


async def test_a_hub_that_is_not_counted_in_time_still_shows_its_relations_and_says_so():
    page = await relations_of(InProcess(HUB, slow=[COUNTS]), "ex:star", Direction.INCOMING)
    assert [one.relation.id for one in page.items] == ["ex:likes", "ex:mayor"]
    assert page.stop is Stop.TIME_OUT
    assert all(one.count.certainty is Certainty.AT_LEAST for one in page.items)
    assert all(one.examples for one in page.items)


async def test_relations_beyond_the_first_edges_are_looked_up_one_by_one():
    client = InProcess(HUB, slow=[COUNTS])
    await relations_of(client, "ex:star", Direction.INCOMING)
    (looked_up,) = (query for query in client.queries if "FILTER EXISTS" in query)
    assert {"likes", "mayor", "home"} <= set(re.findall(r"example/(\w+)>", looked_up))


async def test_a_row_cap_of_the_endpoint_does_not_cut_a_page():
    page = await rows_of(InProcess(HUB, row_cap=300), "ex:star", Direction.INCOMING, 1_200)
    assert len({str(triple) for triple in page.items}) == 1_200
    assert page.stop is Stop.LIMIT


@pytest.mark.slow
async def test_a_row_cap_of_the_endpoint_does_not_hide_blank_nodes_or_names():
    page = await rows_of(InProcess(HUB, row_cap=700), "ex:star", Direction.OUTGOING, 10_000)
    assert len({str(triple) for triple in page.items}) == FANS + 2
    languages = "\n".join(f'<http://ex.example/n{n}> {LABEL} "N{n}"@x-{m} .' for n in range(60) for m in range(10))
    store = await store_of(InProcess(languages, row_cap=50))
    iris = [iri for n in range(60) if (iri := store.endpoint.ids.iri(f"ex:n{n}")) is not None]
    assert len(await Names(store).read_labels(iris)) == 60


async def test_a_pass_over_all_names_that_takes_too_long_is_a_list_that_time_cut():
    store = await store_of(InProcess(HUB, slow=["LCASE"]))
    entity_finder = EntityFinder(store, Names(store))
    page = await entity_finder.find("fan number", None, 5)
    assert (page.items, page.stop) == ((), Stop.TIME_OUT)
    for hint in ("Fan 7", "FAN 7", "fan 7"):
        by_index = await entity_finder.find(hint, None, 5)
        assert [candidate.entity.id for candidate in by_index.items] == ["ex:fan7"]


async def test_a_schema_that_is_not_counted_in_time_is_sampled_and_says_so():
    store = await store_of(InProcess(HUB, slow=[RELATION_COUNTS]))
    names = Names(store)
    schema = await SchemaReader(store, names, CatalogueCache(store, names)).overview(50)
    assert {one.relation.id for one in schema.relations} == {"ex:home", "ex:likes", "ex:mayor", "ex:visit"}
    assert all(one.count.certainty is Certainty.AT_LEAST for one in schema.relations)
    assert schema.sampled is not None
    assert "relations are those of some 100,000 triples" in schema.sampled


async def test_the_types_that_a_relation_joins_are_counted_and_of_a_long_one_so_many_rows_are_looked_at():
    few = 7
    turtle = ["PREFIX ex: <http://ex.example/>", "ex:york a ex:City ."]
    turtle += [f"ex:fan{n} a ex:Person ; ex:likes ex:york ." for n in range(FANS)]
    turtle += [f"ex:fan{n} ex:mayor_of ex:york ." for n in range(few)]
    store = await store_of(InProcess("\n".join(turtle)))
    names = Names(store)
    schema = await SchemaReader(store, names, CatalogueCache(store, names)).overview(50)
    ends = {facts.relation.id: facts.ends for facts in schema.relations}
    assert ends["ex:mayor_of"] == (("ex:Person", "ex:City", Count(few)),)
    assert ends["ex:likes"] == (("ex:Person", "ex:City", Count.at_least(SAMPLE)),)


async def test_many_names_are_looked_up_by_a_few_queries_in_any_letter_case():
    client = InProcess(HUB)
    store = await store_of(client)
    entity_finder = EntityFinder(store, Names(store))
    wanted = [f"fan {n}" for n in range(300)]
    client.queries.clear()
    found = await entity_finder.named_each([*wanted, "nobody"], 5)
    assert [found[name].items[0].entity.id for name in wanted] == [f"ex:fan{n}" for n in range(300)]
    assert (found["nobody"].items, found["nobody"].stop) == ((), Stop.COMPLETE)
    assert len(client.queries) < 30
