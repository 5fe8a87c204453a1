"""Trails: walks as they were made, step by step, and what can be told from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kgnav_mcp.model.values import Entity, Node, Relation, Triple


@dataclass(frozen=True, slots=True)
class TrailStep:
    """One call: the tool with its arguments, which JSON can say, and what its answer showed.

    `time` is in seconds since 1970, UTC. `summary` is the first line of the answer, or of the error. `visited` are the
    ids of the entities that the call was about; `entities` and `triples` were in the rows that were shown, after the
    answer was cut to its budget. A triple is recorded once a step.
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
    """A question on a graph, the entities that it is about, and the steps taken to answer it, in their order."""

    graph: str
    """The name under which the graph is served."""
    question: str
    topics: tuple[Entity, ...]
    time: float
    """When it was started, in seconds since 1970, UTC."""
    steps: tuple[TrailStep, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ReasoningStep:
    """One of ARK-V1's steps: the triples of a relation of the anchor that are kept, and what is inferred from them."""

    anchor: Entity
    triples: tuple[Triple, ...]
    inference: str

    @property
    def relation(self) -> Relation:
        """The relation that was followed: that of the first triple."""
        return self.triples[0].relation


class Verdict(StrEnum):
    """What a trail proves of an answer."""

    PROVED = "proved"
    """Triples that are in the store now lead from a topic entity to it."""
    HUB_ONLY = "connected only through a hub"
    """They do, but each way passes a hub, which is tied to nearly anything."""
    CHANGED = "changed since"
    """A way was shown, but a triple of it is not in the store any more."""
    UNCONNECTED = "seen but not connected"
    """It was shown; no triples that were shown lead to it."""
    UNGROUNDED = "never seen"
    """Nothing that this trail showed has it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one answer.

    `nodes` are what it may mean of all that was seen. `triples` lead from a topic entity to it, as far as the verdict
    has some; `missing` are those of them that the store has no more, `hubs` the hubs among the nodes they pass.
    """

    answer: str
    verdict: Verdict
    nodes: tuple[Node, ...] = ()
    triples: tuple[Triple, ...] = ()
    missing: tuple[Triple, ...] = ()
    hubs: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class MazeCell:
    """An open cell next to another: how far it is from the goal, and when it was marked (1: first), if it was."""

    entity: Entity
    distance: float | None
    mark: int | None


@dataclass(frozen=True, slots=True)
class NextCells:
    """The cell that was entered, its own mark, the open cells next to it, nearest to the goal first, and all edges."""

    cell: MazeCell
    neighbours: tuple[MazeCell, ...]
    triples: tuple[Triple, ...]

    @property
    def at_goal(self) -> bool:
        """Whether the cell is the goal."""
        return self.cell.distance == 0
