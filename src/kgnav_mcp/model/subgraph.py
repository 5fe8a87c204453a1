"""The part of a graph that a trail has shown, as far as it fits a picture."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kgnav_mcp.model.values import Node, Triple


class Role(StrEnum):
    """The role of a node in a walk; the first that applies."""

    TOPIC = "topic"
    """The question is about it."""
    ANSWER = "connected answer"
    """It was given as an answer, and a path connects it with a topic."""
    VISITED = "visited"
    """A call was about it."""
    SEEN = "seen"
    """An answer showed it."""


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
