"""HTTP client for one SPARQL endpoint: pooled connections, cancelled with the call, bounded in bytes and time."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic
from typing import TypeVar
from uuid import uuid4

import httpx2

from kgnav_mcp import __version__
from kgnav_mcp.adapters.sparql_base import dialects, errors, results
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.errors import Refusal
from kgnav_mcp.adapters.sparql_base.rate_limit import MAX_CONCURRENT, Client, RateLimitedClient, limiter_of, user_agent
from kgnav_mcp.adapters.sparql_base.requests import Address, Form, RequestBuilder
from kgnav_mcp.adapters.sparql_base.results import Answer
from kgnav_mcp.adapters.sparql_base.turns import Turns
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import ConfigurationError, KgnavError, Unsupported


class Credentials(httpx2.Auth):
    """Digest or Basic authentication, whichever the endpoint asks for; Digest where it offers both.

    The first request goes without, so that a password is never sent to an endpoint that does not want one. From the
    first challenge on, it is sent at once. (SPARQLWrapper's own Digest changes the opener of the whole process.)
    """

    def __init__(self, user: str, password: str) -> None:
        self._basic = httpx2.BasicAuth(user, password)
        self._digest = httpx2.DigestAuth(user, password)
        self._chosen: httpx2.Auth | None = None

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        if self._chosen is not None:
            yield from self._chosen.auth_flow(request)
            return
        response = yield request
        schemes = {challenge.split(" ", 1)[0].lower() for challenge in _challenges(response)}
        if "digest" in schemes:
            self._chosen = self._digest
            # The Digest flow begins with the request that has just been answered.
            flow = self._digest.auth_flow(request)
            next(flow)
            yield flow.send(response)
        elif "basic" in schemes:
            self._chosen = self._basic
            yield from self._basic.auth_flow(request)

    def __repr__(self) -> str:
        return "Credentials(...)"


def _challenges(response: httpx2.Response) -> list[str]:
    return response.headers.get_list("www-authenticate") if response.status_code == HTTPStatus.UNAUTHORIZED else []


R = TypeVar("R")

CONNECT_SECONDS = 3.0
"""Time to connect. A dead server is reported after this time, even if the time-out for answers is longer."""
MAX_BYTES = 50_000_000
USER_AGENT = f"kgnav-mcp/{__version__}"

_GOOD_STATUSES = (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT)
"""Virtuoso later than 7.2.5 sends 206 where its time-out cut an answer."""
MAX_QUERIES = 3
"""Maximum number of concurrent queries to one graph, as Wikimedia asks for.

A store on a small machine answers three before it answers eight. As many may still run there when all callers have
left.
"""
_CANCEL_SECONDS = 3.0
"""Time for cancelling a query in the store."""
_IDLE_SECONDS = 55.0
"""How long an idle connection is kept: less than the minute after which proxies and firewalls drop it."""
_DROPPED_SECONDS = 2.0
"""A reused connection that fails within this time was dropped while idle; one that fails later failed under the
query."""
_TIMER_DELAY_SECONDS = 0.05
"""A timer that fires later than this means that the event loop was blocked."""
_ERROR_BYTES = 65_536
"""How much of an error's body is read."""
_CELL_BYTES = 80
"""Approximate size of one cell of an answer, or of one IRI in a query. Long texts are processed in a thread."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """An HTTP response whose body has been read in full."""

    status: int
    headers: httpx2.Headers
    body: bytes


class _Attempt:
    """What the HTTP library reports on one attempt: whether its connection was reused, and when a new one began."""

    def __init__(self) -> None:
        self._reused = True
        self._answered = False
        self._sent: float | None = None
        self._connecting: float | None = None

    async def on_event(self, event: str, _: Mapping[str, object]) -> None:
        if event in {"connection.connect_tcp.started", "connection.start_tls.started"}:
            self._reused = False
            self._connecting = monotonic()
        elif event == "http11.send_request_headers.started":
            self._sent = monotonic()
        elif event == "http11.receive_response_headers.complete":
            self._answered = True

    @property
    def connection_dropped(self) -> bool:
        """Whether the endpoint had dropped the idle connection, so that it never saw the query."""
        if self._sent is None or self._answered or not self._reused:
            return False
        return monotonic() - self._sent < _DROPPED_SECONDS

    def was_blocked(self, error: httpx2.RequestError, seconds: float) -> bool:
        """Whether connecting timed out only because this program's event loop was blocked.

        `seconds` is the time-out for connecting.
        """
        if self._connecting is None or not isinstance(error, httpx2.ConnectTimeout):
            return False
        return monotonic() - self._connecting > seconds + _TIMER_DELAY_SECONDS


class SparqlClient:
    """A client of one endpoint. Safe for concurrent calls in one event loop.

    A call that fails raises one of these. It never returns an empty answer instead.

        StoreUnavailable: nothing answers, or the connection broke.
        StoreTimeout: the call's time-out or the endpoint's own is over, or the endpoint estimates that it would be.
        RateLimited: the endpoint asks for a pause.
        InvalidStore: what answers is not a SPARQL endpoint, or the answer is damaged or too large.
        Unsupported: the endpoint does not accept this query.
        ConfigurationError: it rejects the user and password, or requires them.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        timeout: float,
        default_graph: str | Sequence[str] | None = None,
        max_bytes: int = MAX_BYTES,
        user_agent: str = USER_AGENT,
        user: str | None = None,
        password: str | None = None,
        max_queries: int = MAX_QUERIES,
        dialect: Dialect = PLAIN,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """Create a client. Does no I/O.

        `endpoint` may contain a user and a password, which `user` and `password` override. `timeout` is for a whole
        call, in seconds, with waiting until fewer than `max_queries` are running. Without a `dialect` it is detected:
        from the headers of any answer, or for certain by `detect`. If it is known, each query also carries a time limit
        in the store's own parameter, and the store may return a partial answer.

        Raises:
            ConfigurationError: `endpoint` is not an http or https address, or the configured proxy is not one.
        """
        self._endpoint = Address.parse(endpoint)
        self._timeout = timeout
        self._connect_timeout = min(CONNECT_SECONDS, timeout)
        self._max_bytes = max_bytes
        self._builder = RequestBuilder(self._endpoint.url, default_graph=default_graph, agent=user_agent)
        user = user if user is not None else self._endpoint.user
        password = password if password is not None else self._endpoint.password
        self._auth = Credentials(user, password or "") if user is not None else httpx2.Auth()
        self._dialect = dialect
        self._max_queries = max_queries
        self._turns = Turns(max_queries)
        self._cancelling: set[asyncio.Task[None]] = set()
        connections = max_queries + 1  # one for trivial queries and for cancelling
        self._attempts = connections + 1
        try:
            self._http = httpx2.AsyncClient(
                # Reading, writing and waiting for a connection are bounded by the time-out of the whole call.
                timeout=httpx2.Timeout(None, connect=self._connect_timeout),
                limits=httpx2.Limits(
                    max_connections=connections,
                    max_keepalive_connections=connections,
                    keepalive_expiry=_IDLE_SECONDS,
                ),
                follow_redirects=False,
                trust_env=not self._endpoint.is_local,
                # Loading this machine's certificates takes time; only https needs them.
                verify=True if self._endpoint.url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                transport=transport,
            )
        except (ValueError, httpx2.InvalidURL):  # which may repeat a password
            raise ConfigurationError(
                "the proxy setting of this environment is not a valid address",
                next_step="Correct the proxy's settings.",
            ) from None

    def __repr__(self) -> str:
        return f"SparqlClient({self._endpoint.name!r})"

    @property
    def dialect(self) -> Dialect:
        """The store's dialect, as given or as far as its answers have shown it."""
        return self._dialect

    async def detect(self) -> Dialect:
        """Detect the store's dialect with a query that costs nothing, unless it is known."""
        if self._dialect is PLAIN:
            with suppress(Unsupported):
                reply, rows = await self._answer(dialects.PROBE, results.read_rows, self._timeout)
                self._dialect = dialects.detected(reply.headers, has_rows=bool(rows))
        return self._dialect

    async def select(self, query: str, *, seconds: float | None = None, waits: bool = True) -> Answer:
        """Run a SELECT query. Returns its rows, and whether the endpoint cut them.

        `seconds` is the time limit, if it is shorter than that of a call. With `waits` False, a trivial query is sent
        even if `max_queries` are running.
        """
        reply, rows = await self._answer(query, results.read_rows, seconds or self._timeout, waits=waits)
        cap = reply.headers.get(self._dialect.row_cap, "")
        row_cap = int(cap) if cap.isdecimal() and len(rows) >= int(cap) else None
        return Answer(rows, row_cap, partial=self._cut_by_time(reply))

    async def ask(self, query: str) -> bool:
        """Run an ASK query. A `no` that only means that the time was over raises StoreTimeout."""
        reply, truth = await self._answer(query, results.read_truth, self._timeout)
        if not truth and self._cut_by_time(reply):
            raise errors.stopped_by_store(self._timeout)
        return truth

    async def close(self) -> None:
        """Close every connection, once queries that callers have left are cancelled. Safe to call twice."""
        await asyncio.gather(*self._cancelling)
        await self._http.aclose()

    async def _answer(
        self,
        query: str,
        reader: Callable[[bytes, str], R],
        seconds: float,
        media_type: str | None = None,
        *,
        waits: bool = True,
    ) -> tuple[_Reply, R]:
        """Send a query and read its answer. Asks again in JSON where a text cannot be written in XML."""
        media_type = media_type or self._dialect.media_type
        reply = await self._ask(query, media_type, seconds, waits=waits)
        self._dialect = dialects.announced(reply.headers) or self._dialect
        try:
            return reply, await self._read(reply, reader)
        except results.NoResults as error:
            if isinstance(error, results.Unwritable) and media_type != results.JSON_TYPE:
                return await self._answer(query, reader, seconds, results.JSON_TYPE, waits=waits)
            # Blazegraph appends its error to the rows it had already written.
            edges = reply.body[:_ERROR_BYTES] + reply.body[-_ERROR_BYTES:]
            raise dialects.not_results(self._refusal(reply.status, reply.headers, edges)) from error

    async def _ask(self, query: str, media_type: str, seconds: float, *, waits: bool) -> _Reply:
        """Send a query when it is its turn.

        Raises:
            StoreTimeout: its turn did not come, or the answer did not, within `seconds`.
        """
        deadline = monotonic() + seconds
        sent = False
        try:
            async with asyncio.timeout(seconds), AsyncExitStack() as turn:
                left = seconds
                if waits:
                    is_waiting = self._turns.are_taken()
                    await turn.enter_async_context(self._turns.turn())
                    left = max(deadline - monotonic(), 0.0) if is_waiting else seconds
                sent = True
                return await self._send(query, media_type, left)
        except TimeoutError as error:
            raise errors.timed_out(seconds) if sent else errors.not_sent(seconds, self._max_queries) from error

    async def _send(self, query: str, media_type: str, seconds: float) -> _Reply:
        """Send a query with the store's own time limit. If the caller leaves, the query is cancelled in the store."""
        parameters = self._dialect.time_limit(seconds)
        cancellation, query_id = self._dialect.cancellation, str(uuid4())
        if cancellation is not None:
            query = cancellation.with_id(query, query_id)
        form = await in_thread(len(query) // _CELL_BYTES, lambda: self._builder.form(query, media_type, parameters))
        try:
            return await self._send_with_retry(form)
        except asyncio.CancelledError:
            if cancellation is not None:
                task = asyncio.create_task(self._cancel(self._builder.command(cancellation.request(query_id))))
                self._cancelling.add(task)
                task.add_done_callback(self._cancelling.discard)
            raise

    async def _cancel(self, request: Form) -> None:
        """Send a request that cancels a query. If it fails, the store's own time limit ends the query."""
        with suppress(TimeoutError, httpx2.RequestError, KgnavError):
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self._exchange(request, _Attempt())

    async def _send_with_retry(self, form: Form) -> _Reply:
        """Send a form; retry dropped connections until a new one has been tried, and a query in a deadlock once.

        Queries only read, so one that was sent on a dropped connection can safely be sent again. Every round removes
        one dropped connection from the pool. Nothing else is sent twice, least of all after a time-out. A connection
        that timed out because this program was busy has carried nothing.
        """
        attempts_left, deadlocks_left = self._attempts, 1
        while True:
            attempt = _Attempt()
            try:
                return await self._exchange(form, attempt)
            except errors.Deadlocked:
                if not deadlocks_left:
                    raise
                deadlocks_left -= 1
            except httpx2.RequestError as error:
                attempts_left -= 1
                if not attempts_left or not (
                    attempt.connection_dropped or attempt.was_blocked(error, self._connect_timeout)
                ):
                    raise errors.disconnected(error, self._endpoint, self._connect_timeout) from error

    async def _exchange(self, form: Form, attempt: _Attempt) -> _Reply:
        """Send one request and the requests that authentication puts before it; returns the final answer."""
        request = self._http.build_request(
            "POST",
            self._endpoint.url,
            content=form.body,
            headers=dict(form.headers),
            extensions={"trace": attempt.on_event},
        )
        flow = self._auth.auth_flow(request)
        request = next(flow)
        while True:
            response = await self._http.send(request, stream=True, auth=httpx2.Auth())
            async with aclosing(response):
                _acknowledge(response)
                try:
                    request = flow.send(response)
                except StopIteration:
                    return await self._read_response(response)
                await _read_beginning(response)

    async def _read_response(self, response: httpx2.Response) -> _Reply:
        if response.status_code not in _GOOD_STATUSES:
            raise dialects.refused(
                self._refusal(response.status_code, response.headers, await _read_beginning(response))
            )
        if error := dialects.error(self._refusal(response.status_code, response.headers, b"")):
            raise error
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._max_bytes:
                raise errors.too_large(self._endpoint.name, self._max_bytes)
        return _Reply(response.status_code, response.headers, bytes(body))

    @staticmethod
    async def _read(reply: _Reply, reader: Callable[[bytes, str], R]) -> R:
        media_type = reply.headers.get("content-type", results.JSON_TYPE)
        return await in_thread(len(reply.body) // _CELL_BYTES, lambda: reader(reply.body, media_type))

    def _cut_by_time(self, reply: _Reply) -> bool:
        return self._dialect.cut_by_time(reply.status, reply.headers)

    def _refusal(self, status: int, headers: httpx2.Headers, body: bytes) -> Refusal:
        return Refusal(self._endpoint.name, status, headers, body.decode("utf-8", "replace"), self._timeout)


async def _read_beginning(response: httpx2.Response) -> bytes:
    """Read the first bytes of a body, for an error. A short body is read in full, so that its connection is reused."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _ERROR_BYTES:
            break
    return bytes(body[:_ERROR_BYTES])


def _acknowledge(response: httpx2.Response) -> None:
    """Acknowledge the first packet of an answer at once (TCP_QUICKACK).

    A server that collects small packets, as Virtuoso does, holds back the end of an answer until its beginning is
    acknowledged. Linux delays that by 40 ms on a reused connection, unless this option is set anew for each request.
    """
    option: int | None = getattr(socket, "TCP_QUICKACK", None)
    stream = response.extensions.get("network_stream")
    if option is None or stream is None:
        return
    connection = stream.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):  # If the connection is gone, reading reports it.
            connection.setsockopt(socket.IPPROTO_TCP, option, 1)


LIBRARY = f"httpx2/{httpx2.__version__}"


def create_client(
    address: str,
    *,
    contact: str,
    timeout: float,
    graphs: Sequence[str],
    local_limit: int | None,
    dialect: Dialect = PLAIN,
) -> Client:
    """Create a client that names its operator in the User-Agent and keeps to the host's rate limits.

    A store on this machine gets at most `local_limit` queries at a time; None: no limit. Without a `dialect`, it is
    detected from the answers.
    """
    agent = user_agent(USER_AGENT, contact, LIBRARY)
    client = SparqlClient(address, timeout=timeout, default_graph=graphs or None, user_agent=agent, dialect=dialect)
    parsed = Address.parse(address)
    limit = local_limit if parsed.is_local else MAX_CONCURRENT
    return (
        client if limit is None else RateLimitedClient(client, limiter_of(parsed.host, limit=limit), patience=timeout)
    )
