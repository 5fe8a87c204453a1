"""Queries that nobody waits for any longer end in the store, too; and few run at a time."""

from __future__ import annotations

import asyncio
import re
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base.client import MAX_QUERIES, SparqlClient
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.dialects import BLAZEGRAPH, FUSEKI, OXIGRAPH, PROBE, RDF4J, VIRTUOSO
from kgnav_mcp.errors import InvalidStore, StoreTimeout
from kgnav_mcp.port import AdapterOptions
from tests.adapters.sparql_base.stub import Exchange, always, rows, serving
from tests.services import Blazegraph, Fuseki, Oxigraph, Rdf4j, RdfService, Virtuoso

GRAPH = "http://example.org/many"
HEAVY = (
    "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(STR(?a) < STR(?f) && STR(?i) < STR(?c)) }"
)
"""Takes hours on the graph of this test."""
ROWS = "SELECT ?a WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(STR(?a) = STR(?f) && STR(?i) = STR(?a)) }"
"""Takes hours as well, but has no group: RDF4J can stop it."""
QUERY = "SELECT ?v { ?s ?p ?v }"
WATCHED_S = 60


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "many.nt"
    lines = (f'<http://example.org/n{n}> <http://example.org/p{n % 7}> "value {n}" .' for n in range(20_000))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def query_ids(store: Blazegraph) -> list[str]:
    """The queries that Blazegraph runs, as it says itself."""
    status = f"{store.url.partition('/namespace')[0]}/status?showQueries"
    with urllib.request.urlopen(status, timeout=30) as answer:  # noqa: S310 - loopback
        return re.findall(r'name="queryId" value="([^"]*)"', answer.read().decode())


async def until_queries(store: Blazegraph, number: int) -> None:
    async with asyncio.timeout(WATCHED_S):
        while len(await asyncio.to_thread(query_ids, store)) != number:  # noqa: ASYNC110 - a store has no event
            await asyncio.sleep(0.05)


