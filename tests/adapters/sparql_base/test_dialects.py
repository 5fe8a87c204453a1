"""A store is asked in its own dialect, whether that was told beforehand or is learnt from what it answers."""

from __future__ import annotations

import httpx2
import pytest

from kgnav_mcp.adapters.sparql_base import results
from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.dialect import Dialect
from kgnav_mcp.adapters.sparql_base.dialects import OXIGRAPH, announced
from kgnav_mcp.adapters.sparql_base.results import JSON_TYPE
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO

from .stub import always, rows, serving

QUERY = "SELECT ?v { ?s ?p ?v }"


@pytest.mark.parametrize(
    ("headers", "dialect"),
    [
        ({"server": "Virtuoso/07.20.3229 (Linux) x86_64-pc-linux-gnu"}, VIRTUOSO),
        ({"server": "nginx", "x-sparql-maxrows": "10000"}, VIRTUOSO),
        ({"server": "nginx", "x-sql-state": "S1TAT"}, VIRTUOSO),
        ({"server": "oxigraph/0.4.1"}, OXIGRAPH),
        ({"server": "nginx"}, None),
        ({}, None),
    ],
)
def test_an_answer_tells_the_dialect_it_is_written_in(headers: dict[str, str], dialect: Dialect | None):
    assert announced(httpx2.Headers(headers)) is dialect


async def test_the_first_query_of_a_known_dialect_has_a_time_limit_and_its_fastest_format():
    async with serving(always(rows("1"))) as stub:
        sparql = SparqlClient(stub.url, timeout=10, dialect=VIRTUOSO)
        await sparql.select(QUERY)
        await sparql.close()
    (request,) = stub.requests
    assert request.form == {"query": [QUERY], "timeout": ["7500"]}
    assert request.headers["accept"] == results.XML_TYPE


async def test_queries_to_an_unknown_store_follow_the_standard():
    async with serving(always(rows("1"), "Server: nginx")) as stub:
        sparql = SparqlClient(stub.url, timeout=10)
        for _ in range(2):
            await sparql.select(QUERY)
        await sparql.close()
    assert [request.headers["accept"] for request in stub.requests] == [JSON_TYPE, JSON_TYPE]
    assert all(request.form == {"query": [QUERY]} for request in stub.requests)


@pytest.mark.parametrize(("seconds", "milliseconds"), [(30, "27500"), (4, "2000"), (1, "500"), (0.0001, "1")])
def test_virtuosos_time_ends_a_little_before_the_calls(seconds: float, milliseconds: str):
    assert VIRTUOSO.time_limit(seconds) == {"timeout": milliseconds}
