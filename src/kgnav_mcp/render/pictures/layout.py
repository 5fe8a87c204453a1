"""Places nodes in columns, topics first, by Sugiyama's method (fast-sugiyama)."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgnav_mcp.errors import MissingDriver

Edge = tuple[int, int]
"""The numbers of two nodes."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position: column, from 0 on the left, and row, which grows downwards."""

    column: int
    row: float


@dataclass(frozen=True, slots=True)
class Part:
    """A connected part: the places of its nodes, and the places on the route of each edge from left to right.

    Routes include both ends. A node without an edge is a part without routes.
    """

    nodes: Mapping[int, Place]
    routes: Mapping[Edge, Sequence[Place]]


def layered_layout(count: int, edges: Iterable[Edge], roots: Iterable[Sequence[int]]) -> Sequence[Part]:
    """The layout of `count` nodes. The end of an edge that is nearer to a root stands on the left.

    `roots` are groups of nodes. The first group stands on the left; a later one counts only in connected parts that no
    earlier group reaches.

    Raises:
        MissingDriver: the package that computes it is not installed.
    """
    try:
        from fast_sugiyama import Layouts, from_edges  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingDriver("pictures in SVG", "kgnav-mcp[pictures]") from error
    pairs = _directed(count, edges, roots)
    found = from_edges(pairs, vertex_spacing=1, dummy_vertices=True, ranking_type="up") if pairs else Layouts()
    parts = list[Part]()
    for positions, _, _, hops in sorted(found, key=lambda part: min(node for node, _ in part[0])):
        left = max(y for _, (_, y) in positions)
        places = {int(node): Place(round(left - y), x) for node, (x, y) in positions}
        nodes = {node: places[node] for node in sorted(places) if node < count}  # the package returns them in any order
        routes = _routes(count, [(int(start), int(end)) for start, end in hops or ()], places)
        parts.append(_with_ordered_leaves(Part(nodes, routes)))
    placed = {node for part in parts for node in part.nodes}
    return [*parts, *(Part({node: Place(0, 0)}, {}) for node in range(count) if node not in placed)]


def _with_ordered_leaves(part: Part) -> Part:
    """The part with the leaves of each node in the order of their numbers; the package has them in any order."""
    edges = Counter(node for edge in part.routes for node in edge)
    leaves = defaultdict[int, list[int]](list)
    for (left, right), route in part.routes.items():
        if edges[right] == 1 and len(route) == 2:
            leaves[left].append(right)
    moved: dict[int, Place] = {}
    for numbers in leaves.values():
        places = sorted((part.nodes[number] for number in numbers), key=lambda place: place.row)
        moved |= zip(sorted(numbers), places, strict=True)
    nodes = {number: moved.get(number, place) for number, place in part.nodes.items()}
    routes = {edge: [*route[:-1], moved.get(edge[1], route[-1])] for edge, route in part.routes.items()}
    return Part(nodes, routes)


def _directed(count: int, edges: Iterable[Edge], roots: Iterable[Sequence[int]]) -> list[Edge]:
    """Each joined pair of nodes once, directed away from the roots, so that there are no cycles."""
    neighbours = defaultdict[int, list[int]](list)
    for head, tail in edges:
        if head != tail:
            neighbours[head].append(tail)
            neighbours[tail].append(head)
    order: dict[int, int] = {}
    for group in (*roots, *([node] for node in range(count))):
        queue = deque(group)
        while queue:
            current = queue.popleft()
            if current not in order:
                order[current] = len(order)
                queue.extend(neighbours[current])
    return sorted({(node, other) for node in neighbours for other in neighbours[node] if order[node] < order[other]})


def _routes(count: int, hops: Iterable[Edge], places: Mapping[int, Place]) -> Mapping[Edge, Sequence[Place]]:
    """The routes of a part's edges. Node numbers from `count` on are bends, each with one hop in and one hop out."""
    onward: dict[int, int] = {}
    starts: list[Edge] = []
    for start, end in hops:
        if start < count:
            starts.append((start, end))
        else:
            onward[start] = end
    routes: dict[Edge, Sequence[Place]] = {}
    for start, end in sorted(starts):
        passed = [start, end]
        while passed[-1] >= count:
            passed.append(onward[passed[-1]])
        routes[start, passed[-1]] = [places[node] for node in passed]
    return routes
