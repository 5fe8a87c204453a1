"""Trails: walks recorded step by step, the evidence in them, and the subgraph that a picture shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kgnav_mcp.model.facts import Entity, Node, Relation, Triple


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
