"""The client against a real Virtuoso: its terms, its caps, its errors, its connection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rdflib import XSD, BNode, Literal, URIRef

from kgnav_mcp.adapters.ids.rdf import iri
from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.query_reader import number_in
from kgnav_mcp.adapters.sparql_base.terms import comma_separated, fill, rows, values
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.errors import ConfigurationError, StoreTimeout, StoreUnavailable, Unsupported
from tests.services import Virtuoso, need_virtuoso, running

from .test_terms import HOSTILE

GRAPH = "http://sparql.test/graph"
OTHER = "http://sparql.test/other"
HUB = iri("http://x/hub")

ENDLESS = '{ ?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(CONCAT(STR(?a), STR(?c), STR(?e)) = "never") }'
"""More than a million million combinations, and none that fits."""
ANY = 10**9
"""A limit that no estimate reaches."""
SOON_S = 15
"""Long before a minute is over, the time of a query of which nothing is said: the store looks every two seconds."""

LITERALS = [
    Literal("plain"),
    Literal("Grüße", lang="de"),
    Literal("colour", lang="en-gb"),
    Literal('a line\nand \\ and "quotes"'),
    Literal("12", datatype=XSD.integer),
    Literal("true", datatype=XSD.boolean),
    Literal("false", datatype=XSD.boolean),
    Literal("1.5", datatype=XSD.decimal),
    Literal("1.5", datatype=XSD.double),
    Literal("2012-03-04", datatype=XSD.date),
    Literal("2012-03-04T05:06:07Z", datatype=XSD.dateTime, normalize=False),
    Literal("2012-03", datatype=XSD.gYearMonth, normalize=False),
    Literal("2012", datatype=XSD.gYear, normalize=False),
    Literal("x", datatype=URIRef("http://x/type")),
]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Virtuoso]:
    """A store with these graphs only: its estimates, and whether it is busy, depend on all that is in it."""
    need_virtuoso()
    with running(Virtuoso(tmp_path_factory.mktemp("alone"))) as service:
        yield service


@pytest.fixture(scope="module")
def endpoint(alone: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    lines = [f"<http://x/s{number}> <http://x/many> {HUB.n3()} ." for number in range(10_500)]
    lines += [fill("<http://x/l> $p $o .", p=iri(f"http://x/p{n:02}"), o=term) for n, term in enumerate(LITERALS)]
    lines += ["_:b <http://x/of> <http://x/l> ."]
    source = tmp_path_factory.mktemp("sparql") / "kinds.nt"
    source.write_text("\n".join(lines), encoding="utf-8")
    alone.load(Path(source), GRAPH)
    source.write_text("<http://x/s1> <http://x/elsewhere> <http://x/s2> .\n", encoding="utf-8")
    alone.load(Path(source), OTHER)
    return alone.url


@pytest.fixture
async def connect() -> AsyncGenerator[Callable[..., SparqlClient]]:
    """Makes clients that are closed behind the test, whatever comes of it."""
    async with AsyncExitStack() as open_:

        def connected(url: str, timeout: float = 20, **options: Any) -> SparqlClient:
            client = SparqlClient(url, timeout=timeout, **options)
            open_.push_async_callback(client.close)
            return client

        yield connected


@pytest.fixture
def sparql(connect: Callable[..., SparqlClient], endpoint: str) -> SparqlClient:
    return connect(endpoint, default_graph=GRAPH)


@pytest.fixture(params=["JSON", "XML"])
async def reading(sparql: SparqlClient, request: pytest.FixtureRequest) -> SparqlClient:
    """A client that asks in either format: in XML once it has learnt that it asks Virtuoso."""
    if request.param == "XML":
        await sparql.ask("ASK { }")
    return sparql


@pytest.mark.slow
async def test_an_ask_is_answered_both_ways(reading: SparqlClient):
    assert await reading.ask("ASK { <http://x/l> <http://x/p04> 12 }")
    assert not await reading.ask("ASK { <http://x/l> <http://x/p04> 13 }")


async def test_every_kind_of_literal_comes_as_it_was_loaded(reading: SparqlClient):
    answer = await reading.select("SELECT ?o { <http://x/l> ?p ?o } ORDER BY ?p")

    assert [row["o"] for row in answer.rows] == LITERALS


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_text_comes_back_as_it_was_sent(reading: SparqlClient, text: str):
    (row,) = (await reading.select(fill("SELECT ($v AS ?v) { }", v=Literal(text)))).rows

    # Virtuoso types a computed text with wide characters as xsd:string, and others not at all.
    assert str(row["v"]) == text


async def test_a_blank_node_of_an_answer_can_be_used_in_the_next_query(reading: SparqlClient):
    (row,) = (await reading.select("SELECT ?b { ?b <http://x/of> ?o }")).rows

    assert isinstance(row["b"], BNode)
    assert await reading.ask(fill("ASK { $blank <http://x/of> <http://x/l> }", blank=iri(row["b"])))


async def test_the_silent_row_cap_is_told(reading: SparqlClient):
    cut = await reading.select("SELECT ?s { ?s <http://x/many> ?o } LIMIT 20000")
    whole = await reading.select("SELECT ?s { ?s <http://x/many> ?o } LIMIT 9999")

    assert (len(cut.rows), cut.row_cap) == (10_000, 10_000)
    assert (len(whole.rows), whole.row_cap) == (9_999, None)


async def test_an_empty_answer_is_empty_and_an_empty_sum_unbound(reading: SparqlClient):
    assert (await reading.select("SELECT ?s { ?s <http://x/none> ?o }")).rows == ()
    (row,) = (await reading.select("SELECT (SUM(?o) AS ?sum) { ?s <http://x/none> ?o }")).rows
    assert "sum" not in row


async def test_counts_are_exact(sparql: SparqlClient):
    (row,) = (await sparql.select("SELECT (COUNT(*) AS ?n) { ?s <http://x/many> ?o }")).rows

    assert number_in(row, "n") == 10_500


async def test_lists_of_a_thousand_terms_are_taken(sparql: SparqlClient):
    nodes = [iri(f"http://x/s{number}") for number in range(1_000)]
    pairs = rows(*((node, HUB) for node in nodes[:500]))
    queries = [
        fill("SELECT ?s { VALUES ?s { $nodes } ?s <http://x/many> ?o }", nodes=values(*nodes)),
        fill("SELECT ?s { ?s <http://x/many> ?o FILTER (?s IN ($nodes)) }", nodes=comma_separated(*nodes)),
        fill("SELECT ?s { VALUES (?s ?o) { $pairs } ?s <http://x/many> ?o }", pairs=pairs),
    ]

    assert [len((await sparql.select(query)).rows) for query in queries] == [1_000, 1_000, 500]


async def test_the_default_graph_is_the_only_one_read(
    sparql: SparqlClient, connect: Callable[..., SparqlClient], endpoint: str
):
    everywhere = connect(endpoint)
    query = "ASK { <http://x/s1> <http://x/elsewhere> ?o }"

    assert not await sparql.ask(query)
    assert await everywhere.ask(query)


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("SELECT ?s { ?s ?p", "37000, SP030"),
        ("SELECT (bif:no_such(?s) AS ?x) { ?s ?p ?o }", "37000, SP031"),
        ("SELECT ?s { ?s ?p ?o } ORDER BY ?s LIMIT 10 OFFSET 11000", "22023, SR353"),
    ],
)
async def test_a_query_it_does_not_take_is_an_error_with_its_codes(sparql: SparqlClient, query: str, codes: str):
    with pytest.raises(Unsupported, match=codes) as caught:
        await sparql.select(query)

    assert "SELECT" not in caught.value.message


async def test_a_query_it_estimates_too_costly_is_refused_with_both_times(alone: Virtuoso, sparql: SparqlClient):
    with alone.limits(MaxQueryCostEstimationTime=1), pytest.raises(StoreTimeout) as caught:
        await sparql.select(f"SELECT (COUNT(*) AS ?n) {ENDLESS}")

    assert re.search(r"it would take [\d,]+ s, above its limit of 1 s", caught.value.message)


def _one_second(_: float) -> dict[str, str]:
    return {"timeout": "1000"}


@pytest.mark.slow
async def test_what_its_own_time_cuts_is_partial_or_an_error(
    alone: Virtuoso, connect: Callable[..., SparqlClient], endpoint: str
):
    def hasty() -> SparqlClient:
        """A client that has not learnt yet which store it asks: after that, it gives a query all of its time."""
        dialect = replace(VIRTUOSO, time_limit=_one_second)
        return connect(endpoint, timeout=60, default_graph=GRAPH, dialect=dialect)

    with alone.limits(MaxQueryCostEstimationTime=ANY):
        counted = await hasty().select(f"SELECT (COUNT(*) AS ?n) {ENDLESS}")
        listed = await hasty().select(f"SELECT ?a {ENDLESS}")
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await hasty().ask(f"ASK {ENDLESS}")

    assert await asyncio.to_thread(alone.until, busy=False) < SOON_S
    assert counted.partial
    assert (listed.rows, listed.partial) == ((), True)


async def test_what_the_operators_time_cuts_is_an_error(alone: Virtuoso, sparql: SparqlClient):
    limits = alone.limits(MaxQueryCostEstimationTime=ANY, MaxQueryExecutionTime=1)
    # Not a count: what is spread over several threads would go on in them for ever behind the error.
    with limits, pytest.raises(StoreTimeout, match="stopped the query"):
        await sparql.select(f"SELECT ?a {ENDLESS}")
    assert await asyncio.to_thread(alone.until, busy=False) < SOON_S


async def test_a_wrong_password_is_refused(connect: Callable[..., SparqlClient], endpoint: str):
    client = connect(f"{endpoint}-auth".replace("//", "//dba:wrong@"))
    with pytest.raises(ConfigurationError, match="requires a user"):
        await client.select("SELECT ?s { ?s ?p ?o } LIMIT 1")


async def test_many_calls_at_once_are_all_answered(sparql: SparqlClient):
    query = "SELECT ?s { ?s <http://x/many> ?o } LIMIT 100"
    answers = await asyncio.gather(*(sparql.select(query) for _ in range(40)))

    assert {len(answer.rows) for answer in answers} == {100}


@pytest.mark.slow
async def test_a_killed_server_is_one_clear_error_and_works_again_after_its_restart(
    own_virtuoso: Virtuoso, connect: Callable[..., SparqlClient]
):
    own_virtuoso.start()
    client = connect(own_virtuoso.url)
    assert await client.ask("ASK { }")
    own_virtuoso.kill()
    # A connection that was kept breaks; one that is made while the process ends is reset; a later one finds nobody.
    with pytest.raises(StoreUnavailable, match=r"nothing listens|no connection to|broke before the answer"):
        await client.ask("ASK { }")
    with pytest.raises(StoreUnavailable, match="nothing listens"):
        await client.ask("ASK { }")
    own_virtuoso.start()
    assert await client.ask("ASK { }")
