"""Many entities and one property: as few queries as there are lists that one query takes."""

from __future__ import annotations

import re

from kgnav_mcp.model import Count, Direction, Stop
from tests.adapters.sparql_base.stub import Exchange
from tests.adapters.wikidata.stubbed import BASE, Cells, iri, number, opened, query_of, rows, wikibase
from tests.rows import triples_at

SIZE = 1_500


async def test_one_property_of_more_entities_than_one_query_takes_is_counted_and_read_in_lists():
    asked: list[str] = []

    async def answer(exchange: Exchange) -> None:
        query = query_of(exchange)
        found: list[Cells] = []
        if "?number" in query:
            asked.append(query)
            ids = re.findall(rf"<{BASE}/entity/(Q\d+)>", query)
            row: Cells = {"number": number(0), "n": number(1), "o": iri(f"{BASE}/entity/Q5")}
            found = [{**row, "s": iri(f"{BASE}/entity/{one}")} for one in ids]
        await exchange.answer(rows(*found))

    ids = [f"Q{n}" for n in range(10, 10 + SIZE)]
    async with opened(wikibase(answer)) as (graph, _):
        page = await triples_at(graph, ids, Direction.OUTGOING, relation_paths=[("P31",)], limit=5_000)
    assert (len(page.items), page.total, page.stop) == (SIZE, Count(SIZE), Stop.COMPLETE)
    assert [triple.head.id for triple in page.items] == [f"wd:{one}" for one in ids]
    assert len(asked) == 4, "two lists are counted, two are read"


async def test_edges_of_one_relation_are_requested_without_the_other_statements_of_their_heads():
    asked: list[str] = []

    async def answer(exchange: Exchange) -> None:
        query = query_of(exchange)
        if "?st ?v ?o" in query:
            asked.append(query)
        await exchange.answer(rows())

    async with opened(wikibase(answer)) as (graph, _):
        for relations in (["P17"], None):
            await graph.edges(["Q1"], ["Q2"], relations=relations, limit=5)
    assert [f"VALUES ?p {{ <{BASE}/prop/P17> }}" in query for query in asked] == [True, False]
