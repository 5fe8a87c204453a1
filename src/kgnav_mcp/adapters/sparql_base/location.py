"""Parses the URL of a graph, such as `sparql+https://example.org/sparql?default-graph-uri=GRAPH`."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from kgnav_mcp.errors import ConfigurationError

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
