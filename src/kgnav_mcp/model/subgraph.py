"""The part of a graph that a trail walked, as much of it as a picture shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kgnav_mcp.model.values import Node, Triple


class Role(StrEnum):
    """What a node is to a walk; the first that fits."""

    TOPIC = "topic"
    """The question is about it."""
    ANSWER = "proved answer"
    """It was given as an answer, and proved."""
    VISITED = "visited"
    """A call was about it."""
    SEEN = "seen"
    """An answer showed it."""


@dataclass(frozen=True, slots=True)
class SubgraphNode:
    """A node with its role; `more` of its neighbours were shown to the walk, but are left out here."""

    node: Node
    role: Role
    more: int = 0


@dataclass(frozen=True, slots=True)
class SubgraphEdge:
    """All triples from one node to another, which are given by their places among the nodes.

    `proof`: at least one of them leads from a topic to a proved answer.
    """

    head: int
    tail: int
    triples: tuple[Triple, ...]
    proof: bool = False


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What a walk has seen: topics, answers and visited nodes before others; `more_*` count what is left out."""

    question: str
    nodes: tuple[SubgraphNode, ...]
    edges: tuple[SubgraphEdge, ...]
    more_nodes: int = 0
    more_edges: int = 0
