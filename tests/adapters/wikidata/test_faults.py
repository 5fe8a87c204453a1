"""What an endpoint does wrong becomes one clear sentence at any verb, and when it is opened; never an empty answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base import rate_limit
from kgnav_mcp.errors import InvalidStore, KgnavError, RateLimited, StoreTimeout, StoreUnavailable
from kgnav_mcp.model import Direction
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.adapters.sparql_base.stub import Exchange, Handler, always, serving
from tests.adapters.wikidata.stubbed import BASE, opened, rows, wikibase
from tests.rows import triples_at

_HTML, _JSON = "text/html", "application/sparql-results+json"
_QLEVER = json.dumps({"status": "ERROR", "exception": "Operation was cancelled", "query": "SELECT ..."})
_BLAZEGRAPH = "SPARQL-QUERY: queryStr=SELECT ...\njava.util.concurrent.TimeoutException\n\tat java.util.concurrent"


async def _cut(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\nContent-Length: 500\r\n\r\n"
    )
    await exchange.send(b'{"head": {"vars": ["s"]}, "results": {"bindings": [')
    exchange.drop()


async def _slow(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\nContent-Length: 500\r\n\r\n"
    )
    await exchange.until_left()


async def _huge(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n\r\n")
    block = b" " * 1_000_000
    for _ in range(60):
        await exchange.send(block)
    exchange.drop()


FAULTS: dict[str, tuple[Handler, type[KgnavError], str, str]] = {
    "rate limit": (
        always("Too Many Requests", "Retry-After: 120", status="429 X", kind="text/plain"),
        RateLimited,
        "accepts no more queries now",
        "Try again in 2 minutes",
    ),
    "rate limit until a date": (
        always(
            "", f"Retry-After: {format_datetime(datetime.now(UTC) + timedelta(days=9), usegmt=True)}", status="429 X"
        ),
        RateLimited,
        "accepts no more queries now",
        "Try again in more than a day",
    ),
    "QLever's time-out": (
        always(_QLEVER, status="429 X", kind="application/json"),
        StoreTimeout,
        "at its time limit",
        "",
    ),
    "Blazegraph's time-out": (
        always(_BLAZEGRAPH, status="500 X", kind="text/plain"),
        StoreTimeout,
        "at its time limit",
        "",
    ),
    "cut body": (_cut, StoreUnavailable, "broke before the answer was complete", "Try again"),
    "cut JSON": (always('{"results": {"bindin', kind=_JSON), InvalidStore, "damaged or cut", "Try again"),
    "slow body": (_slow, StoreTimeout, "did not answer within 0.5 s", ""),
    "web page": (always("<html>Hello</html>", kind=_HTML), InvalidStore, "a web page instead of a SPARQL", "address"),
    "huge body": (_huge, InvalidStore, "larger than 50,000,000 bytes", "Narrow the call"),
    "redirect": (
        always("", "Location: http://elsewhere.example/", status="302 X", kind=_HTML),
        InvalidStore,
        "to another address, which is not followed",
        "final one",
    ),
    "no such page": (always("", status="404 X", kind=_HTML), InvalidStore, "there is no SPARQL endpoint at", "address"),
    "down": (always("", status="503 X", kind=_HTML), StoreUnavailable, "fails (HTTP 503)", "Try again"),
}

Verb = Callable[[GraphAdapter], Awaitable[object]]
VERBS: dict[str, Verb] = {
    "entities": lambda graph: graph.describe(["Q42"]),
    "named": lambda graph: graph.find_by_name("Douglas Adams", limit=5),
    "find": lambda graph: graph.find("Douglas Adams", limit=5),
    "relations": lambda graph: graph.relations(["Q42"], Direction.OUTGOING, examples=2, limit=50),
    "incoming relations": lambda graph: graph.relations(["Q42"], Direction.INCOMING, limit=50),
    "neighbours": lambda graph: triples_at(graph, ["Q42"], Direction.OUTGOING, limit=50),
    "incoming neighbours": lambda graph: triples_at(graph, ["Q42"], Direction.INCOMING, limit=50, all_or_none=True),
    "nodes": lambda graph: graph.nodes(None, "P31", "Q5", limit=50),
    "values": lambda graph: graph.values("P31", None, ValueOwner.NODE, limit=50),
}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second try comes soon."""
    monkeypatch.setattr(rate_limit, "_FIRST_PAUSE", 0.01)


