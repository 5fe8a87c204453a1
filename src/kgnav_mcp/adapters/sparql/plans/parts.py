"""The parts of a pattern in a query: the variables of its edges, and the error for what has no words."""

from __future__ import annotations

from dataclasses import dataclass

from kgnav_mcp.adapters.sparql.terms import Terms
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.plan import EdgePattern, Match
from kgnav_mcp.plan.walking import parts


@dataclass(frozen=True, slots=True)
class Ends:
    """The variables of one edge in a query."""

    source: Terms
    target: Terms
    number: int
    """Tells the further variables of the edge from those of others."""
    either: bool = False
    """Whether it may lead the other way as well."""

    def own(self, letter: str) -> Terms:
        """A further variable of the edge."""
        return Terms(f"?{letter}{self.number}")

    @property
    def reversed(self) -> Ends:
        """The same edge, led the other way."""
        return Ends(self.target, self.source, self.number, self.either)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as it is written: one row for each edge of the graph that fits. `same` are variables that tell it."""

    text: Terms
    relations: tuple[str, ...]
    same: tuple[str, ...]


def relations_of(match: Match) -> dict[str, None]:
    """The relations of a pattern, and of those in its conditions."""
    inner = [part for part in parts(match, patterns=True) if isinstance(part, EdgePattern)]
    return {relation: None for edge in inner for relation in edge.relations}


def no_words(what: str) -> Unsupported:
    """The error for a part of a pattern that has no form in SPARQL here."""
    return Unsupported(f"there are no words for {what} in SPARQL here", next_step="Walk with search or get_triples.")
