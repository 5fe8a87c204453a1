"""Places nodes in columns, topics first, by Sugiyama's method (fast-sugiyama)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgnav_mcp.errors import MissingDriver

_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """A position: column, from 0 on the left, and row, from 0 at the top."""

    column: int
    row: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of each node, and the places on the route of each edge from left to right, ends included."""

    nodes: Sequence[Place]
    routes: Mapping[_Pair, Sequence[Place]]

    @property
    def rows(self) -> float:
        """Number of rows."""
        return max((place.row for route in (self.nodes, *self.routes.values()) for place in route), default=0) + 1


def layered_layout(count: int, edges: Iterable[_Pair], roots: Iterable[Sequence[int]]) -> Layout:
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
    places: dict[int, Place] = {}
    routes: dict[_Pair, Sequence[Place]] = {}
    below = 0.0
    found = from_edges(pairs, vertex_spacing=1, dummy_vertices=True, ranking_type="up") if pairs else Layouts()
    for positions, _, _, hops in sorted(found, key=lambda part: min(node for node, _ in part[0])):
        left = max(y for _, (_, y) in positions)
        top = min(x for _, (x, _) in positions)
        for node, (x, y) in positions:
            places[int(node)] = Place(round(left - y), below + x - top)
        below = max(places[int(node)].row for node, _ in positions) + 1
        routes |= _routes(count, [(int(start), int(end)) for start, end in hops or ()], places)
    for node in range(count):
        if node not in places:
            places[node] = Place(0, below)
            below += 1
    return Layout([places[node] for node in range(count)], routes)


def _directed(count: int, edges: Iterable[_Pair], roots: Iterable[Sequence[int]]) -> list[_Pair]:
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


def _routes(count: int, hops: Iterable[_Pair], places: Mapping[int, Place]) -> Mapping[_Pair, Sequence[Place]]:
    """The routes of a part's edges. Node numbers from `count` on are bends, each with one hop in and one hop out."""
    onward: dict[int, int] = {}
    starts: list[_Pair] = []
    for start, end in hops:
        if start < count:
            starts.append((start, end))
        else:
            onward[start] = end
    routes: dict[_Pair, Sequence[Place]] = {}
    for start, end in starts:
        passed = [start, end]
        while passed[-1] >= count:
            passed.append(onward[passed[-1]])
        routes[start, passed[-1]] = [places[node] for node in passed]
    return routes
