"""Translates failures of an endpoint or of the network into this product's errors. No other module does so.

| failure | error |
|---|---|
| no connection: refused, unknown host, TLS, nothing within 3 s; connection lost | StoreUnavailable |
| the call's time is over; HTTP 408, 504; a text that says that the query timed out | StoreTimeout |
| HTTP 429; HTTP 503 with Retry-After | RateLimited, with the seconds |
| HTTP 401, 403 | ConfigurationError: user, password or User-Agent |
| HTTP 400 | Unsupported |
| HTTP 3xx, 404, other 4xx; an answer that is not a SPARQL result, is cut or too large | InvalidStore |
| HTTP 502, 503, other 5xx | StoreUnavailable |

A query that does not compile is `Unsupported`: values cannot break a query, so the endpoint does not understand the
SPARQL that the adapter writes. A store's own kinds of errors are read by its dialect. Endpoints echo queries in their
errors; therefore only codes and numbers are passed on, never their text.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isnan
from typing import cast

import httpx2

from kgnav_mcp.adapters.sparql_base.requests import Address
from kgnav_mcp.errors import (
    ConfigurationError,
    InvalidStore,
    KgnavError,
    RateLimited,
    StoreTimeout,
    StoreUnavailable,
    Unsupported,
)

_ASK_AGAIN = "Try again. If it fails again, check that the endpoint is up."
NARROWER = "Narrow the call by relations, a label or a direction, or lower the limit."
_CORRECT_ADDRESS = (
    "Correct the graph's address. Usual paths: /sparql (Virtuoso), /query (Oxigraph), /DATASET/query (Fuseki), "
    "/rdf4j-server/repositories/NAME (RDF4J), /blazegraph/namespace/NAME/sparql (Blazegraph), or / alone."
)
_CORRECT_HOST = "Correct the host in the graph's address."


class Deadlocked(StoreUnavailable):
    """The store ended a query because it and others waited for each other. Sent again, it usually succeeds."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP response that is not a SPARQL result."""

    endpoint: str
    """The address as messages show it."""
    status: int
    headers: httpx2.Headers
    text: str
    """The beginning of the body."""
    timeout: float
    """The time-out of the call in seconds."""


