"""Far ends, the terms at the other end of a triple, and sorted blocks of them, from which pages are cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.paging.rows import Place, Segment, SegmentPart
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor
from kgnav_mcp.adapters.sparql_base.query_reader import Row, iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.model import Entity, Stop

Facts = tuple[tuple[URIRef, Term], ...]
"""The qualifiers of one statement about a triple, as (relation, value)."""
End = Term | Entity
"""A far end: an entity if it has no IRI, otherwise a term, whose name is read later for the whole page."""
Pair = tuple[Anchor, URIRef]
"""An entity and one of its relations."""
Ends = Mapping[Pair, Sequence[Term]]
"""The far ends for each entity and relation."""


def grouped(read: Iterable[Row], entity: URIRef | None = None) -> Ends:
    """Group the distinct far ends of rows by entity and relation. `entity` is the entity of rows that lack ?s."""
    found: dict[Pair, dict[Term, None]] = defaultdict(dict)
    for row in read:
        if "p" in row:
            found[entity if entity is not None else iri_in(row, "s"), iri_in(row, "p")][row["o"]] = None
    return {pair: list(ends) for pair, ends in found.items()}


def in_order(terms: Iterable[Term]) -> Sequence[Term]:
    """Sort the distinct far ends. Blank nodes are omitted."""
    return sorted({term for term in terms if not isinstance(term, BNode)}, key=term_order)


def term_order(term: Term) -> tuple[bool, str, str, str]:
    """Sort key: values by their text, then entities by their IRIs, then blank nodes."""
    if isinstance(term, Literal):
        return False, str(term), term.language or "", str(term.datatype or "")
    return True, "" if isinstance(term, URIRef) else "_", str(term), ""


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
        """The far ends for the page, each with its position, and one more, which shows that there are more."""
        first = max(self.wanted.start.group - self.begin, 0)
        return list(enumerate(self.ends, self.begin))[first : first + self.wanted.limit + 1]


@dataclass(frozen=True, slots=True)
class FollowedNodes:
    """Some of the nodes next to an entity: `found` are the mediators among them, with the far ends behind each.

    `nodes` is the number of nodes read. The position of a mediator counts all these nodes.
    """

    found: Sequence[tuple[int, Entity, Sequence[End]]] = ()
    nodes: int = 0
    stop: Stop = Stop.COMPLETE

    def rows_from(self, start: Place) -> list[tuple[Found, Place]]:
        """The rows behind these mediators after a position."""
        return [
            (Found(end, via=mediator), place)
            for n, mediator, ends in self.found
            for i, end in enumerate(ends, 1)
            if (place := Place(n, i)) > start
        ]


def by_mediator(rows: Iterable[Row]) -> Mapping[URIRef, Sequence[Term]]:
    """Group the far ends of rows by their mediator `?m`."""
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
