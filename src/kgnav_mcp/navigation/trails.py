"""The path over what a trail visited."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.model import Entity, Path, Trail
from kgnav_mcp.navigation.walked import NodeKey, WalkedGraph


def visited(trail: Trail) -> Sequence[str]:
    """The entities that calls of a trail were about, in the order in which each first was."""
    return list(dict.fromkeys(one for step in trail.steps if not step.failed for one in step.visited))


def connected_path(trail: Trail) -> Path | None:
    """The shortest way from the first to the last entity visited that passes visited ones only; None: there is none.

    GraphWalk's get_connected_path, whose nodes are the cells visited so far. The edges are those that were shown.
    """
    nodes = visited(trail)
    if len(nodes) < 2:
        return None
    walked = WalkedGraph.of(trail)
    passed: frozenset[NodeKey] = frozenset(nodes)
    way = walked.way([nodes[0]], nodes[-1], through=passed.__contains__)
    if way is None:
        return None
    known = [walked.nodes[key] for key in way.nodes]
    return Path(tuple(node for node in known if isinstance(node, Entity)), way.triples)
