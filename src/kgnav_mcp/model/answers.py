"""Results of the papers' algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from kgnav_mcp.model.facts import AnchoredPage, Count, Direction, Entity, Link, Page, RelationFacts, Stop, T, Triple


@dataclass(frozen=True, slots=True)
class RowsOrRelations:
    """The rows at entities; or, if these have too many, their relations and no rows."""

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
    """A node with its properties, or those that were chosen, as GraphWalk's primitives show it."""

    entity: Entity
    properties: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class EntitiesWithout:
    """The entities of a call that have no row of a relation. `relation` is as in the call; empty: any relation."""

    relation: str
    entities: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class AbsentRelation:
    """A relation or property that a call names and none of its entities has.

    `nearest` are the most similar relations that they do have, best first. `opposite`: they have it in the other
    direction.
    """

    name: str
    nearest: tuple[str, ...] = ()
    opposite: bool = False


@dataclass(frozen=True, slots=True)
class AtEntities(Generic[T]):
    """A page of rows or relations at one or several entities, and the entities without some of them.

    `absent` are the relations of the call that none of the entities has.
    """

    entities: tuple[Entity, ...]
    page: Page[T]
    entities_without: tuple[EntitiesWithout, ...] = ()
    absent: tuple[AbsentRelation, ...] = ()


@dataclass(frozen=True, slots=True)
class NodesByProperty:
    """A page of the nodes with a property value, each with its properties.

    `chosen` are the ids of the properties that are read; None: all of each node. `omitted` are others that the nodes
    have, if they are too many nodes to show all. `absent` are properties of the call that the graph does not have.
    """

    page: Page[NodeProperties]
    chosen: tuple[str, ...] | None = None
    omitted: tuple[str, ...] = ()
    absent: tuple[AbsentRelation, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The triples around one or several entities in one direction; if these are a hub, only their relations.

    Exactly one of `rows` and `relations` is set; `entities_without` and `absent` are as in AtEntities. Without rows,
    `opposite` is the number of rows in the other direction. `qualified` are triples that have a single entity without
    any rows as the value of a qualifier; None: not known.
    """

    entities: tuple[Entity, ...]
    direction: Direction
    rows: Page[Triple] | None = None
    relations: Page[RelationFacts] | None = None
    entities_without: tuple[EntitiesWithout, ...] = ()
    absent: tuple[AbsentRelation, ...] = ()
    opposite: Count | None = None
    qualified: tuple[Triple, ...] | None = None


@dataclass(frozen=True, slots=True)
class NearestNeighbours:
    """The nodes with a property value and all their links; at a hub, only their relations.

    Exactly one of `links` and `relations` is set. `neighbours` has the nodes at the far ends with their properties, by
    id.
    """

    anchors: Page[Entity]
    links: Page[Link] | None = None
    relations: Page[RelationFacts] | None = None
    neighbours: Mapping[str, NodeProperties] = field(default_factory=dict[str, NodeProperties])


@dataclass(frozen=True, slots=True)
class Path:
    """A path through the graph: its nodes, and the edges between them, each in its own direction."""

    nodes: tuple[Entity, ...]
    edges: tuple[Triple, ...] = ()


Cell = Entity | Triple | Path | str | int | float | bool | tuple["Cell", ...] | None
"""A value in a row of a plan's answer: a node, an edge, a path, a Python value, a list, or None.

Dates and values of other datatypes are text.
"""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of a plan's answer and, if they were asked for, the edges that prove it."""

    cells: tuple[Cell, ...]
    proof: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class PartSize:
    """A part of a plan, written in Cypher, and the number of nodes, edges or paths that match it."""

    part: str
    count: Count

    def __str__(self) -> str:
        return f"{self.part} {self.count}"


@dataclass(frozen=True, slots=True)
class PlanPage(Page[PlanRow]):
    """A page of a plan's answer.

    `sizes` are the numbers of matches of each part of a plan that was evaluated part by part, in the plan's order: for
    the part that it started with, matches in the whole graph; for others, those reached from earlier parts. They are
    empty if the store ran the plan as one query.
    """

    columns: tuple[str, ...] = ()
    sizes: tuple[PartSize, ...] = ()


@dataclass(frozen=True, slots=True)
class Completeness:
    """How complete an answer is: rows shown, rows in all, why it stops, and the cursor of the next page."""

    shown: int
    total: Count
    stop: Stop = Stop.COMPLETE
    cursor: str | None = None
