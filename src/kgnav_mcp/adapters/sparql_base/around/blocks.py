"""Sorted blocks of far ends and of mediators around an entity, from which pages are cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.paging.positions import Place, Segment, SegmentPart
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor
from kgnav_mcp.adapters.sparql_base.around.far_ends import End, Facts
from kgnav_mcp.adapters.sparql_base.query_reader import Row, iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.model import Entity, Stop


@dataclass(frozen=True, slots=True)
class Found:
    """One row: its far end, the mediator it leads through, and the qualifiers of the triple."""

    far: End
    via: Entity | None = None
    facts: Facts = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Sorted far ends of a relation, starting at its triple number `begin`."""

    wanted: SegmentPart[Anchor, URIRef]
    ends: Sequence[End]
    begin: int = 0
    stop: Stop = Stop.COMPLETE

    @property
    def shown(self) -> Sequence[tuple[int, End]]:
        """The far ends for the page with their places, and one more, which shows that there are more."""
        first = max(self.wanted.start.group - self.begin, 0)
        return list(enumerate(self.ends, self.begin))[first : first + self.wanted.limit + 1]


@dataclass(frozen=True, slots=True)
class FollowedNodes:
    """A part of the nodes next to an entity: `found` are the mediators among them, with the far ends behind each.

    `nodes` is the number of nodes read. A mediator's place is its place among these nodes.
    """

    found: Sequence[tuple[int, Entity, Sequence[End]]] = ()
    nodes: int = 0
    stop: Stop = Stop.COMPLETE

    def rows_from(self, start: Place) -> list[tuple[Found, Place]]:
        """The rows behind these mediators after a place."""
        return [
            (Found(end, via=mediator), place)
            for n, mediator, ends in self.found
            for i, end in enumerate(ends, 1)
            if (place := Place(n, i)) > start
        ]


def by_mediator(rows: Iterable[Row]) -> Mapping[URIRef, Sequence[Term]]:
    """Group the far ends of rows by their mediators `?m`."""
    ends: dict[URIRef, list[Term]] = defaultdict(list)
    for row in rows:
        ends[iri_in(row, "m")].append(row["o"])
    return ends


def names_needed(
    rows: Iterable[tuple[Segment[Anchor, URIRef], Found]],
) -> tuple[Collection[Anchor], Sequence[Term], Collection[URIRef]]:
    """The anchors of rows, the terms whose names are needed, and the relations."""
    anchors: dict[Anchor, None] = {}
    relations: dict[URIRef, None] = {}
    terms: list[Term] = []
    for segment, row in rows:
        anchors[segment.entity] = None
        relations |= dict.fromkeys(segment.path)
        if not isinstance(row.far, Entity):
            terms.append(row.far)
        for relation, value in row.facts:
            relations[relation] = None
            terms.append(value)
    return anchors, [*(anchor for anchor in anchors if isinstance(anchor, URIRef)), *terms], relations
