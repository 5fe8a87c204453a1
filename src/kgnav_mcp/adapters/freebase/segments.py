"""What a list of neighbours is made of: the rows of one path at one entity, counted before and read after."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdflib import URIRef

from kgnav_mcp.adapters.freebase.tallies import Path
from kgnav_mcp.adapters.sparql.paging import Place
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.model import Stop


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows of one path at one entity."""

    entity: int
    anchor: URIRef
    path: Path
    rows: int


@dataclass(frozen=True, slots=True)
class Found:
    """One row: its far end, the mediator it goes through, and the place of the row behind it."""

    far: Term
    next: Place
    via: URIRef | None = None


@dataclass(slots=True)
class Rows:
    """The rows read of a segment; `stop` says why there are no more."""

    found: list[Found] = field(default_factory=list[Found])
    stop: Stop = Stop.COMPLETE
