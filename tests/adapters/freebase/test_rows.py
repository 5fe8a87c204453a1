"""Rows come with the names of all that is in them; those of a few entities are read without being counted."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from rdflib import Literal, URIRef

from kgnav_mcp.model import Count, Direction, Entity, Page, Stop, Triple
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.relation_reader import NamedRelationReader
from kgnav_mcp.port import GraphAdapter
from tests.adapters.freebase.graph import guests
from tests.adapters.freebase.stubbed import ANN, ns, page_of, told
from tests.adapters.sparql_base.inprocess import InProcess, Row
from tests.rows import triples_at

OUTGOING, INCOMING = Direction.OUTGOING, Direction.INCOMING
ALL_ROWS = r"SELECT .s .p .o WHERE \{ VALUES .s "
"""Reads all rows at some entities."""
OF_RELATIONS = r"VALUES \(.s .p\)"
BOTH = (ANN, ns("m.bob"))
ONE_ROW: Row = {"s": ANN, "p": ns("a.b"), "o": ns("m.one"), "called": Literal("One", lang="en")}
TWO_ROWS: Sequence[Row] = (ONE_ROW, {**ONE_ROW, "o": ns("m.two")})


async def _page(endpoint: InProcess, limit: int) -> Page[Triple]:
    return await page_of(endpoint, BOTH, limit)


async def test_a_few_rows_are_neither_counted_nor_named_by_queries_of_their_own():
    elsewhere: Row = {**ONE_ROW, "p": URIRef("http://elsewhere/p")}
    named: Row = {"s": ANN, "called": Literal("Ann", lang="en")}
    endpoint = told((ALL_ROWS, [ONE_ROW, {**ONE_ROW, "called": Literal("Uno")}, elsewhere, named]))
    page = await _page(endpoint, 5)
    (row,) = page.items
    assert (row.head, row.relation.id, row.tail) == (Entity("m.ann", "Ann"), "a.b", Entity("m.one", "One"))
    assert (page.total, page.stop) == (Count(1), Stop.COMPLETE)
    assert len(endpoint.queries) == 1


@pytest.mark.parametrize("fault", ["cut", "capped"])
async def test_rows_of_which_some_may_be_missing_are_counted(fault: str):
    counts: Row = {"s": ANN, "p": ns("a.b"), "n": Literal(2)}
    endpoint = told((ALL_ROWS, [ONE_ROW]), ("GROUP BY", [counts]), (OF_RELATIONS, TWO_ROWS))
    setattr(endpoint, fault, {ALL_ROWS: 1})
    page = await _page(endpoint, 5)
    assert (len(page.items), page.total, page.stop) == (2, Count(2), Stop.COMPLETE)


async def test_more_rows_than_are_wanted_are_counted():
    read = [{**ONE_ROW, "o": ns(f"m.{n:03}")} for n in range(6)]
    counts: Row = {"s": ANN, "p": ns("a.b"), "n": Literal(6)}
    endpoint = told((ALL_ROWS, read), ("GROUP BY", [counts]), (OF_RELATIONS, read))
    page = await _page(endpoint, 5)
    assert (len(page.items), page.total, page.stop) == (5, Count(6), Stop.LIMIT)
    assert sum("GROUP BY" in query for query in endpoint.queries) == 1
    assert sum("LIMIT 6 " in query for query in endpoint.queries if re.search(ALL_ROWS, query)) == 1


async def test_a_relation_with_more_rows_than_are_sorted_here_comes_in_the_order_of_the_index():
    read = [{**ONE_ROW, "o": ns(f"m.{n:03}")} for n in range(101)]
    endpoint = told((ALL_ROWS, read), ("OFFSET", read[::-1]))
    page = await _page(endpoint, 200)
    assert [row.tail.id for row in page.items if isinstance(row.tail, Entity)] == [
        f"m.{n:03}" for n in range(100, -1, -1)
    ]
    assert (page.total, sum("GROUP BY" in query for query in endpoint.queries)) == (Count(101), 0)


@pytest.mark.parametrize(
    ("entity", "direction", "queries"),
    [("m.river", INCOMING, 2), ("m.actor", OUTGOING, 3), ("m.film", INCOMING, 4)],
    ids=["no mediator", "the roles of one", "its roles and who plays them"],
)
async def test_a_neighbourhood_is_read_by_few_queries(
    graph: GraphAdapter, asked: list[str], entity: str, direction: Direction, queries: int
):
    seen = await search(graph, entity, direction, limits=Limits())
    assert seen.rows is not None
    assert all(node.label for row in seen.rows.items for node in (row.head, row.tail) if isinstance(node, Entity))
    assert len(asked) == queries, "\n".join(asked)


async def test_what_has_names_in_other_languages_only_is_called_by_the_first_of_them(graph: GraphAdapter):
    page = await triples_at(graph, ["m.capital"], INCOMING, limit=5)
    assert [row.head for row in page.items] == [Entity("m.country", "Deutschland")]


async def test_two_hop_rows_of_several_entities_are_read_together(graph: GraphAdapter, asked: list[str]):
    fans = ["m.fan00000", "m.fan00001", "m.fan05000", "m.fan05003", "m.actor"]
    page = await graph.neighbours(fans, OUTGOING, relation_paths=[("club.guest.event", "club.event.guest")], limit=50)
    rows = [(link.triple.head.id, link.far_end.id) for link in page.items if isinstance(link.far_end, Entity)]
    events = [guests(n) for n in (0, 1, 3)]
    expected = [(fan, other) for fan in fans for event in events if fan in event for other in event if other != fan]
    assert rows == expected
    assert page.total == Count(len(expected))
    about_events = [query for query in asked if "club.guest.event" in query and "GROUP BY" not in query]
    assert len(about_events) == 2, "\n".join(asked)  # the events of all fans, and the names of the relations


@pytest.mark.parametrize("relation", ["club.guest.event.club.event.host", "film.actor.film.film.performance.film"])
async def test_a_relation_through_mediators_is_read_without_listing_relations(
    graph: GraphAdapter, asked: list[str], relation: str
):
    entity = "m.actor" if relation.startswith("film") else "m.fan00001"
    found = await NamedRelationReader(graph, OUTGOING, Limits()).rows([entity], [relation])
    assert [link.triple.relation.id for link in found.page.items] == [relation]
    assert not any("?s ?p ?o" in query and "GROUP BY" in query for query in asked)
    whole = await NamedRelationReader(graph, None, Limits()).rows([entity], [relation])
    assert whole.page.items == found.page.items
