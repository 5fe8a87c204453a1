"""Shared by all pattern writers: the variables of an edge, and the error for what SPARQL cannot express."""

from __future__ import annotations

from dataclasses import dataclass

from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.plan import EdgePattern, Match
from kgnav_mcp.plan.walking import parts


@dataclass(frozen=True, slots=True)
class EdgeVariables:
    """The variables of one edge in a query."""

    source: Fragment
    target: Fragment
    number: int
    """Makes the names of the edge's other variables unique within the query."""
    either: bool = False
    """Whether the edge matches in both directions."""
    relations: tuple[str, ...] = ()
    """The relations that it may have; empty: any."""

    def own(self, letter: str) -> Fragment:
        """Another variable of the edge, such as its statement: `?s0`."""
        return Fragment(f"?{letter}{self.number}")

    @property
    def reversed(self) -> EdgeVariables:
        """The same edge in the other direction."""
        return EdgeVariables(self.target, self.source, self.number, self.either, self.relations)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge in SPARQL: one row for each edge of the graph that matches.

    The variables in `identity` together identify it.
    """

    text: Fragment
    relations: tuple[str, ...]
    identity: tuple[str, ...]


def relations_of(match: Match) -> dict[str, None]:
    """The relations of a pattern, and of those in its conditions."""
    inner = [part for part in parts(match, patterns=True) if isinstance(part, EdgePattern)]
    return {relation: None for edge in inner for relation in edge.relations}


def cannot_express(what: str) -> Unsupported:
    """The error for a part of a pattern that cannot be written in SPARQL for this store."""
    return Unsupported(f"a SPARQL query cannot express {what} here", next_step="Walk with search or get_triples.")
