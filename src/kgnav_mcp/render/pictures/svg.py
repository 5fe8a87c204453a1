"""A walked subgraph as an SVG picture for light and dark screens, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from xml.sax.saxutils import escape

from kgnav_mcp.model import Literal, Role, Subgraph, SubgraphEdge, SubgraphNode
from kgnav_mcp.render.pictures.arrangement import (
    LOOP_LABEL,
    MARGIN,
    ArrangedEdge,
    Box,
    Edge,
    Line,
    arrange,
    curve,
    layered_layout,
    loop,
    outline,
)
from kgnav_mcp.render.pictures.captions import (
    FILLS,
    PROOF,
    edge_label,
    edge_title,
    more_label,
    node_label,
    node_title,
    omitted_note,
    shorten,
    text_width,
)

NODE_SIZE, RELATION_SIZE, QUESTION_SIZE = 12.0, 10.5, 15.0
"""Font sizes of nodes and notes, of relations, and of the question, in pixels."""

_FILLED = "".join(
    f"path.{role.name.lower()}{{fill:{fill};stroke:{text}}}text.{role.name.lower()}{{fill:{text}}}"
    for role, (fill, text) in FILLS.items()
)
_SCREEN = (
    ".page{{fill:{page}}}.question{{fill:{text}}}path.seen,path.value,path.more{{fill:{page};stroke:{line}}}"
    "text.seen,text.value{{fill:{text}}}.note,.relation,text.more{{fill:{soft}}}"
    ".edge{{stroke:{line}}}#arrow path{{fill:{line}}}"
)
_LIGHT = _SCREEN.format(page="#ffffff", text="#1a1a1a", soft="#444444", line="#6e6e6e")
_DARK = _SCREEN.format(page="#0d1117", text="#f0f0f0", soft="#c4c9d0", line="#9aa0a8")

STYLE = (
    f"text{{text-anchor:middle;font:{NODE_SIZE:g}px "
    "system-ui,'Segoe UI','Noto Sans','Noto Sans CJK SC',sans-serif}"
    f".question{{font-size:{QUESTION_SIZE:g}px;font-weight:600}}.relation{{font-size:{RELATION_SIZE:g}px}}"
    ".note,.question{text-anchor:start}"
    "path{stroke-width:1.2}path.value{stroke-dasharray:3 2}text.value,text.more{font-style:italic}"
    "path.more{stroke-dasharray:1 3;fill:none}.copy{opacity:.6}path.copy{stroke-dasharray:5 3}"
    ".further{stroke-dasharray:1 3}"
    f".edge{{fill:none}}{_LIGHT}{_FILLED}"
    f"@media(prefers-color-scheme:dark){{{_DARK}path.topic{{stroke:#f0f0f0}}}}"
    f".proof.edge{{stroke:{PROOF};stroke-width:2.4}}#proof path{{fill:{PROOF}}}"
)
_ARROW = (
    '<marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" stroke="none"/></marker>'
)
ARROWS = _ARROW.format(name="arrow") + _ARROW.format(name="proof")
"""Arrow heads of plain edges and of edges that prove an answer."""


_NODE_WIDTH, _EDGE_WIDTH = 17.0, 13.0
"""Width of labels, in units of their font size."""
_BOLD = 1.1
"""Width of bold letters relative to normal ones."""
_PADDING = 12.0
_HEAD_HEIGHT = 50.0
"""Height of the space above the nodes, for the question."""
_LEGEND_HEIGHT = 64.0
_NOTE_HEIGHT = 18.0
_ALWAYS_LABELLED = 10
"""Maximum number of edges that are labelled even if all labels are the same."""
_MINIMUM_WIDTH = 640.0
"""Minimum width of the picture: the legend needs it."""


def svg(subgraph: Subgraph) -> str:
    """The picture as an SVG document, at most 1,600 pixels wide.

    Raises:
        MissingDriver: the package that computes the layout is not installed.
    """
    return "\n".join(_Picture(subgraph).lines()) + "\n"


class _Picture:
    """Nodes have the numbers of the subgraph's nodes; those that stand for further neighbours come after them."""

    def __init__(self, subgraph: Subgraph) -> None:
        self._subgraph = subgraph
        nodes, edges = subgraph.nodes, subgraph.edges
        names = {edge_label(edge, _EDGE_WIDTH) for edge in edges}
        self._common_label = names.pop() if len(names) == 1 and len(edges) > _ALWAYS_LABELLED else ""
        hubs = [place for place, node in enumerate(nodes) if node.more]
        self._labels = [node_label(node.node, _NODE_WIDTH) for node in nodes]
        self._labels += [more_label(nodes[hub].more) for hub in hubs]
        self._ends: Sequence[Edge] = [(edge.head, edge.tail) for edge in edges]
        self._ends = [*self._ends, *zip(hubs, count(len(nodes)))]
        topics = [place for place, node in enumerate(nodes) if node.role is Role.TOPIC]
        others = ([place] for place, node in enumerate(nodes) if node.role is not Role.SEEN)
        parts = layered_layout(len(self._labels), self._ends, (topics, *others))
        directed = {edge for part in parts for edge in part.routes}
        links = [self._arranged(number, directed) for number, (head, tail) in enumerate(self._ends) if head != tail]
        loops = {edge.head: self._width(edge) for edge in edges if edge.head == edge.tail}
        widths = [text_width(label) * NODE_SIZE + 2 * _PADDING for label in self._labels]
        self._arrangement = arrange(parts, links, widths, loops, _HEAD_HEIGHT)
        right = max((box.right for box in self._arrangement.boxes), default=0.0)
        right = max([right, *(box.left + LOOP_LABEL + loops.get(box.node, 0.0) for box in self._arrangement.boxes)])
        self.width = max(_MINIMUM_WIDTH, right + MARGIN)
        self._notes = self._note_lines()
        self.height = self._arrangement.bottom + _LEGEND_HEIGHT + len(self._notes) * _NOTE_HEIGHT + MARGIN

    def _arranged(self, number: int, directed: set[Edge]) -> ArrangedEdge:
        head, tail = self._ends[number]
        left, right = (head, tail) if (head, tail) in directed else (tail, head)
        return ArrangedEdge(left, right, self._width(self._edge(number)), number)

    def _edge(self, number: int) -> SubgraphEdge | None:
        """The edge with this number; None for one to further neighbours."""
        return self._subgraph.edges[number] if number < len(self._subgraph.edges) else None

    def _text(self, edge: SubgraphEdge | None) -> str:
        """The label of an edge; empty if all edges have the same label, which the notes then state once."""
        return "" if self._common_label or edge is None else edge_label(edge, _EDGE_WIDTH)

    def _width(self, edge: SubgraphEdge | None) -> float:
        return text_width(self._text(edge)) * RELATION_SIZE

    def lines(self) -> Iterator[str]:
        """The elements, one per line. Edges come first, so that nodes and texts are drawn over them."""
        subgraph, boxes = self._subgraph, self._arrangement.boxes
        width, height = round(self.width), round(self.height)
        yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
        yield f"<title>{_xml(shorten(subgraph.question, 1_000))}</title>"
        yield f"<style>{STYLE}</style>"
        yield f"<defs>{ARROWS}</defs>"
        yield '<rect class="page" width="100%" height="100%"/>'
        question = _xml(shorten(subgraph.question, (self.width - 2 * MARGIN) / QUESTION_SIZE / _BOLD))
        yield f'<text class="question" x="{MARGIN:g}" y="26">{question}</text>'
        drawn = [self._line(line) for line in self._arrangement.lines]
        drawn += [self._loop(edge, box) for edge in subgraph.edges for box in boxes if self._is_loop(edge, box)]
        yield from (line for proof in (False, True) for is_proof, line, _ in drawn if is_proof is proof)
        yield from (label for _, _, label in drawn if label)
        for box in boxes:
            yield self._box(box)
        yield from self._legend()
        yield "</svg>"

    def _line(self, line: Line) -> tuple[bool, str, str]:
        """Whether an edge is part of a proof, its path, and the element of its label."""
        edge, (head, tail) = self._edge(line.index), self._ends[line.index]
        if edge is None:
            return False, f'<path class="further edge" d="{curve(line.points)}"/>', ""
        forward = (head, tail) == (line.left, line.right)
        return self._drawn_edge(edge, curve(line.points if forward else line.points[::-1]), line.label)

    def _is_loop(self, edge: SubgraphEdge, box: Box) -> bool:
        return edge.head == edge.tail == box.node and not box.copy

    def _loop(self, edge: SubgraphEdge, box: Box) -> tuple[bool, str, str]:
        label = box.left + LOOP_LABEL + self._width(edge) / 2, box.top - 9
        return self._drawn_edge(edge, loop(box.left, box.top), label)

    def _drawn_edge(self, edge: SubgraphEdge, path: str, middle: tuple[float, float]) -> tuple[bool, str, str]:
        title = f"<title>{_xml(edge_title(self._subgraph, edge))}</title>"
        kind, arrow = ("proof edge", "proof") if edge.proof else ("edge", "arrow")
        line = f'<path class="{kind}" d="{path}" marker-end="url(#{arrow})">{title}</path>'
        text, width, (x, y) = self._text(edge), self._width(edge), middle
        if not text:
            return edge.proof, line, ""
        behind = f'<rect class="page" x="{x - width / 2 - 2:.1f}" y="{y - 7:.1f}" width="{width + 4:.1f}" height="14"/>'
        label = f'<text class="relation" x="{x:.1f}" y="{y + 3.5:.1f}">{_xml(text)}</text>'
        return edge.proof, line, f"<g>{title}{behind}{label}</g>"

    def _box(self, box: Box) -> str:
        text = _xml(self._labels[box.node])
        if box.node >= len(self._subgraph.nodes):
            return _shape("more", box, text)
        node = self._subgraph.nodes[box.node]
        kind = f"{_kind(node)} copy" if box.copy else _kind(node)
        return f"<g><title>{_xml(node_title(node.node))}</title>{_shape(kind, box, text)}</g>"

    def _legend(self) -> Iterator[str]:
        x, y = MARGIN, self._arrangement.bottom + 38
        kinds = [(role.name.lower(), str(role)) for role in Role] + [("value", "value")]
        if any(box.copy for box in self._arrangement.boxes):
            kinds.append(("seen copy", "continued from above"))
        for kind, text in kinds:
            box = Box(-1, x, y, text_width(text) * NODE_SIZE + 2 * _PADDING)
            yield _shape(kind, box, text)
            x = box.right + 10
        for number, note in enumerate(self._notes, 1):
            place = f'x="{MARGIN:g}" y="{y + 14 + number * _NOTE_HEIGHT:g}"'
            yield f'<text class="note" {place}>{_xml(note)}</text>'

    def _note_lines(self) -> Sequence[str]:
        notes = [f"{len(self._subgraph.nodes):,} nodes, {len(self._subgraph.edges):,} edges"]
        notes += [omitted_note(self._subgraph)] if omitted_note(self._subgraph) else []
        notes += [f"Each edge: {self._common_label}"] if self._common_label else []
        return notes


def _kind(node: SubgraphNode) -> str:
    return "value" if isinstance(node.node, Literal) and node.role is Role.SEEN else node.role.name.lower()


def _shape(kind: str, box: Box, text: str) -> str:
    """A node with its text, which must be escaped already."""
    form = outline(kind.partition(" ")[0], box.left, box.middle, box.width, box.height)
    middle = f'x="{box.left + box.width / 2:.1f}" y="{box.middle + 4:.1f}"'
    return f'<path class="{kind}" d="{form}"/><text class="{kind}" {middle}>{text}</text>'


def _xml(text: str) -> str:
    return escape(text, _QUOTES)


_QUOTES: Mapping[str, str] = {'"': "&quot;", "'": "&apos;"}
