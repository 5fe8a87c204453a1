"""Where a graph is: the URL of an adapter, such as `sparql+https://example.org/sparql?default-graph-uri=GRAPH`."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from kgnav_mcp.errors import ConfigurationError

GRAPH = "default-graph-uri"
"""The parameter of an address that names a graph."""


@dataclass(frozen=True, slots=True)
class Location:
    """An endpoint, with what stands behind its address."""

    scheme: str
    place: str
    """User info, host and port."""
    host: str
    path: str
    query: str
    """What the endpoint itself is told in its address."""
    graphs: tuple[str, ...]
    """Named graphs."""
    fragment: str

    @classmethod
    def read(cls, location: str, example: str) -> Location:
        """Read the URL of an adapter.

        Raises:
            ConfigurationError: it has no host; the error does not repeat it, for it may hold a password.
        """
        parts = urlsplit(location)
        if not parts.hostname:
            raise ConfigurationError("the graph's address names no host", next_step=f"Write it as {example}.")
        given = parse_qsl(parts.query, keep_blank_values=True)
        return cls(
            scheme=parts.scheme.rpartition("+")[2],
            place=parts.netloc,
            host=parts.hostname,
            path=parts.path if parts.path.strip("/") else "",
            query=urlencode([(name, value) for name, value in given if name != GRAPH]),
            graphs=tuple(value for name, value in given if name == GRAPH),
            fragment=parts.fragment,
        )

    def address(self, usual_path: str = "/sparql") -> str:
        """The address that queries go to; `usual_path` where none is named."""
        return urlunsplit((self.scheme, self.place, self.path or usual_path, self.query, ""))
