"""What was read around an entity, before it is cut to what a page wants: far ends in their order, and mediators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.paging.positions import Place
from kgnav_mcp.adapters.paging.segments import Wanted
from kgnav_mcp.adapters.sparql.around.counts import Anchor
from kgnav_mcp.adapters.sparql.around.ends import End, Facts
from kgnav_mcp.adapters.sparql.reading import Row, iri_in
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.model import Entity, Stop


@dataclass(frozen=True, slots=True)
class Found:
    """One row: its far end, the mediator it goes through, and what is said of the triple."""

    far: End
    via: Entity | None = None
    facts: Facts = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Far ends of a relation that were read in their order, the first of them `begin` triples behind the beginning."""

    wanted: Wanted[Anchor, URIRef]
    ends: Sequence[End]
    begin: int = 0
    stop: Stop = Stop.COMPLETE

    @property
    def shown(self) -> Sequence[tuple[int, End]]:
        """The far ends that are wanted, with their places, and one more, which tells that there are more."""
        first = max(self.wanted.start.group - self.begin, 0)
        return list(enumerate(self.ends, self.begin))[first : first + self.wanted.most + 1]


@dataclass(frozen=True, slots=True)
class Behind:
    """Some of the nodes next to an entity: `found` are the mediators among them, each with the ends behind it.

    Their places are those of their nodes, of which there were `nodes`.
    """

    found: Sequence[tuple[int, Entity, Sequence[End]]] = ()
    nodes: int = 0
    stop: Stop = Stop.COMPLETE

    def rows_from(self, start: Place) -> list[tuple[Found, Place]]:
        """The rows behind these mediators that come after a place."""
        return [
            (Found(end, via=mediator), place)
            for n, mediator, ends in self.found
            for i, end in enumerate(ends, 1)
            if (place := Place(n, i)) > start
        ]


def behind_each(rows: Iterable[Row]) -> Mapping[URIRef, Sequence[Term]]:
    """The far ends of rows by their mediators `?m`."""
    ends: dict[URIRef, list[Term]] = defaultdict(list)
    for row in rows:
        ends[iri_in(row, "m")].append(row["o"])
    return ends