def refused(refusal: Refusal, *, ended: bool = False) -> KgnavError:
    """The error for a response with a bad status. `ended`: its text says that the query timed out."""
    if ended and (refusal.status not in _PAUSE_STATUSES or _retry_after(refusal.headers.get("retry-after")) is None):
        return stopped_by_store(refusal.timeout)
    make_error = _STATUSES.get(refusal.status) or _STATUS_CLASSES.get(refusal.status // 100, _unexpected)
    return make_error(refusal)


def not_results(refusal: Refusal, *, ended: bool) -> KgnavError:
    """The error for a response with a good status but no SPARQL result in it, such as a web page or a cut result."""
    if ended:
        return stopped_by_store(refusal.timeout)
    kind = refusal.headers.get("content-type", "").partition(";")[0].strip().lower()
    if "json" in kind or kind == "application/sparql-results+xml":
        return InvalidStore(f"{refusal.endpoint} sent a SPARQL result that is damaged or cut", next_step=_ASK_AGAIN)
    what = "a web page" if "html" in kind else "something"
    return InvalidStore(
        f"{refusal.endpoint} answers with {what} instead of a SPARQL result", next_step=_CORRECT_ADDRESS
    )


def too_large(endpoint: str, limit: int) -> KgnavError:
    """The error for a response of more bytes than `limit`."""
    return InvalidStore(f"the answer of {endpoint} is larger than {limit:,} bytes", next_step=NARROWER)


def timed_out(seconds: float) -> KgnavError:
    """The error for a call that exceeded its time-out of `seconds`."""
    return StoreTimeout(seconds, next_step=NARROWER)


def not_sent(seconds: float, max_queries: int) -> KgnavError:
    """The error for a query that was not sent, because it waited too long for other queries to the same graph."""
    return StoreTimeout(
        seconds,
        f"the query could not be sent within {seconds:g} s, because {max_queries} others were running",
        next_step="Try again with fewer concurrent calls.",
    )


def stopped_by_store(seconds: float | None = None) -> KgnavError:
    """The error for a query that the endpoint itself stopped for time; `seconds` is the time-out of the call."""
    return StoreTimeout(seconds, "the store stopped the query at its time limit", next_step=NARROWER)


def capped() -> KgnavError:
    """The error for an answer that the endpoint's row cap cut where a partial answer would be wrong."""
    return Unsupported(
        "the store's row cap truncated a result, so the answer would be wrong",
        next_step="Ask its operator to raise the row cap, or query another entity.",
    )


def reordered() -> KgnavError:
    """The error for a list read in several requests, between which the order of its rows changed."""
    return Unsupported(
        "the store's row cap truncated a list that has no stable order",
        next_step="Ask its operator to raise the row cap, or narrow the list.",
    )


def lost_blank_nodes(number: int) -> KgnavError:
    """The error for listed blank nodes whose triples the store does not return."""
    return Unsupported(
        f"the store returns {number:,} blank nodes here, but no triples of them",
        next_step="Start at their neighbours, or count them: MATCH (n:Label) RETURN count(*).",
    )


def not_sorted() -> KgnavError:
    """The error for an answer that is not in the order that the query asked for."""
    return Unsupported(
        "the store cannot sort by text, so a long list cannot be continued",
        next_step="Narrow the list by relation, match or node_type.",
    )


def disconnected(error: httpx2.RequestError, endpoint: Address, connect_timeout: float) -> KgnavError:
    """The error for a failure of the network or of HTTP itself."""
    # SSLWantReadError only means waiting for more of a TLS record; it shows up in the context but is not a cause.
    causes = tuple(cause for cause in _causes(error) if not isinstance(cause, ssl.SSLWantReadError))
    if isinstance(error, httpx2.DecodingError | httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
        return InvalidStore(f"{endpoint.name} does not answer in valid HTTP", next_step=_CORRECT_ADDRESS)
    for kind, message, next_step in _NETWORK_FAILURES:
        if isinstance(error, kind) or any(isinstance(cause, kind) for cause in causes):
            text = message.format(endpoint=endpoint.name, host=endpoint.host, seconds=f"{connect_timeout:g}")
            return StoreUnavailable(text, next_step=next_step)
    return StoreUnavailable(
        f"the connection to {endpoint.name} broke before the answer was complete", next_step=_ASK_AGAIN
    )


_START = "Start the endpoint, or correct the graph's address; then repeat the call."
_NETWORK_FAILURES: tuple[tuple[type[BaseException], str, str], ...] = (
    (httpx2.ConnectTimeout, "{endpoint} accepts no connection within {seconds} s", _START),
    (socket.gaierror, "unknown host {host}", _CORRECT_HOST),
    (ssl.SSLCertVerificationError, "the TLS certificate of {host} is not trusted", "Trust it, or correct the address."),
    (ssl.SSLError, "{host} does not support TLS correctly", "Check whether the address must begin with http://."),
    (ConnectionRefusedError, "nothing listens at {endpoint}", _START),
    (httpx2.ProxyError, "the proxy on the way to {endpoint} refuses the connection", "Correct the proxy's settings."),
    (httpx2.ConnectError, "no connection to {endpoint} can be made", _START),
)
"""Messages for failures of the network, by cause; the most specific first."""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """All causes of an error. The HTTP library hides causes from stack traces, but keeps them as context."""
    waiting: list[BaseException | None] = [error.__cause__, error.__context__]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop(0)
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", cause).exceptions


def _unavailable(refusal: Refusal) -> KgnavError:
    return StoreUnavailable(f"{refusal.endpoint} fails (HTTP {refusal.status})", next_step=_ASK_AGAIN)


def _busy(refusal: Refusal) -> KgnavError:
    return _rate_limited(refusal) if "retry-after" in refusal.headers else _unavailable(refusal)


def _rate_limited(refusal: Refusal) -> KgnavError:
    seconds = _retry_after(refusal.headers.get("retry-after"))
    return RateLimited(f"{refusal.endpoint} accepts no more queries now", seconds)


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number of seconds or a date (RFC 9110, section 10.2.3); None if it is neither."""
    if value is None:
        return None
    with suppress(ValueError):
        seconds = float(value)
        return None if isnan(seconds) else seconds
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime.now(UTC)).total_seconds()


def _not_understood(refusal: Refusal) -> KgnavError:
    return Unsupported(
        f"{refusal.endpoint} rejects this query (HTTP {refusal.status})",
        next_step="Change the call, or check that the URL scheme matches the kind of endpoint.",
    )


def _unauthorized(refusal: Refusal) -> KgnavError:
    return ConfigurationError(
        f"{refusal.endpoint} requires a user and a password, or rejects the given ones",
        next_step="Write http://USER:PASSWORD@HOST/... as the graph's address.",
    )


def forbidden(refusal: Refusal) -> KgnavError:
    """The error for an endpoint that refuses access with the given rights."""
    return ConfigurationError(
        f"{refusal.endpoint} refuses access",
        next_step="Check whether it needs another user, or a contact (--contact).",
    )


def _redirected(refusal: Refusal) -> KgnavError:
    return InvalidStore(
        f"{refusal.endpoint} sends the query to another address, which is not followed",
        next_step="Set the graph's address to the final one.",
    )


def _no_endpoint(refusal: Refusal) -> KgnavError:
    return InvalidStore(
        f"there is no SPARQL endpoint at {refusal.endpoint} (HTTP {refusal.status})", next_step=_CORRECT_ADDRESS
    )


def _too_long(refusal: Refusal) -> KgnavError:
    return Unsupported(f"{refusal.endpoint} rejects a query of this length", next_step=NARROWER)


def _unexpected(refusal: Refusal) -> KgnavError:
    return InvalidStore(
        f"{refusal.endpoint} answers without a result (HTTP {refusal.status})", next_step=_CORRECT_ADDRESS
    )


_PAUSE_STATUSES = (429, 503)
"""Statuses that ask for a pause; some stores also use them for a query that they stopped."""
_STATUSES: dict[int, Callable[[Refusal], KgnavError]] = {
    400: _not_understood,
    401: _unauthorized,
    403: forbidden,
    407: forbidden,
    408: lambda refusal: stopped_by_store(refusal.timeout),
    413: _too_long,
    414: _too_long,
    422: _not_understood,
    429: _rate_limited,
    501: _not_understood,
    503: _busy,
    504: lambda refusal: stopped_by_store(refusal.timeout),
}
_STATUS_CLASSES: dict[int, Callable[[Refusal], KgnavError]] = {3: _redirected, 4: _no_endpoint, 5: _unavailable}