CASES = [(fault, verb) for fault in FAULTS for verb in VERBS if fault != "huge body" or verb == "entities"]
"""One verb reads enough megabytes."""


@pytest.mark.parametrize(("fault", "verb"), CASES)
async def test_each_fault_is_one_clear_error_at_every_verb(fault: str, verb: str):
    handler, kind, message, step = FAULTS[fault]
    async with opened(wikibase(handler), seconds=0.5 if fault == "slow body" else 5.0) as (graph, _):
        with pytest.raises(kind) as caught:
            await VERBS[verb](graph)
    hub = kind is StoreTimeout and verb.startswith("incoming")
    assert ("the triples that point at this entity" if hub else message) in caught.value.message
    assert step in caught.value.next_step
    assert caught.value.next_step


@pytest.mark.parametrize("fault", [name for name, (_, kind, _, _) in FAULTS.items() if kind is not StoreTimeout])
async def test_each_fault_is_said_when_a_graph_is_opened(fault: str):
    handler, kind, message, _ = FAULTS[fault]
    async with serving(handler) as stub:
        graph = open_adapter(f"wikidata+{stub.url}", AdapterOptions(timeout=5))
        with pytest.raises(kind) as caught:
            await graph.open()
        await graph.close()
    assert message in caught.value.message


async def test_an_endpoint_that_is_too_slow_for_its_catalogue_is_gone_on_without_one_and_says_so():
    async def answer(exchange: Exchange) -> None:
        slow = "wikibase:propertyType" in exchange.request.body.replace("%3A", ":")
        await (always(_BLAZEGRAPH, status="500 X") if slow else always(rows()))(exchange)

    async with opened(answer) as (graph, _):
        assert await graph.describe(["Q42"]) == {}
        health = await graph.health()
    assert any("could not be listed: the store stopped" in advice for advice in health.advice)


async def test_a_short_pause_that_the_endpoint_wants_is_waited_for():
    asked = 0

    async def limited_once(exchange: Exchange) -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            await exchange.answer("", "Retry-After: 1", status="429 X")
        else:
            await exchange.answer(rows())

    async with opened(wikibase(limited_once)) as (graph, _):
        loop = asyncio.get_running_loop()
        begin = loop.time()
        assert await graph.describe(["Q42"]) == {}
        assert loop.time() - begin >= 1.0


async def test_nothing_is_sent_while_the_endpoint_wants_a_long_pause():
    limit = always("", "Retry-After: 120", status="429 X")
    async with opened(wikibase(limit)) as (graph, stub):
        with pytest.raises(RateLimited):
            await graph.describe(["Q42"])
        sent = len(stub.requests)
        with pytest.raises(RateLimited) as caught:
            await graph.relations(["Q42"], Direction.OUTGOING, limit=5)
        assert len(stub.requests) == sent
    assert caught.value.retry_after is not None
    assert 110 < caught.value.retry_after <= 120


async def test_every_request_names_product_and_operator_and_calls_no_other_service():
    async with serving(wikibase(always(rows()))) as stub:
        options = AdapterOptions(contact="ann@lab.example", extra={"base": BASE})
        async with open_adapter(f"wikidata+{stub.url}", options) as graph:
            for verb in VERBS.values():
                await verb(graph)
    assert stub.requests
    for request in stub.requests:
        agent = request.headers["user-agent"]
        assert agent.startswith("kgnav-mcp/")
        assert "(ann@lab.example) httpx2/" in agent
        assert "service" not in request.form["query"][0].lower()
