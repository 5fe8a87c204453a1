"""Thousands of entities are asked about by a few queries, narrowed to what is wanted; a hub among them by look-ups."""

from __future__ import annotations

import pytest
from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql.rows import RowReader
from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.paging.rows import edges_page
from kgnav_mcp.adapters.sparql_base.around.row_readers import EdgeReader
from kgnav_mcp.adapters.sparql_base.around.rows import to_entities
from kgnav_mcp.model import Count, Direction, Page, Stop, Triple
from tests.adapters.generic_sparql.inprocess import counts_of, entity
from tests.adapters.sparql_base.inprocess import InProcess

SIZE = 3_000
NODES = "\n".join(
    [
        "PREFIX ex: <http://ex.example/>",
        *(f"ex:n{n} ex:next ex:n{(n + 1) % SIZE} ; ex:likes ex:hub ; ex:age {n % 90} ." for n in range(SIZE)),
        *(f"ex:hub ex:keeps ex:n{n} ." for n in range(0, SIZE, 2)),
    ]
)
IDS = [URIRef(f"http://ex.example/n{n}") for n in range(SIZE)]


@pytest.fixture(scope="module")
def client() -> InProcess:
    return InProcess(NODES)


async def _page(
    client: InProcess, relation_paths: list[tuple[URIRef, ...]] | None, limit: int, *, all_or_none: bool
) -> Page[Triple]:
    store, names, counts = await counts_of(client)
    client.queries.clear()
    asked = RowRequest((), Direction.OUTGOING, None, None, limit, None, all_or_none)
    return await RowReader(store, names, counts, IDS, asked).page(relation_paths, asked)


@pytest.mark.parametrize("limit", [50, SIZE - 1, 3 * SIZE])
async def test_thousands_of_entities_are_wanted_whole_by_a_few_queries(client: InProcess, limit: int):
    page = await _page(client, None, limit, all_or_none=True)
    assert (len(page.items), page.stop) == ((0, Stop.LIMIT) if limit < 3 * SIZE else (3 * SIZE, Stop.COMPLETE))
    rows = [query for query in client.queries if "?s ?p ?o WHERE { VALUES ?s" in query]
    assert len(rows) == SIZE / 1_000


async def test_a_request_for_one_relation_counts_and_reads_no_other(client: InProcess):
    likes = URIRef("http://ex.example/likes")
    page = await _page(client, [(likes,)], 100, all_or_none=False)
    assert (len(page.items), page.total, page.stop) == (100, Count(SIZE), Stop.LIMIT)
    about = [query for query in client.queries if "label" not in query]
    assert all("ex.example/likes" in query for query in about)
    assert len(about) == SIZE / 200 + 1


@pytest.mark.parametrize("size", [1, SIZE])
async def test_an_edge_of_a_hub_is_looked_up_and_its_rows_are_not_read(client: InProcess, size: int):
    store, names, counts = await counts_of(client)
    hub, tails = entity(store, "ex:hub"), IDS[:size]
    client.queries.clear()
    source = EdgeReader(RowReader(store, names, counts, [hub], to_entities(Direction.OUTGOING)), counts, tails, None)
    page = await edges_page(source, [hub], limit=SIZE, after=None)
    assert (len(page.items), page.stop) == (max(size // 2, 1), Stop.COMPLETE)
    if size == 1:
        assert all("VALUES ?o" in query for query in client.queries if "label" not in query)


@pytest.mark.slow
async def test_edges_between_large_sets_cost_a_few_queries_and_are_paged(client: InProcess):
    store, names, counts = await counts_of(client)
    found: list[str] = []
    after: str | None = None
    client.queries.clear()
    for _ in range(10):
        source = EdgeReader(RowReader(store, names, counts, IDS, to_entities(Direction.OUTGOING)), counts, IDS, None)
        page = await edges_page(source, IDS, limit=700, after=after)
        found += [triple.head.id for triple in page.items]
        if page.stop is Stop.COMPLETE:
            break
        after = page.positions[-1]
    assert found == [f"ex:n{n}" for n in range(SIZE)]
    assert len(client.queries) < 100