def cpu_seconds(store: RdfService) -> float:
    counters = Path(f"/proc/{store.process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, counters[11:13])) / 100


async def until_idle(store: RdfService) -> None:
    """Wait until the store's process uses no more than 2 % of a processor for three seconds in a row."""
    async with asyncio.timeout(WATCHED_S):
        quiet, before = 0, cpu_seconds(store)
        while quiet < 3:
            await asyncio.sleep(1)
            now = cpu_seconds(store)
            quiet, before = (quiet + 1 if now - before <= 0.02 else 0), now


@asynccontextmanager
async def detected(store: RdfService, seconds: float) -> AsyncGenerator[SparqlClient]:
    client = SparqlClient(store.url, timeout=seconds, default_graph=GRAPH)
    await client.detect()
    yield client
    await client.close()


async def test_blazegraph_is_known_by_its_answer_to_a_query_that_costs_nothing(blazegraph: Blazegraph):
    async with detected(blazegraph, 30) as client:
        assert client.dialect is BLAZEGRAPH


async def test_a_cancelled_call_ends_its_query_on_blazegraph(blazegraph: Blazegraph, many: Path):
    blazegraph.load(many, GRAPH)
    async with detected(blazegraph, 600) as client:
        call = asyncio.create_task(client.select(HEAVY))
        await until_queries(blazegraph, 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until_queries(blazegraph, 0)


async def test_a_call_whose_time_is_over_ends_its_query_on_blazegraph(blazegraph: Blazegraph, many: Path):
    blazegraph.load(many, GRAPH)
    async with detected(blazegraph, 30) as client:
        with pytest.raises(StoreTimeout):
            await client.select(HEAVY, seconds=2)
        await until_queries(blazegraph, 0)


async def test_an_overview_that_takes_too_long_leaves_no_query_on_blazegraph(blazegraph: Blazegraph, many: Path):
    blazegraph.load(many, GRAPH)
    options = AdapterOptions(timeout=0.4)
    for _ in range(3):
        with suppress(StoreTimeout):  # on a busy machine opening takes as long
            async with open_adapter(f"sparql+{blazegraph.url}?default-graph-uri={GRAPH}", options) as graph:
                await graph.schema(None, limit=50)
    await until_queries(blazegraph, 0)


async def test_fuseki_stops_a_count_at_the_time_limit_that_is_sent(fuseki: Fuseki, many: Path):
    fuseki.load(many, GRAPH)
    async with detected(fuseki, 30) as client:
        assert client.dialect is FUSEKI
        with pytest.raises(StoreTimeout):
            await client.select(HEAVY, seconds=2)
        await until_idle(fuseki)


async def test_rdf4j_stops_a_query_for_rows_at_the_time_limit_that_is_sent(rdf4j: Rdf4j, many: Path):
    rdf4j.load(many, GRAPH)
    async with detected(rdf4j, 30) as client:
        assert client.dialect is RDF4J
        with pytest.raises(StoreTimeout):
            await client.select(ROWS, seconds=2)
        await until_idle(rdf4j)


async def test_virtuoso_stops_a_count_of_the_adapter_for_any_endpoint(virtuoso: Virtuoso, many: Path):
    virtuoso.load(many, GRAPH)
    async with detected(virtuoso, 30) as client:
        assert client.dialect is VIRTUOSO
        with suppress(StoreTimeout):
            assert (await client.select(HEAVY, seconds=4)).partial
        await asyncio.to_thread(virtuoso.until, busy=False)


async def test_oxigraph_ignores_the_query_that_detects_a_store(oxigraph: Oxigraph):
    async with detected(oxigraph, 30) as client:
        assert client.dialect is OXIGRAPH


@pytest.mark.parametrize(
    ("dialect", "seconds", "parameters"),
    [
        (BLAZEGRAPH, 2.5, {"maxQueryTimeMillis": "2500"}),
        (FUSEKI, 2.5, {"timeout": "3"}),
        (RDF4J, 0.2, {"timeout": "1"}),
        (VIRTUOSO, 10, {"timeout": "7500"}),
        (OXIGRAPH, 10, {}),
        (PLAIN, 10, {}),
    ],
    ids=lambda value: value.name if isinstance(value, Dialect) else None,
)
def test_each_store_is_sent_the_time_limit_in_its_own_unit(
    dialect: Dialect, seconds: float, parameters: dict[str, str]
):
    assert dialect.time_limit(seconds) == parameters


async def test_the_first_query_to_an_unknown_store_costs_nothing():
    async with serving(always(rows()), always(rows("1"))) as stub:
        sparql = SparqlClient(stub.url, timeout=5)
        assert await sparql.detect() is PLAIN
        await sparql.close()
    assert [request.form["query"] for request in stub.requests] == [[PROBE]]


@pytest.mark.parametrize(
    ("query", "tagged"),
    [
        ("SELECT * WHERE { ?s ?p ?o }", "SELECT * WHERE {  HINT ?s ?p ?o }"),
        ("SELECT * WHERE { { SELECT ?s { ?s ?p ?o } } }", "SELECT * WHERE {  HINT { SELECT ?s { ?s ?p ?o } } }"),
        ("SELECT * WHERE { SELECT ?s { ?s ?p ?o } }", "SELECT * WHERE { SELECT ?s {  HINT ?s ?p ?o } }"),
        ("ASK {}", "ASK {  HINT }"),
    ],
)
def test_a_query_gets_its_id_in_the_first_group_that_can_have_a_triple(query: str, tagged: str):
    assert BLAZEGRAPH.cancellation is not None
    hint = '<http://www.bigdata.com/queryHints#Query> <http://www.bigdata.com/queryHints#queryId> "7" .'
    found = BLAZEGRAPH.cancellation.with_id(query, "7").replace(hint, "HINT")
    assert re.sub(r"\s+", " ", found) == re.sub(r"\s+", " ", tagged)


async def test_at_most_three_queries_of_a_graph_run_at_a_time_and_none_is_lost():
    running, most = 0, 0

    async def count(exchange: Exchange) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        await exchange.answer(rows("1"))

    async with serving(count) as stub:
        sparql = SparqlClient(stub.url, timeout=30)
        answers = await asyncio.gather(*(sparql.select(QUERY) for _ in range(12)))
        await sparql.close()
    assert most == MAX_QUERIES == 3
    assert len(answers) == 12


async def test_a_query_whose_turn_does_not_come_says_so_and_is_not_sent():
    async def hang(exchange: Exchange) -> None:
        await exchange.until_left()

    async with serving(hang) as stub:
        sparql = SparqlClient(stub.url, timeout=60)
        others = [asyncio.create_task(sparql.select(QUERY)) for _ in range(MAX_QUERIES)]
        while len(stub.requests) < MAX_QUERIES:  # noqa: ASYNC110 - a stub has one event for all
            await asyncio.sleep(0.01)
        with pytest.raises(StoreTimeout, match=r"could not be sent within 0\.2 s, because 3 others"):
            await sparql.select(QUERY, seconds=0.2)
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await sparql.close()
    assert len(stub.requests) == MAX_QUERIES


async def test_a_query_that_had_to_wait_has_the_rest_of_its_time():
    async def slow(exchange: Exchange) -> None:
        await asyncio.sleep(1)
        await exchange.answer(rows("1"))

    async with serving(slow) as stub:
        sparql = SparqlClient(stub.url, timeout=30, dialect=VIRTUOSO)
        await asyncio.gather(*(sparql.select(QUERY) for _ in range(MAX_QUERIES + 1)))
        await sparql.close()
    limits = sorted(int(request.form["timeout"][0]) for request in stub.requests)
    assert limits[0] <= 26_600
    assert limits[1:] == [27_500] * MAX_QUERIES


async def test_the_advice_for_a_wrong_path_names_the_paths_of_each_store():
    async with serving(always("", status="404 Not Found", kind="text/html")) as stub:
        sparql = SparqlClient(stub.url, timeout=5)
        with pytest.raises(InvalidStore) as caught:
            await sparql.select(QUERY)
        await sparql.close()
    for path in ("/rdf4j-server/repositories/NAME", "/DATASET/query", "/sparql"):
        assert path in caught.value.next_step


@pytest.mark.parametrize(("given", "path"), [("/", "/"), ("", "/sparql"), ("/ds/query", "/ds/query")])
async def test_queries_go_to_the_given_path_even_at_the_root(given: str, path: str):
    async with serving(always("", status="404 Not Found")) as stub:
        root = "/".join(stub.url.split("/")[:3])
        with pytest.raises(InvalidStore, match=f"there is no SPARQL endpoint at {root}{path} "):
            async with open_adapter(f"sparql+{root}{given}", AdapterOptions(timeout=5)):
                pass
