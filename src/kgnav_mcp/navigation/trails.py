"""The nodes that a trail visited, and the path that connects them."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.model import Entity, Path, Trail
from kgnav_mcp.navigation.maze import mark_order
from kgnav_mcp.navigation.shown_graph import NodeKey, WalkedGraph

THINK_TOOL = "think"
"""The tool that records a thought on a trail."""


def visited(trail: Trail) -> Sequence[str]:
    """The entities that the calls of a trail were about, in the order of first visit."""
    return list(dict.fromkeys(one for step in trail.steps if not step.failed for one in step.visited))


def nodes_of_path(trail: Trail) -> Sequence[str]:
    """The nodes over which a path leads: the cells of a maze that were entered, if several, else what was visited."""
    entered = [*mark_order(trail)]
    return entered if len(entered) > 1 else visited(trail)


def last_thought(trail: Trail) -> str:
    """The thought that was recorded last; empty if there is none."""
    thoughts = (step.arguments.get("thought") for step in reversed(trail.steps) if step.tool == THINK_TOOL)
    return str(next(thoughts, ""))


def connected_path(trail: Trail) -> Path | None:
    """The shortest path from the first to the last of `nodes_of_path` over these nodes only; None if there is none.

    GraphWalk's get_connected_path, whose nodes are the cells visited so far. The edges are those that were shown.
    """
    nodes = nodes_of_path(trail)
    if len(nodes) < 2:
        return None
    walked = WalkedGraph.of(trail)
    visited_keys: frozenset[NodeKey] = frozenset(nodes)
    path = walked.shortest_path([nodes[0]], nodes[-1], through=visited_keys.__contains__)
    if path is None:
        return None
    path_nodes = [walked.nodes[key] for key in path.nodes]
    return Path(tuple(node for node in path_nodes if isinstance(node, Entity)), path.triples)
