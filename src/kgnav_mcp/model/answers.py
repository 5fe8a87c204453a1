"""Results of the papers' algorithms: answers, trails recorded step by step, evidence, and the subgraph of a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic

from kgnav_mcp.model.facts import (
    AnchoredPage,
    Count,
    Direction,
    Entity,
    Link,
    Node,
    Page,
    Relation,
    RelationFacts,
    Stop,
    T,
    Triple,
)


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
    direction. `is_partial`: the store did not list all their relations, so that they may have it under another name.
    """

    name: str
    nearest: tuple[str, ...] = ()
    opposite: bool = False
    is_partial: bool = False


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
    values: Mapping[tuple[str, str], tuple[Node, ...]] = field(default_factory=dict[tuple[str, str], tuple[Node, ...]])
    """Values that were read with the rows because `Plan.properties` asks for them, by node id and relation."""


@dataclass(frozen=True, slots=True)
class Completeness:
    """How complete an answer is: rows shown, rows in all, why it stops, and the cursor of the next page."""

    shown: int
    total: Count
    stop: Stop = Stop.COMPLETE
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class TrailStep:
    """One call: the tool, its arguments as JSON values, and the contents of its answer.

    `time` is in seconds since 1970, UTC. `summary` is the first line of the answer, or of the error. `visited` are the
    ids of the entities that the call was about; `entities` and `triples` are those in the rows that were shown, after
    the answer was cut to its budget. Each triple is recorded once per step.
    """

    tool: str
    arguments: Mapping[str, object]
    time: float
    summary: str = ""
    failed: bool = False
    visited: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    triples: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class Trail:
    """A question about a graph, the entities it is about, and the steps taken to answer it, in their order."""

    graph: str
    """The name under which the graph is served."""
    question: str
    topics: tuple[Entity, ...]
    time: float
    """When the trail was started, in seconds since 1970, UTC."""
    steps: tuple[TrailStep, ...] = field(default=())

    @property
    def size(self) -> int:
        """The number of its steps, with the entities and triples that they showed."""
        return sum(1 + len(step.entities) + len(step.triples) for step in self.steps)


@dataclass(frozen=True, slots=True)
class ReasoningStep:
    """One of ARK-V1's steps: cited triples of one relation of the anchor, and what is inferred from them."""

    anchor: Entity
    triples: tuple[Triple, ...]
    inference: str

    @property
    def relation(self) -> Relation:
        """The relation that was followed: that of the first triple."""
        return self.triples[0].relation


class Verdict(StrEnum):
    """How an answer is connected with the topics of a trail. It does not say whether that answers the question."""

    CONNECTED = "connected"
    """Triples that are in the store now connect a topic entity with it."""
    HUB_ONLY = "connected only through a hub"
    """As CONNECTED, but every path passes through a hub, which is connected with almost everything."""
    CHANGED = "changed since"
    """A path was shown, but one of its triples is no longer in the store."""
    UNCONNECTED = "seen but not connected"
    """It was shown, but no triples that were shown connect it with a topic."""
    UNGROUNDED = "never seen"
    """The trail never showed it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for one answer.

    `nodes` are the seen nodes that the answer may mean. `triples` connect a topic entity with it, if the verdict says
    so; `missing` are those that are no longer in the store, `hubs` the hubs among their inner nodes.
    """

    answer: str
    verdict: Verdict
    nodes: tuple[Node, ...] = ()
    triples: tuple[Triple, ...] = ()
    missing: tuple[Triple, ...] = ()
    hubs: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class MazeCell:
    """An open cell: its distance to the goal, and its place in the order of marks (1: first); None if unmarked."""

    entity: Entity
    distance: float | None
    mark: int | None


@dataclass(frozen=True, slots=True)
class NextCells:
    """The entered cell, the open cells next to it (nearest to the goal first), and the edges to them."""

    cell: MazeCell
    neighbours: tuple[MazeCell, ...]
    triples: tuple[Triple, ...]

    @property
    def at_goal(self) -> bool:
        """Whether the cell is the goal."""
        return self.cell.distance == 0


class Role(StrEnum):
    """The role of a node in a walk; the first that applies."""

    TOPIC = "topic"
    """An entity of the question."""
    ANSWER = "connected answer"
    """It was given as an answer, and a path connects it with a topic."""
    VISITED = "visited"
    """An argument of a call."""
    SEEN = "seen"
    """Shown by an answer."""


@dataclass(frozen=True, slots=True)
class SubgraphNode:
    """A node with its role. `more` is the number of its neighbours that the walk has seen but the picture omits."""

    node: Node
    role: Role
    more: int = 0


@dataclass(frozen=True, slots=True)
class SubgraphEdge:
    """All triples from one node to another. `head` and `tail` are indexes into the nodes of the subgraph.

    `proof`: at least one of the triples is part of the proof of an answer.
    """

    head: int
    tail: int
    triples: tuple[Triple, ...]
    proof: bool = False


@dataclass(frozen=True, slots=True)
class Subgraph:
    """The graph that a walk has seen: topics, answers and visited nodes before others; `more_*` count the omitted."""

    question: str
    nodes: tuple[SubgraphNode, ...]
    edges: tuple[SubgraphEdge, ...]
    more_nodes: int = 0
    more_edges: int = 0
