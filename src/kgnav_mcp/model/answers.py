"""What the papers' algorithms answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from kgnav_mcp.model.facts import RelationFacts
from kgnav_mcp.model.pages import AnchoredPage, Count, Page, Stop, T
from kgnav_mcp.model.values import Direction, Entity, Link, Triple


@dataclass(frozen=True, slots=True)
class RowsOrRelations:
    """The rows at entities; or none of them, but their relations, where these are a hub."""

    rows: AnchoredPage[Link]
    relations: AnchoredPage[RelationFacts] | None = None

    @property
    def items(self) -> Sequence[object]:
        return self.rows.items if self.relations is None else self.relations.items

    @property
    def anchors(self) -> Mapping[str, Entity]:
        return self.rows.anchors if self.relations is None else self.relations.anchors


@dataclass(frozen=True, slots=True)
class NodeProperties:
    """A node with the values of all its own properties (the GraphWalk primitives' view of a node)."""

    entity: Entity
    properties: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Lacking:
    """Those of several entities that have no row of a relation, by the name it was asked for by; empty: of any."""

    relation: str
    entities: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class AtEntities(Generic[T]):
    """A list of what is at one entity, or at several, of which some may lack a part of it."""

    entities: tuple[Entity, ...]
    page: Page[T]
    lacking: tuple[Lacking, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The triples around one or several entities in one direction, or, where these are a hub, only their relations.

    Exactly one of `rows` and `relations` is set; `lacking` as in AtEntities. Where there are no rows there may be some
    in the other direction (`opposite`). A single entity without any may be the value of a qualifier, of these triples
    (`qualified`; None: not known).
    """

    entities: tuple[Entity, ...]
    direction: Direction
    rows: Page[Triple] | None = None
    relations: Page[RelationFacts] | None = None
    lacking: tuple[Lacking, ...] = ()
    opposite: Count | None = None
    qualified: tuple[Triple, ...] | None = None


@dataclass(frozen=True, slots=True)
class NearestNeighbours:
    """The nodes a property value picked out and every link of theirs, or, at a hub, only their relations.

    Exactly one of `links` and `relations` is set. `neighbours` are described, with properties, by their ids.
    """

    anchors: Page[Entity]
    links: Page[Link] | None = None
    relations: Page[RelationFacts] | None = None
    neighbours: Mapping[str, NodeProperties] = field(default_factory=dict[str, NodeProperties])


@dataclass(frozen=True, slots=True)
class Path:
    """A way through the graph: its nodes, and the edges between them, each as the graph has it."""

    nodes: tuple[Entity, ...]
    edges: tuple[Triple, ...] = ()


Cell = Entity | Triple | Path | str | int | float | bool | tuple["Cell", ...] | None
"""A value in a row of a plan's answer: a node, an edge, a path, a value as Python has it, a list, or nothing.

Dates and values of other datatypes are their text.
"""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of a plan's answer, and, where they were asked for, the edges that it rests on."""

    cells: tuple[Cell, ...]
    proof: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class PartSize:
    """A part of a plan, as it is written in Cypher, and how many nodes, edges or paths fit it."""

    part: str
    count: Count

    def __str__(self) -> str:
        return f"{self.part} {self.count}"


@dataclass(frozen=True, slots=True)
class PlanPage(Page[PlanRow]):
    """A page of a plan's answer.

    `sizes` say what fitted each part of a plan that was evaluated part by part, in its order: of a part that it began
    with, all of the graph; of one that was come by from another, all from there. No store says them of a whole query.
    """

    columns: tuple[str, ...] = ()
    sizes: tuple[PartSize, ...] = ()


@dataclass(frozen=True, slots=True)
class Completeness:
    """What an answer says of itself: rows shown, rows in all, why it stops, and the cursor that goes on."""

    shown: int
    total: Count
    stop: Stop = Stop.COMPLETE
    cursor: str | None = None
