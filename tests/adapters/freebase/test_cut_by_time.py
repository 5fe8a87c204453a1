"""What the endpoint's time cut is never taken for the whole: neither shown as such, nor kept."""

from __future__ import annotations

import pytest
from rdflib import Literal

from kgnav_mcp.adapters.freebase.adapter import EntityFinder
from kgnav_mcp.adapters.freebase.catalogue import CatalogueCache
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.relations import CountReader
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Certainty, Count, Direction, Entity, Stop
from tests.adapters.freebase.stubbed import ANN, ns, page_of, relations_of, store_of, told
from tests.adapters.sparql_base.inprocess import ALL_ROWS


async def test_the_name_of_a_relation_that_was_not_read_in_time_is_read_again():
    relation = ns("film.actor.film")
    endpoint = told(("type.object.name", [{"s": relation, "o": Literal("Films", lang="en")}]))
    endpoint.cut = {"type.object.name": ALL_ROWS}
    names = Names(store_of(endpoint))
    with pytest.raises(StoreTimeout):
        await names.relations([relation])
    endpoint.mend()
    assert (await names.relations([relation]))[relation].label == "Films"


async def test_a_page_ends_before_the_rows_that_were_not_read_in_time():
    slices = [{"o": ns(f"m.{n:03}")} for n in range(150)]
    endpoint = told(
        ("GROUP BY", [{"p": ns("a.large"), "n": Literal(150)}, {"p": ns("b.small"), "n": Literal(3)}]),
        (r"VALUES \(.s .p\)", [{"s": ANN, "p": ns("b.small"), "o": ns("m.only_one_of_three")}]),
        ("OFFSET", slices),
        (all_rows := r"SELECT .s .p .o WHERE . VALUES .s ", []),
    )
    endpoint.cut = {r"VALUES \(.s .p\)": ALL_ROWS, all_rows: ALL_ROWS}
    page = await page_of(endpoint, [ANN], 200)
    assert {triple.relation.id for triple in page.items} == {"a.large"}
    assert (len(page.items), page.stop) == (150, Stop.TIME_OUT)
    endpoint.cut = {"OFFSET": ALL_ROWS}
    page = await page_of(endpoint, [ANN], 200, all_or_none=True)
    assert (len(page.items), page.stop) == (150, Stop.TIME_OUT)
    assert page.positions[-1].startswith("0|150.0|a.large")


@pytest.mark.parametrize(("rows", "query"), [(5_000, "AS .first"), (5_000_000, "LIMIT 1000")])
async def test_mediators_that_were_not_looked_for_in_time_are_said_to_be_missing(rows: int, query: str):
    endpoint = told((r"SELECT \?p \(COUNT", [{"p": ns("a.b"), "n": Literal(rows)}]), (query, []))
    counts = CountReader(store_of(endpoint))
    endpoint.cut = {query: ALL_ROWS}
    assert (await counts.two_hops([ANN], Direction.OUTGOING, None)).stop is Stop.TIME_OUT
    endpoint.mend()
    assert (await counts.two_hops([ANN], Direction.OUTGOING, None)).stop is Stop.COMPLETE


async def test_relations_that_were_not_counted_in_time_are_listed_without_counts():
    relation = ns("a.b")
    endpoint = told(
        (r"\?l \(COUNT", [{"p": ns("a.other"), "l": Literal(0), "n": Literal(2)}]), ("DISTINCT", [{"p": relation}])
    )
    endpoint.cut = {r"\?l \(COUNT": ALL_ROWS}
    catalogues = CatalogueCache(store := store_of(endpoint), Names(store), Count(3))
    catalogue = await catalogues.get()
    assert catalogue.relations[relation].values.certainty is Certainty.UNKNOWN
    assert catalogue.stop is Stop.COMPLETE
    assert "not counted" in (catalogue.sampled or "")


async def test_a_full_text_index_that_did_not_answer_in_time_is_requested_again():
    whole = {"contains": [{"o": Literal("Anna")}], "LIMIT 50": [{"o": Literal("Anna")}]}
    entity_finder = EntityFinder(store := store_of(endpoint := told()), Names(store))
    for pattern in whole:
        endpoint.answers, endpoint.cut = tuple({**whole, pattern: []}.items()), {pattern: 0}
        with pytest.raises(StoreTimeout):
            await entity_finder.full_text()
    endpoint.answers = tuple(whole.items())
    endpoint.mend()
    assert await entity_finder.full_text()


async def test_names_that_came_with_examples_of_which_time_cut_some_are_read_again():
    relation = ns("film.actor.film")
    endpoint = told(
        (r"\(COUNT", [{"p": relation, "n": Literal(5)}]),
        ("AS .o0", [{"p": relation, "o0": ANN}]),
        (r"VALUES \?s", [{"s": relation, "o": Literal("Films")}, {"s": ANN, "o": Literal("Ann")}]),
    )
    endpoint.cut = {"AS .o0": ALL_ROWS}
    page = await relations_of(endpoint, [ANN], 1)
    (facts,) = page.items
    assert (facts.relation.label, [node.label for node in facts.examples if isinstance(node, Entity)]) == (
        "Films",
        ["Ann"],
    )
    assert page.stop is Stop.TIME_OUT
