"""The part of a trail that a picture shows: the walk first, then other shown nodes, as many as are readable."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

from kgnav_mcp.model import Literal, Role, Subgraph, SubgraphEdge, SubgraphNode, Trail, TrailStep, Triple
from kgnav_mcp.navigation.evidence import CHECK_TOOL
from kgnav_mcp.navigation.shown_graph import NodeKey, WalkedGraph, node_key, visited

MAX_NODES = 60
MAX_EDGES = 120
"""More would be unreadable; Mermaid draws 500 edges at most."""
MAX_ROWS = 5
"""Maximum further neighbours drawn for a node. The others are one node with a count."""

_Ends = tuple[NodeKey, NodeKey]


def walked_subgraph(
    trail: Trail, most_nodes: int = MAX_NODES, most_edges: int = MAX_EDGES, most_rows: int = MAX_ROWS
) -> Subgraph:
    """The nodes and edges that a trail has shown, at most this many, and at most `most_rows` further neighbours a node.

    Priority: topics, connected answers, visited nodes and the paths to answers; then nodes that connect several of
    these; then their other neighbours, taken from each in turn; then the rest. A node without an edge is left out
    unless the walk was about it.
    """
    walked = WalkedGraph.of(trail)
    checks = [step for step in trail.steps if step.tool == CHECK_TOOL and not step.failed]
    edges = defaultdict[_Ends, list[Triple]](list)
    for triple in walked.triples:
        edges[_ends(triple)].append(triple)
    proof = {_ends(triple) for step in checks for triple in step.triples}
    roles = _roles(trail, checks, walked)
    neighbours = _neighbours(edges)
    wanted = [*roles, *(end for ends in proof for end in ends), *_by_priority(walked, neighbours, roles, most_rows)]
    chosen = set(list(dict.fromkeys(wanted))[:most_nodes])
    places = {key: place for place, key in enumerate(key for key in walked.nodes if key in chosen)}
    inside = [ends for ends in edges if ends[0] in places and ends[1] in places]
    inside.sort(key=lambda ends: ends not in proof)  # stable: otherwise edges stay in the order shown
    return Subgraph(
        trail.question,
        tuple(
            SubgraphNode(walked.nodes[key], roles.get(key, Role.SEEN), len(neighbours[key] - places.keys()))
            for key in places
        ),
        tuple(
            SubgraphEdge(places[ends[0]], places[ends[1]], tuple(edges[ends]), ends in proof)
            for ends in inside[:most_edges]
        ),
        len(walked.nodes) - len(places),
        len(edges) - len(inside[:most_edges]),
    )


def _ends(triple: Triple) -> _Ends:
    return node_key(triple.head), node_key(triple.tail)


def _roles(trail: Trail, checks: Iterable[TrailStep], walked: WalkedGraph) -> Mapping[NodeKey, Role]:
    """The roles of all nodes that the walk was about: topics, answers, visited nodes."""
    answers = (answer for step in checks for answer in _connected_answers(step))
    groups = ((Role.TOPIC, (one.id for one in trail.topics)), (Role.ANSWER, answers), (Role.VISITED, visited(trail)))
    roles: dict[NodeKey, Role] = {}
    for role, keys in groups:
        for key in keys:
            if key in walked.nodes:
                roles.setdefault(key, role)
    return roles


def _connected_answers(step: TrailStep) -> Iterable[NodeKey]:
    """The connected answers of a check: the entities that it showed, and the literals that it was asked about."""
    yield from (entity.id for entity in step.entities)
    asked_values = {text.strip().casefold() for text in cast("Sequence[str]", step.arguments.get("answers", ()))}
    for triple in step.triples:
        if isinstance(triple.tail, Literal) and triple.tail.text.casefold() in asked_values:
            yield node_key(triple.tail)


def _neighbours(edges: Iterable[_Ends]) -> Mapping[NodeKey, Collection[NodeKey]]:
    found = defaultdict[NodeKey, set[NodeKey]](set)
    for head, tail in edges:
        found[head].add(tail)
        found[tail].add(head)
    return found


def _by_priority(
    walked: WalkedGraph,
    neighbours: Mapping[NodeKey, Collection[NodeKey]],
    walk: Collection[NodeKey],
    most_rows: int,
) -> Sequence[NodeKey]:
    """The nodes with an edge: first those that connect nodes of the walk, then neighbours of each of these in turn.

    A node of the walk has at most `most_rows` of these, and one more if it is the last; nodes that connect several
    count for each, and are there as long as one of them has fewer.
    """
    keys = sorted(neighbours, key=lambda key: isinstance(walked.nodes[key], Literal))
    hubs = {key: [one for one in neighbours[key] if one in walk] for key in keys if key not in walk}
    rows = Counter(hub for each in hubs.values() for hub in each)
    most = {hub: most_rows + 1 if count == most_rows + 1 else most_rows for hub, count in rows.items()}
    turns = Counter[NodeKey]()
    order: dict[NodeKey, int] = {}
    for key in sorted(hubs, key=lambda key: len(hubs[key]) < 2):
        if not hubs[key]:
            order[key] = len(walked.nodes)
        elif any(turns[hub] < most[hub] for hub in hubs[key]):
            turns.update(hubs[key])
            order[key] = 0 if len(hubs[key]) > 1 else turns[hubs[key][0]]
    return sorted(order, key=order.__getitem__)
