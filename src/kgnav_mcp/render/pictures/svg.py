"""A walked subgraph as an SVG picture for light and dark screens, without scripts or external resources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from kgnav_mcp.model import Literal, Role, Subgraph, SubgraphEdge, SubgraphNode
from kgnav_mcp.render.pictures.captions import (
    edge_label,
    edge_title,
    node_label,
    node_title,
    omitted_note,
    shorten,
    text_width,
)
from kgnav_mcp.render.pictures.layout import Layout, Place, layered_layout
from kgnav_mcp.render.pictures.shapes import Point, curve, loop, outline
from kgnav_mcp.render.pictures.style import ARROWS, STYLE

_NODE_COLUMNS = 32
_EDGE_COLUMNS = 24
_LETTER, _SMALL_LETTER, _LARGE_LETTER = 7.0, 6.0, 9.5
"""Upper bound of the average width of a Latin letter, in pixels: in nodes, edge labels and the question."""
_ROW = 36.0
_PADDING = 12.0
_MARGIN = 16.0
_HEAD_HEIGHT = 44.0
"""Height of the space above the nodes, for the question."""
_FOOT_HEIGHT = 58.0
"""Height of the space below them, for the legend and the notes."""
_GAP = 60.0
"""Space between columns besides edge labels, for edges to fan out and for arrows."""
_FAN, _ARROW = 34.0, 18.0
_NARROW_GAP = 36.0
"""Space between columns if edges have no labels."""
_ALWAYS_LABELLED = 10
"""Up to so many edges are labelled even if all labels are the same."""
_BOTH_WAYS_OFFSET = 8.0
"""Vertical offset of an edge if there is another one in the opposite direction."""
_LOOP_LABEL = 44.0
"""Horizontal offset of the label of an edge from a node to itself."""
_MINIMUM_WIDTH = 560.0
"""Minimum width of the picture: the legend needs it."""


def svg(subgraph: Subgraph) -> str:
    """The picture as an SVG document.

    Raises:
        MissingDriver: the package that computes the layout is not installed.
    """
    return "\n".join(_Picture(subgraph).lines()) + "\n"


@dataclass(frozen=True, slots=True)
class _Box:
    """A drawn node: left edge, vertical middle, width and text."""

    left: float
    middle: float
    width: float
    label: str

    @property
    def right(self) -> float:
        return self.left + self.width


class _Picture:
    def __init__(self, subgraph: Subgraph) -> None:
        self._subgraph = subgraph
        nodes, edges = subgraph.nodes, subgraph.edges
        names = {edge_label(edge, _EDGE_COLUMNS) for edge in edges}
        self._common_label = names.pop() if len(names) == 1 and len(edges) > _ALWAYS_LABELLED else ""
        topics = [place for place, node in enumerate(nodes) if node.role is Role.TOPIC]
        others = ([place] for place, node in enumerate(nodes) if node.role is not Role.SEEN)
        self._layout: Layout = layered_layout(len(nodes), [(edge.head, edge.tail) for edge in edges], (topics, *others))
        labels = [_label(node) for node in nodes]
        widths = [text_width(label) * _LETTER + 2 * _PADDING for label in labels]
        self._lefts, self._rights, self._spaces = self._columns(widths)
        self._boxes = [
            _Box(self._lefts[place.column], _y(place), width, label)
            for place, width, label in zip(self._layout.nodes, widths, labels, strict=True)
        ]
        pairs = {self._ends(edge) for edge in edges}
        self._neighbours_left = Counter(right for _, right in pairs)
        self._neighbours_right = Counter(left for left, _ in pairs)
        self._drawn = {(edge.head, edge.tail) for edge in edges}
        self.width = max([_MINIMUM_WIDTH, *(box.right + _MARGIN for box in self._boxes)])
        self.height = _HEAD_HEIGHT + self._layout.rows * _ROW + _FOOT_HEIGHT

    def _columns(self, widths: Sequence[float]) -> tuple[list[float], list[float], list[float]]:
        """The left and right end of each column, and the space before it for edge labels."""
        number = max((place.column for place in self._layout.nodes), default=0) + 1
        widest, space = [0.0] * number, [0.0] * number
        for place, width in zip(self._layout.nodes, widths, strict=True):
            widest[place.column] = max(widest[place.column], width)
        for edge in self._subgraph.edges:
            column = self._layout.nodes[self._ends(edge)[1]].column
            needed = _NARROW_GAP if self._common_label else text_width(self._text(edge)) * _SMALL_LETTER + _GAP
            space[column] = max(space[column], needed)
        lefts, rights, x = list[float](), list[float](), _MARGIN
        for column in range(number):
            lefts.append(x + (space[column] if column else 0.0))
            x = lefts[-1] + widest[column]
            rights.append(x)
        return lefts, rights, space

    def _text(self, edge: SubgraphEdge) -> str:
        """The label of an edge; empty if all edges have the same label, which the notes then state once."""
        return "" if self._common_label else edge_label(edge, _EDGE_COLUMNS)

    def _ends(self, edge: SubgraphEdge) -> tuple[int, int]:
        """The left and the right end of an edge."""
        forward = edge.head == edge.tail or (edge.head, edge.tail) in self._layout.routes
        return (edge.head, edge.tail) if forward else (edge.tail, edge.head)

    def lines(self) -> Iterator[str]:
        """The elements, one a line. Edges come first, so that nodes and texts are drawn over them."""
        subgraph = self._subgraph
        width, height = round(self.width), round(self.height)
        yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
        yield f"<title>{_xml(shorten(subgraph.question, 1_000))}</title>"
        yield f"<style>{STYLE}</style>"
        yield f"<defs>{ARROWS}</defs>"
        yield '<rect class="page" width="100%" height="100%"/>'
        question = _xml(shorten(subgraph.question, int((self.width - 2 * _MARGIN) / _LARGE_LETTER)))
        yield f'<text class="question" x="{_MARGIN:g}" y="26">{question}</text>'
        labels = list[str]()
        for edge in sorted(subgraph.edges, key=lambda edge: edge.proof):
            line, label = self._edge(edge)
            yield line
            labels.append(label)
        yield from filter(None, labels)
        for node, box in zip(subgraph.nodes, self._boxes, strict=True):
            yield _node(node, box)
        yield from self._legend()
        yield "</svg>"

    def _edge(self, edge: SubgraphEdge) -> tuple[str, str]:
        """The path of an edge, and the element of its label."""
        text = self._text(edge)
        width = text_width(text) * _SMALL_LETTER
        left, right = self._ends(edge)
        if left == right:
            box = self._boxes[left]
            path, (x, y) = loop(box.left, box.middle), (box.left + _LOOP_LABEL + width / 2, box.middle - _ROW / 2 + 1)
        else:
            points, (x, y) = self._route(edge, width)
            path = curve(points if edge.head == left else points[::-1])
        title = f"<title>{_xml(edge_title(self._subgraph, edge))}</title>"
        kind, arrow = ("proof edge", "proof") if edge.proof else ("edge", "arrow")
        line = f'<path class="{kind}" d="{path}" marker-end="url(#{arrow})">{title}</path>'
        if not text:
            return line, ""
        behind = f'<rect class="page" x="{x - width / 2 - 3:.1f}" y="{y - 7:.1f}" width="{width + 6:.1f}" height="14"/>'
        return line, f'<g>{title}{behind}<text class="relation" x="{x:.1f}" y="{y + 3.5:.1f}">{_xml(text)}</text></g>'

    def _route(self, edge: SubgraphEdge, width: float) -> tuple[list[Point], Point]:
        """The points of an edge, and the middle of its label of this width.

        The label stands beside an end that has no other edge on that side.
        """
        left, right = self._ends(edge)
        start, end = self._boxes[left], self._boxes[right]
        offset = 0.0
        if (edge.tail, edge.head) in self._drawn:  # there is an edge back, too
            offset = _BOTH_WAYS_OFFSET if edge.head == left else -_BOTH_WAYS_OFFSET
        points: list[Point] = [(start.right, start.middle + offset)]
        for bend in self._layout.routes[left, right][1:-1]:
            points += [(self._lefts[bend.column], _y(bend)), (self._rights[bend.column], _y(bend))]
        points.append((end.left, end.middle + offset))
        (first_x, first_y), (last_x, last_y) = points[0], points[-1]
        if not width:
            return points, (last_x, last_y)
        if self._neighbours_left[right] == 1:
            fan = last_x - self._spaces[self._layout.nodes[right].column] + _FAN
            points.insert(-1, (fan, last_y))
            return points, (last_x - _ARROW - width / 2, last_y)
        if self._neighbours_right[left] == 1:
            points.insert(1, (first_x + width + 2 * _ARROW, first_y))
            return points, (first_x + _ARROW + width / 2, first_y)
        x, y = points[-2]
        return points, ((x + last_x) / 2, (y + last_y) / 2)

    def _legend(self) -> Iterator[str]:
        x, y = _MARGIN, self.height - _FOOT_HEIGHT + 22
        for role in Role:
            width = text_width(role) * _LETTER + 2 * _PADDING
            yield _shape(role, value=False, left=x, middle=y, width=width, text=role)
            x += width + 14
        yield _shape(Role.SEEN, value=True, left=x, middle=y, width=5 * _LETTER + 2 * _PADDING, text="value")
        notes = [f"{len(self._subgraph.nodes):,} nodes, {len(self._subgraph.edges):,} edges"]
        notes += [omitted_note(self._subgraph)] if omitted_note(self._subgraph) else []
        notes += [f"Each edge: {self._common_label}"] if self._common_label else []
        if any(node.more for node in self._subgraph.nodes):
            notes.append("+n: so many neighbours left out")
        yield f'<text class="note" x="{_MARGIN:g}" y="{y + 28:g}">{_xml(". ".join(notes))}</text>'


def _label(node: SubgraphNode) -> str:
    more = f" +{node.more:,}" if node.more else ""
    return node_label(node.node, _NODE_COLUMNS) + more


def _node(node: SubgraphNode, box: _Box) -> str:
    value = isinstance(node.node, Literal)
    text = f"{_xml(box.label)}"
    drawn = _shape(node.role, value=value, left=box.left, middle=box.middle, width=box.width, text=text)
    return f"<g><title>{_xml(node_title(node.node))}</title>{drawn}</g>"


def _shape(role: Role, *, value: bool, left: float, middle: float, width: float, text: str) -> str:
    """A shape with its text, which must be escaped already."""
    kind = "value" if value and role is Role.SEEN else role.name.lower()
    return (
        f'<path class="{kind}" d="{outline(kind, left, middle, width)}"/>'
        f'<text class="{kind}" x="{left + width / 2:.1f}" y="{middle + 4:.1f}">{text}</text>'
    )


def _y(place: Place) -> float:
    return _HEAD_HEIGHT + (place.row + 0.5) * _ROW


def _xml(text: str) -> str:
    return escape(text, _QUOTES)


_QUOTES: Mapping[str, str] = {'"': "&quot;", "'": "&apos;"}
