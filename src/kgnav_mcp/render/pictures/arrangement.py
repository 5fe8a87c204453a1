"""Lays out nodes in columns, and computes positions in pixels without overlaps and within the maximum width."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgnav_mcp.errors import MissingDriver

Point = tuple[float, float]

HEIGHT = 24.0
"""Minimum height of a node, in pixels."""
_SLANT = 8.0
_BAR = 5.0


def outline(kind: str, left: float, middle: float, width: float, height: float = HEIGHT) -> str:
    """The outline of a node: a pill for topics, a hexagon for answers, double sides for visited nodes."""
    right, top, bottom = left + width, middle - height / 2, middle + height / 2
    match kind:
        case "topic":
            radius = HEIGHT / 2
            down, up = (
                f"a{radius:g} {radius:g} 0 0 1 {radius * sign:g} {radius * sign:g}v{(height - HEIGHT) * sign:g}"
                f"a{radius:g} {radius:g} 0 0 1 {-radius * sign:g} {radius * sign:g}"
                for sign in (1, -1)
            )
            return f"M{left + radius:.1f} {top:.1f}H{right - radius:.1f}{down}H{left + radius:.1f}{up}z"
        case "answer":
            return _polygon(
                (left, middle),
                (left + _SLANT, top),
                (right - _SLANT, top),
                (right, middle),
                (right - _SLANT, bottom),
                (left + _SLANT, bottom),
            )
        case "visited":
            bars = "".join(f"M{x:.1f} {top:.1f}V{bottom:.1f}" for x in (left + _BAR, right - _BAR))
            return _polygon((left, top), (right, top), (right, bottom), (left, bottom)) + bars
        case "value":
            return _polygon((left + _SLANT, top), (right, top), (right - _SLANT, bottom), (left, bottom))
        case _:
            return _polygon((left, top), (right, top), (right, bottom), (left, bottom))


def _polygon(*points: Point) -> str:
    return f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in points)}z"


def curve(points: Sequence[Point]) -> str:
    """A smooth line through these points, horizontal at each of them."""
    (x, y), *_ = points
    path = f"M{x:.1f} {y:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        half = (x0 + x1) / 2
        path += f"C{half:.1f} {y0:.1f} {half:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    return path


def loop(left: float, top: float) -> str:
    """An edge from a node to itself, drawn above the node."""
    return f"M{left + 14:.1f} {top:.1f}c0 -12 22 -12 22 0"


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
    layouts = from_edges(pairs, vertex_spacing=1, dummy_vertices=True, ranking_type="up") if pairs else Layouts()
    parts = list[Part]()
    for positions, _, _, hops in sorted(layouts, key=lambda part: min(node for node, _ in part[0])):
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


MARGIN = 16.0
MAX_WIDTH = 1_600.0
"""Maximum width of a picture in pixels, margins included."""
_ROW = 36.0
_SPACE = 12.0
"""Minimum vertical space between nodes, in pixels."""
_PORT, _NARROW_PORT = 16.0, 8.0
"""Height of an edge where it ends, with a label and without."""
_LOOP = 22.0
"""Height of an edge from a node to itself."""
LOOP_LABEL = 42.0
"""Distance of its label from the left side of the node."""
_FAN, _ARROW = 44.0, 16.0
"""Space between columns besides labels: for edges to fan out, and for arrows."""
_BAND_SPACE = 30.0


@dataclass(frozen=True, slots=True)
class ArrangedEdge:
    """An edge by its left and right node, with the width of its label (0: no label) and what it stands for."""

    left: int
    right: int
    label: float
    index: int


@dataclass(frozen=True, slots=True)
class Box:
    """A drawn node. `copy`: it is drawn in full in a band above."""

    node: int
    left: float
    middle: float
    width: float
    height: float = HEIGHT
    copy: bool = False

    @property
    def right(self) -> float:
        """Its right side."""
        return self.left + self.width

    @property
    def top(self) -> float:
        """Its upper side."""
        return self.middle - self.height / 2


@dataclass(frozen=True, slots=True)
class Line:
    """A drawn edge: its nodes, the points from the left to the right one, and the middle of its label."""

    index: int
    left: int
    right: int
    points: Sequence[Point]
    label: Point


@dataclass(frozen=True, slots=True)
class Arrangement:
    """All boxes and lines, and the height they take."""

    boxes: Sequence[Box]
    lines: Sequence[Line]
    bottom: float


def arrange(
    parts: Sequence[Part],
    links: Sequence[ArrangedEdge],
    widths: Sequence[float],
    loops: Mapping[int, float],
    top: float,
) -> Arrangement:
    """The positions of nodes of these widths, from `top` downwards. `loops` are the widths of the labels of loops."""
    boxes, lines = list[Box](), list[Line]()
    sizes = _Sizes(widths, loops)
    single = [node for part in parts if not part.routes for node in part.nodes]
    links_of = defaultdict[Edge, list[ArrangedEdge]](list)
    for link in links:
        links_of[link.left, link.right].append(link)
    for part in parts:
        if part.routes:
            for start, end in _bands(part, links_of, sizes):
                band = _Band(part, links_of, sizes, start, end)
                boxes += band.boxes(top)
                lines += band.lines(top)
                top += band.height + _BAND_SPACE
    boxes += _in_rows(single, sizes, top)
    return Arrangement(boxes, lines, max((box.middle + box.height / 2 for box in boxes), default=top))


@dataclass(frozen=True, slots=True)
class _Sizes:
    widths: Sequence[float]
    loops: Mapping[int, float]

    def width(self, node: int) -> float:
        """The width of a node with the label of its loop."""
        return max(self.widths[node], LOOP_LABEL + self.loops[node] if node in self.loops else 0.0)


def _in_rows(nodes: Sequence[int], sizes: _Sizes, top: float) -> Sequence[Box]:
    """Nodes without edges, beside each other."""
    boxes = list[Box]()
    loop = _LOOP if any(node in sizes.loops for node in nodes) else 0.0
    x, y = MARGIN, top + loop + HEIGHT / 2
    for node in nodes:
        width = sizes.width(node)
        if x > MARGIN and x + width > MAX_WIDTH - MARGIN:
            x, y = MARGIN, y + _ROW + loop
        boxes.append(Box(node, x, y, sizes.widths[node]))
        x += width + _SPACE
    return boxes


_ArrangedEdges = Mapping[Edge, Sequence[ArrangedEdge]]


def _bands(part: Part, links: _ArrangedEdges, sizes: _Sizes) -> Iterable[tuple[int, int]]:
    """The first and last columns of the bands of a part."""
    last = max(place.column for place in part.nodes.values())
    start = 0
    while start <= last:
        end = start
        while end < last and _Columns(part, links, sizes, start, end + 1).right <= MAX_WIDTH - MARGIN:
            end += 1
        yield start, end
        start = end + 1


class _Columns:
    """The left and right side of each column of a band. The column before its first one holds copies."""

    def __init__(self, part: Part, links: _ArrangedEdges, sizes: _Sizes, start: int, end: int) -> None:
        column = {node: place.column for node, place in part.nodes.items()}
        self.edges = [edge for edge in part.routes if start <= column[edge[1]] <= end]
        self.copies = {left for left, _ in self.edges if column[left] < start}
        widths, gaps = defaultdict[int, float](float), defaultdict[int, float](lambda: _FAN)
        for node, place in part.nodes.items():
            if start <= place.column <= end:
                widths[place.column] = max(widths[place.column], sizes.width(node))
        for node in self.copies:
            widths[start - 1] = max(widths[start - 1], sizes.widths[node])
        for edge in self.edges:
            for link in links[edge]:
                gap = _FAN + _ARROW + (link.label + 2 * _ARROW if link.label else 0.0)
                gaps[column[edge[1]]] = max(gaps[column[edge[1]]], gap)
        self.sides: dict[int, tuple[float, float]] = {}
        x = MARGIN
        for number in range(start - 1 if self.copies else start, end + 1):
            x += gaps[number] if self.sides else 0.0
            self.sides[number] = x, x + widths[number]
            x += widths[number]
        self.right = x


class _Band:
    """Some columns of a part."""

    def __init__(self, part: Part, links: _ArrangedEdges, sizes: _Sizes, start: int, end: int) -> None:
        self._part, self._sizes, self._start = part, sizes, start
        columns = _Columns(part, links, sizes, start, end)
        self._sides, self._copies = columns.sides, columns.copies
        self._nodes = {node: place for node, place in part.nodes.items() if start <= place.column <= end}
        self._links = [link for edge in columns.edges for link in links[edge]]
        self._ports = self._ports_of()
        self._port = _PORT if any(link.label for link in self._links) else _NARROW_PORT
        items = [(self._column(node), part.nodes[node].row, self._room(node), node) for node in self._all_nodes()]
        bends = [(edge, place) for edge in columns.edges for place in self._bends(edge)]
        items += [(place.column, place.row, _PORT, (edge, place.column)) for edge, place in bends]
        self._middles, self.height = _without_overlap(items)

    def _all_nodes(self) -> Sequence[int]:
        return [*sorted(self._copies), *self._nodes]

    def _column(self, node: int) -> int:
        return self._start - 1 if node in self._copies else self._nodes[node].column

    def _bends(self, edge: Edge) -> Sequence[Place]:
        return [place for place in self._part.routes[edge][1:-1] if place.column >= self._start]

    def _ports_of(self) -> Mapping[int, Sequence[ArrangedEdge]]:
        """The edges that end at the left side of each node, from top to bottom."""
        ports = defaultdict[int, list[ArrangedEdge]](list)
        for link in sorted(self._links, key=lambda link: self._part.routes[link.left, link.right][-2].row):
            ports[link.right].append(link)
        return ports

    def _height(self, node: int) -> float:
        return HEIGHT if node in self._copies else max(HEIGHT, len(self._ports.get(node, ())) * self._port)

    def _loop(self, node: int) -> float:
        return _LOOP if node in self._sizes.loops and node not in self._copies else 0.0

    def _room(self, node: int) -> float:
        return self._height(node) + self._loop(node) + _SPACE

    def boxes(self, top: float) -> Iterable[Box]:
        """Its nodes, copies first."""
        for node in self._all_nodes():
            left, _ = self._sides[self._column(node)]
            middle = top + self._middles[node] + self._loop(node) / 2
            copy = node in self._copies
            yield Box(node, left, middle, self._sizes.widths[node], self._height(node), copy)

    def lines(self, top: float) -> Iterable[Line]:
        """Its edges."""
        boxes = {box.node: box for box in self.boxes(top)}
        for node, links in self._ports.items():
            end = boxes[node]
            for number, link in enumerate(links):
                y = end.middle + (number - (len(links) - 1) / 2) * self._port
                start = boxes[link.left]
                points: list[Point] = [(start.right, start.middle)]
                if (edge_of_column := self._sides[self._column(link.left)][1]) > start.right:
                    points.append((edge_of_column, start.middle))
                for place in self._bends((link.left, link.right)):
                    bend = top + self._middles[(link.left, link.right), place.column]
                    points += [(side, bend) for side in self._sides[place.column]]
                if link.label:
                    points.append((end.left - link.label - 2 * _ARROW, y))
                points.append((end.left, y))
                yield Line(link.index, link.left, link.right, points, (end.left - _ARROW - link.label / 2 - 2, y))


_Key = int | tuple[Edge, int]


def _without_overlap(items: Sequence[tuple[int, float, float, _Key]]) -> tuple[Mapping[_Key, float], float]:
    """The vertical middle of each item, from 0 down, and the height of all. Items are (column, row, height, key).

    Items stand at their rows, between which larger gaps are closed, or below the item above them in the column.
    """
    rows = sorted({row for _, row, _, _ in items})
    at = {rows[0]: 0.0}
    for above, row in pairwise(rows):
        at[row] = at[above] + min(row - above, 1.0) * _ROW
    middles: dict[_Key, float] = {}
    bottoms = dict[int, float]()
    top = 0.0
    for column, row, height, key in sorted(items, key=lambda item: item[:2]):
        middle = max(at[row], bottoms.get(column, -height) + height / 2)
        middles[key] = middle
        bottoms[column] = middle + height / 2
        top = min(top, middle - height / 2)
    return {key: middle - top for key, middle in middles.items()}, max(bottoms.values()) - top
