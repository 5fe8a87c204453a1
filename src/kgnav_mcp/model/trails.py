"""A walk as it was made: the question, and step by step what was asked and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgnav_mcp.model.values import Entity, Triple


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
