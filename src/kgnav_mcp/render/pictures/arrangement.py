"""Turns layouts into positions in pixels: no wider than the picture may be, and no text over another.

Each edge has a place of its own on the left of the node where it ends, with its label before it. A part that is wider
than a picture continues in another band below, which begins with copies of the nodes from which its edges come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgnav_mcp.render.pictures.layout import Edge, Part, Place
from kgnav_mcp.render.pictures.shapes import HEIGHT, Point

MARGIN = 16.0
MOST_WIDTH = 1_600.0
"""Most width of a picture, margins included."""
_ROW = 36.0
_SPACE = 12.0
"""Least vertical space between nodes."""
_PORT, _NARROW_PORT = 16.0, 8.0
"""Height of an edge where it ends, with a label and without."""
_LOOP = 22.0
"""Height of an edge from a node to itself."""
LOOP_LABEL = 42.0
"""Where its label begins, from the left of the node."""
_FAN, _ARROW = 44.0, 16.0
"""Space between columns besides labels: for edges to fan out, and for arrows."""
_BAND_SPACE = 30.0


@dataclass(frozen=True, slots=True)
class Link:
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
    parts: Sequence[Part], links: Sequence[Link], widths: Sequence[float], loops: Mapping[int, float], top: float
) -> Arrangement:
    """The positions of nodes of these widths, from `top` downwards. `loops` are the widths of the labels of loops."""
    boxes, lines = list[Box](), list[Line]()
    sizes = _Sizes(widths, loops)
    single = [node for part in parts if not part.routes for node in part.nodes]
    links_of = defaultdict[Edge, list[Link]](list)
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
        if x > MARGIN and x + width > MOST_WIDTH - MARGIN:
            x, y = MARGIN, y + _ROW + loop
        boxes.append(Box(node, x, y, sizes.widths[node]))
        x += width + _SPACE
    return boxes


_Links = Mapping[Edge, Sequence[Link]]


def _bands(part: Part, links: _Links, sizes: _Sizes) -> Iterable[tuple[int, int]]:
    """The first and last columns of the bands of a part."""
    last = max(place.column for place in part.nodes.values())
    start = 0
    while start <= last:
        end = start
        while end < last and _Columns(part, links, sizes, start, end + 1).right <= MOST_WIDTH - MARGIN:
            end += 1
        yield start, end
        start = end + 1


class _Columns:
    """The left and right side of each column of a band. The column before its first one holds copies."""

    def __init__(self, part: Part, links: _Links, sizes: _Sizes, start: int, end: int) -> None:
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

    def __init__(self, part: Part, links: _Links, sizes: _Sizes, start: int, end: int) -> None:
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

    def _ports_of(self) -> Mapping[int, Sequence[Link]]:
        """The edges that end at the left side of each node, from top to bottom."""
        ports = defaultdict[int, list[Link]](list)
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
