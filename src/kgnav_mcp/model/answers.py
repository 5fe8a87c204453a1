"""What the papers' algorithms answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgnav_mcp.model.facts import RelationFacts
from kgnav_mcp.model.pages import Count, Page, Stop
from kgnav_mcp.model.values import Direction, Entity, Link, Triple


@dataclass(frozen=True, slots=True)
class NodeProperties:
    """A node with the values of all its own properties (the GraphWalk primitives' view of a node)."""

    entity: Entity
    properties: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The triples around one entity in one direction, or, where it is a hub, only its relations.

    Exactly one of `rows` and `relations` is set. An entity without rows may have some in the other direction
    (`opposite`); without any, it may be the value of a qualifier, of these triples (`qualified`; None: not known).
    """

    entity: Entity
    direction: Direction
    rows: Page[Triple] | None = None
    relations: Page[RelationFacts] | None = None
    opposite: Count | None = None
    qualified: tuple[Triple, ...] | None = None


@dataclass(frozen=True, slots=True)
class NearestNeighbours:
    """The nodes a property value picked out and every link of theirs, or, at a hub, only their relations.

    Exactly one of `links` and `relations` is set. `properties` are the neighbours' own, by their ids.
    """

    anchors: Page[Entity]
    links: Page[Link] | None = None
    relations: Page[RelationFacts] | None = None
    properties: Mapping[str, tuple[Triple, ...]] = field(default_factory=dict[str, tuple["Triple", ...]])


@dataclass(frozen=True, slots=True)
class Completeness:
    """What an answer says of itself: rows shown, rows in all, why it stops, and the cursor that goes on."""

    shown: int
    total: Count
    stop: Stop = Stop.COMPLETE
    cursor: str | None = None
