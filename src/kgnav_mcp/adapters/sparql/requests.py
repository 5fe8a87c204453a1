"""Requests of the SPARQL 1.1 Protocol, and the address they go to. SPARQLWrapper builds them; nothing is sent here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import httpx2
from SPARQLWrapper import JSON, POST, SPARQLWrapper

from kgnav_mcp.errors import ConfigurationError, Unsupported

_QUERY = re.compile(
    r"""(?: \s++ | \#[^\n]*+ | PREFIX\s++[^\s:<]*+:\s*+<[^>]*+> | BASE\s*+<[^>]*+> | DEFINE\s++\S++\s++"[^"]*+" )*+
        (SELECT|ASK)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""The form of a query behind its prologue, and behind Virtuoso's pragmas. Every part is taken once, in linear time."""


@dataclass(frozen=True, slots=True)
class Form:
    """One POST: the bytes of its form and its headers."""

    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint is. Credentials of the address are taken out of it, and no text of this object has them."""

    url: str
    """The address requests go to, without user info."""
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, address: str) -> Address:
        """Read an address `http(s)://[USER:PASSWORD@]HOST[:PORT]/PATH[?QUERY]`.

        Raises:
            ConfigurationError: it is no such address; the error does not repeat it, for it may hold a password.
        """
        try:
            parts = urlsplit(address)
            host, port = parts.hostname, parts.port
            httpx2.URL(address)
        except (ValueError, httpx2.InvalidURL) as error:
            raise _no_address() from error
        if parts.scheme not in {"http", "https"} or not host:
            raise _no_address()
        shown = f"[{host}]" if ":" in host else host
        netloc = shown if port is None else f"{shown}:{port}"
        url = urlunsplit(SplitResult(parts.scheme, netloc, parts.path or "/", parts.query, ""))
        return cls(url, _decoded(parts.username), _decoded(parts.password))

    @property
    def name(self) -> str:
        """The address as messages show it: its query, which may hold a key, is left out."""
        return self.url.partition("?")[0]

    @property
    def host(self) -> str:
        """The host name or address."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_local(self) -> bool:
        """Whether the endpoint is on this very machine, which no proxy can reach."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


class RequestBuilder(SPARQLWrapper):
    """Builds the request of a query: always a form that is posted.

    Virtuoso 7.2.5 never answers a query posted as `application/sparql-query`, and cuts addresses above 6 kB.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        default_graph: str | Sequence[str] | None,
        agent: str,
        parameters: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(endpoint, returnFormat=JSON, agent=agent)
        self.setMethod(POST)
        # The format is asked for by the Accept header alone: stores disagree about parameters for it.
        self.setOnlyConneg(True)
        for graph in (default_graph,) if isinstance(default_graph, str) else default_graph or ():
            self.addParameter("default-graph-uri", graph)
        for name, value in (parameters or {}).items():
            self.addParameter(name, value)

    def form(self, query: str, media_type: str) -> Form:
        """The request for one query, to be answered in a format.

        Raises:
            Unsupported: it is no SELECT and no ASK; this product only reads.
        """
        own = copy(self)  # forms are made in several threads at once
        # Not by setQuery: its own search for the kind takes seconds for a text with many blanks, and lets updates by.
        own.queryString, own.queryType = query, _kind_of(query)
        own.customHttpHeaders = {**self.customHttpHeaders, "Accept": media_type}
        request = own._createRequest()
        body = request.data
        if not isinstance(body, bytes):
            raise TypeError(f"a form of {type(body).__name__}")
        return Form(body, dict(request.header_items()))


def _kind_of(query: str) -> str:
    """SELECT or ASK."""
    match = _QUERY.match(query)
    if match is None:
        raise Unsupported("only SELECT and ASK are sent to an endpoint", next_step="Ask one of these.")
    return match[1].upper()


def _decoded(text: str | None) -> str | None:
    return None if text is None else unquote(text)


def _no_address() -> ConfigurationError:
    return ConfigurationError(
        "the endpoint's address is not an http or https URL",
        next_step="Write it as http://HOST:PORT/sparql, with USER:PASSWORD@ before the host where it needs them.",
    )
