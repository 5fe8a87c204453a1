"""Every fault of an endpoint becomes one clear error: none an empty answer, none an echo of the query."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.errors import Deadlocked
from kgnav_mcp.errors import (
    LONGEST_PAUSE,
    ConfigurationError,
    InvalidStore,
    KgnavError,
    RateLimited,
    StoreTimeout,
    StoreUnavailable,
    Unsupported,
)
from kgnav_mcp.render.problems import error_text

from .stub import ROWS, Exchange, Handler, always, rows, serving, table

QUERY = 'SELECT ?v { ?s ?p "a text of a user" }'
ECHO = f"\n\nSPARQL query:\ndefine sql:big-data-const 0 {QUERY}"
TEXT = "text/plain"


async def failure(handler: Handler, *, ask: bool = False) -> KgnavError:
    """The error that a query ends with."""
    async with serving(handler) as stub:
        sparql = SparqlClient(stub.url, timeout=5)
        with pytest.raises(KgnavError) as caught:
            await (sparql.ask("ASK { }") if ask else sparql.select(QUERY))
        await sparql.close()
    error = caught.value
    said = f"{error.message} {error.next_step}"
    assert "a text of a user" not in said
    assert "Exception" not in said
    assert error.message
    assert error.next_step
    return error


VIRTUOSO = [
    ("400", "37000 Error SP030: SPARQL compiler, line 2: syntax error at 'x' before '}'", Unsupported, "37000, SP030"),
    ("400", "37000 Error SP031: SPARQL compiler: Undefined procedure DB.DBA.x", Unsupported, "37000, SP031"),
    ("500", "37000 Error XM029: Free-text expression, line 1: syntax error", Unsupported, "37000, XM029"),
    ("500", "42001 Error SR185: Undefined procedure DB.DBA.x.", Unsupported, "42001, SR185"),
    ("500", "22023 Error SR353: Sorted TOP clause specifies more then 11010 rows to sort.", Unsupported, "too large"),
    ("500", "S1T00 Error SR171: Transaction timed out", StoreTimeout, "stopped the query"),
    (
        "500",
        "S1TAT Error RC...: Returning incomplete results, query interrupted by timeout",
        StoreTimeout,
        "stopped the query",
    ),
    ("500", "40001 Error SR172: Transaction deadlocked", Deadlocked, "busy"),
    ("500", "42000 Error SR186: No permission to execute procedure DB.DBA.x", ConfigurationError, "refuses access"),
    ("500", "22007 Error DT006: Cannot convert http://x/hub to datetime", InvalidStore, "22007, DT006"),
    ("500", "42000 Error FA003: something of its own", InvalidStore, "42000, FA003"),
    ("500", "XXXXX Error without any code", InvalidStore, "SQL state XXXXX"),
]


@pytest.mark.parametrize(("status", "text", "kind", "words"), VIRTUOSO)
async def test_sql_states_of_virtuoso_are_told_apart(status: str, text: str, kind: type[KgnavError], words: str):
    error = await failure(always(f"Virtuoso {text}{ECHO}", status=f"{status} X", kind=TEXT))

    assert type(error) is kind
    assert words in error.message


async def test_a_word_in_the_echoed_query_does_not_change_the_error():
    text = f"Virtuoso 37000 Error SP030: syntax error at 'estimated execution time' SR171 SR353 TimeoutException{ECHO}"

    assert type(await failure(always(text, status="400 X", kind=TEXT))) is Unsupported


async def test_a_refusal_for_its_estimated_time_says_both_times_and_what_to_leave_out():
    text = "Virtuoso 42000 Error The estimated execution time 14292 (sec) exceeds the limit of 400 (sec)."
    error = await failure(always(text + ECHO, status="500 X", kind=TEXT))

    assert isinstance(error, StoreTimeout)
    assert error.seconds == 400
    assert "by its estimate it would take 14,292 s, above its limit of 400 s" in error.message
    assert "Narrow the call" in error.next_step


OTHERS = [
    ("400 Bad Request", "Parse error: mismatched input", Unsupported, "rejects this query"),
    ("400 Bad Request", "Operation timed out: cancelled due to timeout", StoreTimeout, "stopped the query"),
    ("403 Forbidden", "", ConfigurationError, "refuses access"),
    ("404 Not Found", "<html>", InvalidStore, "no SPARQL endpoint"),
    ("405 Method Not Allowed", "", InvalidStore, "no SPARQL endpoint"),
    ("406 Not Acceptable", "", InvalidStore, "no SPARQL endpoint"),
    ("408 Request Timeout", "", StoreTimeout, "stopped the query"),
    ("413 Content Too Large", "", Unsupported, "of this length"),
    ("414 URI Too Long", "", Unsupported, "of this length"),
    ("500 Internal Server Error", "java.lang.NullPointerException", StoreUnavailable, "HTTP 500"),
    ("500 Error", "java.util.concurrent.TimeoutException\n at com.bigdata", StoreTimeout, "stopped the query"),
    ("502 Bad Gateway", "<html>", StoreUnavailable, "HTTP 502"),
    ("503 Service Unavailable", "", StoreUnavailable, "HTTP 503"),
    ("503 Service Unavailable", "Query timed out", StoreTimeout, "stopped the query"),
    ("504 Gateway Timeout", "<html>", StoreTimeout, "stopped the query"),
    ("204 No Content", "", InvalidStore, "HTTP 204"),
]


@pytest.mark.parametrize(("status", "text", "kind", "words"), OTHERS)
async def test_statuses_are_told_apart(status: str, text: str, kind: type[KgnavError], words: str):
    error = await failure(always(text, status=status, kind=TEXT))

    assert type(error) is kind
    assert words in error.message


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_an_endpoint_that_wants_a_pause_says_how_long(status: str):
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    seconds = await failure(always("", "Retry-After: 17", status=status, kind=TEXT))
    date = await failure(always("", f"Retry-After: {later}", status=status, kind=TEXT))

    assert isinstance(seconds, RateLimited)
    assert seconds.retry_after == 17
    assert seconds.next_step == "Try again in 17 s."
    assert isinstance(date, RateLimited)
    assert date.retry_after == pytest.approx(90, abs=3)


PAUSES = [
    ("40", 40, "40 s"),
    ("280", 280, "5 minutes"),
    ("7200", 7200, "2 hours"),
    ("86400", 86400, "24 hours"),
    ("1e9", LONGEST_PAUSE, "more than a day"),
    ("9" * 400, LONGEST_PAUSE, "more than a day"),
    ("inf", LONGEST_PAUSE, "more than a day"),
    ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_PAUSE, "more than a day"),
    ("Mon, 01 Jan 2001 00:00:00 GMT", 0, "1 s"),
    ("0", 0, "1 s"),
    ("-5", 0, "1 s"),
    ("nan", None, "a minute"),
    ("soon", None, "a minute"),
    ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None, "a minute"),
]


@pytest.mark.parametrize(("said", "seconds", "words"), PAUSES, ids=[said[:20] for said, _, _ in PAUSES])
async def test_a_pause_has_a_longest_length_and_readable_words(said: str, seconds: float | None, words: str):
    error = await failure(always("", f"Retry-After: {said}", status="429 X", kind=TEXT))

    assert isinstance(error, RateLimited)
    assert error.retry_after == seconds
    assert error_text(error).endswith(f"accepts no more queries now.\nNext: Try again in {words}.")


async def test_a_rate_limit_without_a_time_is_one_all_the_same():
    error = await failure(always("", status="429 X", kind=TEXT))

    assert isinstance(error, RateLimited)
    assert error.retry_after is None


async def test_qlevers_time_out_is_told_from_a_rate_limit_by_its_body_and_by_the_pause_it_does_not_want():
    body = '{"exception": "Operation was cancelled.", "query": "SELECT ...", "status": "ERROR"}'
    stopped = await failure(always(body, status="429 X", kind="application/json"))
    limited = await failure(always(body, "Retry-After: 9", status="429 X", kind="application/json"))
    other = await failure(always('{"error": "slow down"}', status="429 X", kind="application/json"))

    assert isinstance(stopped, StoreTimeout)
    assert isinstance(limited, RateLimited)
    assert isinstance(other, RateLimited)


NO_RESULTS = [
    ("<html><title>Welcome</title></html>", "text/html; charset=utf-8", "a web page"),
    ("<sparql xmlns='http://www.w3.org/2005/sparql-results#'/>", "application/sparql-results+xml", "damaged or cut"),
    ("all is well", TEXT, "instead of a SPARQL result"),
    ("", TEXT, "instead of a SPARQL result"),
    ("", ROWS, "damaged or cut"),
    (rows("a", "b")[:-30], ROWS, "damaged or cut"),
    ('{"head": {"vars": ["v"]}}', ROWS, "damaged or cut"),
    (table(["v"], [{"v": {"type": "uri"}}]), ROWS, "damaged or cut"),
    ('{"head": {}, "boolean": true}', ROWS, "damaged or cut"),
]


@pytest.mark.parametrize(("body", "kind", "words"), NO_RESULTS)
async def test_a_good_status_without_a_result_is_an_error(body: str, kind: str, words: str):
    error = await failure(always(body, kind=kind))

    assert type(error) is InvalidStore
    assert words in error.message


async def test_rows_in_place_of_a_truth_are_an_error():
    assert type(await failure(always(rows("1")), ask=True)) is InvalidStore


@pytest.mark.parametrize(
    "end",
    ["\njava.util.concurrent.TimeoutException: Query deadline is expired", "The SPARQL operation has been cancelled"],
    ids=["Blazegraph", "Oxigraph"],
)
@pytest.mark.parametrize("size", [0, 20_000])
async def test_a_result_that_ends_in_the_message_of_a_time_out_is_a_time_out(end: str, size: int):
    body = rows(*map(str, range(size)))[:-50] + end

    assert type(await failure(always(body))) is StoreTimeout


async def test_the_row_cap_is_told_where_the_endpoint_cut():
    async with serving(
        always(rows("a", "b"), "X-SPARQL-MaxRows: 2"),
        always(rows("a"), "X-SPARQL-MaxRows: 2"),
        always(rows("a", "b"), "X-SPARQL-MaxRows: many"),
        always(rows("a", "b")),
    ) as stub:
        sparql = SparqlClient(stub.url, timeout=5)
        caps = [(await sparql.select(QUERY)).row_cap for _ in range(4)]
        await sparql.close()

    assert caps == [2, None, None, None]


async def test_an_answer_that_its_time_cut_is_partial():
    cut = table(["n"], [])
    async with serving(
        always(cut, "X-SQL-State: S1TAT"), always(cut, status="206 Partial Content"), always(rows("a"))
    ) as stub:
        sparql = SparqlClient(stub.url, timeout=5)
        partial, newer, whole = [await sparql.select(QUERY) for _ in range(3)]
        await sparql.close()

    assert (partial.rows, partial.partial) == (newer.rows, newer.partial) == ((), True)
    assert not whole.partial


async def test_a_no_for_want_of_time_is_a_time_out_but_a_yes_is_a_yes():
    def body(truth: str) -> str:
        return f'{{"head": {{}}, "boolean": {truth}}}'

    async with serving(always(body("false"), "X-SQL-State: S1TAT"), always(body("true"), "X-SQL-State: S1TAT")) as stub:
        sparql = SparqlClient(stub.url, timeout=5)
        with pytest.raises(StoreTimeout):
            await sparql.ask("ASK { }")
        assert await sparql.ask("ASK { }")
        await sparql.close()


async def test_another_sql_state_under_a_good_status_is_an_error():
    assert type(await failure(always(rows("a"), "X-SQL-State: 40001"))) is Deadlocked
    message = "X-SQL-Message: SR172: Transaction deadlocked"
    assert type(await failure(always(rows("a"), "X-SQL-State: 00000", message))) is Deadlocked
    assert type(await failure(always(rows("a"), "X-SQL-State: 22023"))) is InvalidStore


@pytest.mark.parametrize(
    "deadlock",
    [
        always("Virtuoso 40001 Error SR172: Transaction deadlocked", status="500 Error", kind=TEXT),
        always(rows("a"), "X-SQL-State: 40001"),
    ],
    ids=["status", "header"],
)
async def test_a_query_in_a_deadlock_is_sent_once_more(deadlock: Handler):
    async with serving(deadlock, always(rows("b")), deadlock) as stub:
        sparql = SparqlClient(stub.url, timeout=5)
        assert len((await sparql.select(QUERY)).rows) == 1
        with pytest.raises(Deadlocked):
            await sparql.select(QUERY)
        await sparql.close()
    assert len(stub.requests) == 4


@pytest.mark.parametrize("status", ["301", "302", "303", "307", "308"])
async def test_no_redirect_is_followed(status: str):
    async with serving(always(rows("a"))) as other:
        error = await failure(always("", f"Location: {other.url}", status=f"{status} X", kind=TEXT))

    assert type(error) is InvalidStore
    assert "another address" in error.message
    assert other.requests == []


async def test_a_huge_error_is_read_at_its_beginning_only():
    sent: list[bytes] = []

    async def floods(exchange: Exchange) -> None:
        await exchange.send(
            b"HTTP/1.1 500 X\r\nConnection: close\r\n\r\nVirtuoso S1T00 Error SR171: Transaction timed out\n"
        )
        for _ in range(1_000):
            await exchange.send(b" " * 100_000)
            sent.append(b"")

    assert type(await failure(floods)) is StoreTimeout
    assert len(sent) < 1_000


async def test_what_does_not_speak_http_is_an_error():
    async def greets(exchange: Exchange) -> None:
        await exchange.send(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        exchange.drop()

    assert type(await failure(greets)) is StoreUnavailable


async def test_an_answer_that_cannot_be_unpacked_is_an_error():
    assert type(await failure(always(b"no gzip", "Content-Encoding: gzip"))) is InvalidStore
