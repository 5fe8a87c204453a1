"""Builds requests of the SPARQL 1.1 Protocol with SPARQLWrapper, and parses the URLs of graphs. Sends nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import httpx2
from SPARQLWrapper import JSON, POST, SPARQLWrapper

from kgnav_mcp.errors import ConfigurationError, Unsupported

GRAPH = "default-graph-uri"
"""The URL parameter that names a graph."""


@dataclass(frozen=True, slots=True)
class Location:
    """The parts of a graph's URL."""

    scheme: str
    place: str
    """User info, host and port."""
    host: str
    path: str
    query: str
    """The URL parameters that are passed on to the endpoint."""
    graphs: tuple[str, ...]
    """Named graphs."""
    fragment: str

    @classmethod
    def read(cls, location: str, example: str) -> Location:
        """Parse the URL of a graph. `example` is the URL that the error shows.

        Raises:
            ConfigurationError: it has no host. The error does not repeat it: it may contain a password.
        """
        parts = urlsplit(location)
        if not parts.hostname:
            raise ConfigurationError("the graph's address has no host", next_step=f"Write it as {example}.")
        given = parse_qsl(parts.query, keep_blank_values=True)
        return cls(
            scheme=parts.scheme.rpartition("+")[2],
            place=parts.netloc,
            host=parts.hostname,
            path=parts.path,
            query=urlencode([(name, value) for name, value in given if name != GRAPH]),
            graphs=tuple(value for name, value in given if name == GRAPH),
            fragment=parts.fragment,
        )

    def address(self, usual_path: str = "/sparql") -> str:
        """The address for queries; `usual_path` where the URL has no path. The path `/` is one."""
        return urlunsplit((self.scheme, self.place, self.path or usual_path, self.query, ""))


_QUERY = re.compile(
    r"""(?: \s++ | \#[^\n]*+ | PREFIX\s++[^\s:<]*+:\s*+<[^>]*+> | BASE\s*+<[^>]*+>
        | DEFINE\s++\S++\s++"[^"]*+" | (?!) )*+
        (SELECT|ASK)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Matches the form of a query after its prologue and Virtuoso's pragmas, in linear time (possessive quantifiers).

`(?!)` never matches: before Python 3.11.5 a possessive loop continues where its last alternative failed, not where that
began (python/cpython#100061).
"""

_NO_PARAMETERS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Form:
    """One POST request: the encoded form and the headers."""

    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an endpoint. Credentials are split off, and `repr` does not show them."""

    url: str
    """The address for requests, without user info."""
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, address: str) -> Address:
        """Parse an address `http(s)://[USER:PASSWORD@]HOST[:PORT]/PATH[?QUERY]`.

        Raises:
            ConfigurationError: it is not such an address. The error does not repeat it: it may contain a password.
        """
        try:
            parts = urlsplit(address)
            host, port = parts.hostname, parts.port
            httpx2.URL(address)
        except (ValueError, httpx2.InvalidURL) as error:
            raise _invalid_address() from error
        if parts.scheme not in {"http", "https"} or not host:
            raise _invalid_address()
        shown = f"[{host}]" if ":" in host else host
        netloc = shown if port is None else f"{shown}:{port}"
        url = urlunsplit(SplitResult(parts.scheme, netloc, parts.path or "/", parts.query, ""))
        return cls(url, _decoded(parts.username), _decoded(parts.password))

    @property
    def name(self) -> str:
        """The address for messages, without its query, which may contain a key."""
        return self.url.partition("?")[0]

    @property
    def host(self) -> str:
        """The host name or address."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_local(self) -> bool:
        """Whether the endpoint is on this machine, where no proxy is used."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


class RequestBuilder(SPARQLWrapper):
    """Builds the request for a query: always a posted form.

    Virtuoso 7.2.5 never answers a query posted as `application/sparql-query`, and truncates URLs above 6 kB.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        default_graph: str | Sequence[str] | None,
        agent: str,
    ) -> None:
        super().__init__(endpoint, returnFormat=JSON, agent=agent)
        self.setMethod(POST)
        # Only the Accept header names the format: stores disagree about parameters for it.
        self.setOnlyConneg(True)
        for graph in (default_graph,) if isinstance(default_graph, str) else default_graph or ():
            self.addParameter("default-graph-uri", graph)

    def form(self, query: str, media_type: str, parameters: Mapping[str, str] = _NO_PARAMETERS) -> Form:
        """Build the request for one query with more `parameters`, whose answer is wanted in `media_type`.

        Raises:
            Unsupported: the query is neither SELECT nor ASK; this product only reads.
        """
        builder = copy(self)  # several threads build forms at once
        # setQuery is avoided: its search for the kind takes seconds on a text with many blanks, and accepts updates.
        builder.queryString, builder.queryType = query, _kind_of(query)
        builder.parameters = {**self.parameters, **{name: [value] for name, value in parameters.items()}}
        builder.customHttpHeaders = {**self.customHttpHeaders, "Accept": media_type}
        request = builder._createRequest()
        body = request.data
        if not isinstance(body, bytes):
            raise TypeError(f"a form of {type(body).__name__}")
        return Form(body, dict(request.header_items()))

    def command(self, parameters: Mapping[str, str]) -> Form:
        """Build a request that is not a query, such as one that cancels a query."""
        headers = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": self.agent}
        return Form(urlencode(parameters).encode(), headers)


def _kind_of(query: str) -> str:
    """The form of a query, SELECT or ASK."""
    match = _QUERY.match(query)
    if match is None:
        raise Unsupported("only SELECT and ASK are sent to an endpoint", next_step="Send a SELECT or ASK query.")
    return match[1].upper()


def _decoded(text: str | None) -> str | None:
    return None if text is None else unquote(text)


def _invalid_address() -> ConfigurationError:
    return ConfigurationError(
        "the endpoint's address is not an http or https URL",
        next_step="Write it as http://HOST:PORT/sparql, with USER:PASSWORD@ before the host where it needs them.",
    )


_CONTACT = re.compile(r"\S+@\S+\.\S+|https?://\S+|User:\S+", re.IGNORECASE)
_WIKIMEDIA = ("wikidata.org", "wikimedia.org", "wikipedia.org", "wmcloud.org", "wikibase.cloud")


def is_wikimedia(host: str) -> bool:
    """Whether Wikimedia runs the host; its policy requires every client to name its operator."""
    return any(host.lower() == domain or host.lower().endswith(f".{domain}") for domain in _WIKIMEDIA)


def checked_contact(host: str, contact: str) -> str:
    """Check the contact to send to a host. Empty: none is sent.

    Raises:
        ConfigurationError: it is neither an address nor a page, or it is empty and the host is Wikimedia's.
    """
    if contact and _CONTACT.search(contact) is None:
        raise ConfigurationError(
            f"the contact {contact!r} is not an e-mail address or web address",
            next_step="Give an e-mail address, or the address of a web page about your use.",
        )
    if is_wikimedia(host) and not contact:
        raise ConfigurationError(
            f"no contact is set, which Wikimedia's User-Agent policy requires for {host}",
            next_step="Set KGNAV_CONTACT, --contact or contact in kgnav.toml to your e-mail address or web page.",
        )
    return contact
