"""Texts in pictures (short labels, and longer titles as tooltips), and the colour of each role."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Literal, Node, Role, Subgraph, SubgraphEdge
from kgnav_mcp.render.text import clean, name_and_id, qualifiers_text

_TITLE, _EDGE_TITLE = 1_000, 500
"""Maximum characters of a title, of a node and of an edge."""
_QUALIFIERS = 200
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_FIRST_EMOJI = 0x1F000


def text_width(text: str) -> float:
    """An upper bound of the width of a text, in units of its font size, in the usual fonts without serifs."""
    return sum(map(_letter_width, text))


@lru_cache(4_096)
def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if ord(letter) >= _FIRST_EMOJI:
        return 1.4
    if unicodedata.bidirectional(letter) in ("R", "AL"):
        return 0.8
    base = unicodedata.normalize("NFD", letter)[0]  # an accent adds no width
    if not base.isascii() or base in "mwMW@%":
        return 1.0
    if base in " .,:;'|!()[]/\\ijlftrI-`":
        return 0.42
    return 0.85 if base in "#+<=>~^" else 0.8 if base.isupper() or base == "&" else 0.66


def shorten(text: str, width: float) -> str:
    """The text on one line, without invisible characters, cut to a width in units of its font size."""
    text = clean(text[:_TITLE]).strip()
    if text_width(text) <= width:
        return text
    end, left = 0, width - text_width(_ELLIPSIS)
    while (left := left - _letter_width(text[end])) >= 0:
        end += 1
    return text[:end] + _ELLIPSIS


def node_label(node: Node, width: float) -> str:
    """The name of a node, or its id if it has none; the text of a literal."""
    return shorten(node.text if isinstance(node, Literal) else node.label or node.id, width)


def more_label(more: int) -> str:
    """The text of the node that stands for further neighbours of a node."""
    return f"and {more:,} more"


def node_title(node: Node) -> str:
    """Name, id and types of a node; the whole text of a literal."""
    if isinstance(node, Literal):
        return clean(clipped(node.text, _TITLE))
    types = f", {', '.join(node.types)}" if node.types else ""
    return clean(clipped(name_and_id(node) + types, _TITLE))


def edge_label(edge: SubgraphEdge, width: float) -> str:
    """The distinct names of an edge's relations."""
    return shorten("; ".join(dict.fromkeys(triple.relation.label for triple in edge.triples)), width)


def edge_title(subgraph: Subgraph, edge: SubgraphEdge) -> str:
    """All triples of an edge, with qualifiers."""
    head, tail = (node_label(subgraph.nodes[end].node, _TITLE) for end in (edge.head, edge.tail))
    texts = [
        f"{head} - {name_and_id(triple.relation)} - {tail}"
        + (f" ({qualifiers_text(triple.qualifiers, _QUALIFIERS)})" if triple.qualifiers else "")
        for triple in edge.triples
    ]
    return clean(clipped("; ".join(texts), _EDGE_TITLE))


def omitted_note(subgraph: Subgraph) -> str:
    """How many nodes and edges are not in the picture, and how to draw them; empty if none."""
    parts = [
        f"{count:,} {word if count == 1 else f'{word}s'}"
        for count, word in ((subgraph.more_nodes, "node"), (subgraph.more_edges, "edge"))
        if count
    ]
    return f"Omitted: {' and '.join(parts)} (kgnav trail --all draws all)" if parts else ""


FILLS: Final[Mapping[Role, tuple[str, str]]] = {
    Role.TOPIC: ("#0072b2", "#ffffff"),
    Role.ANSWER: ("#e69f00", "#000000"),
    Role.VISITED: ("#56b4e9", "#000000"),
}
"""Fill of a shape and colour of the text on it. Nodes that were only seen take the colours of the background."""
PROOF: Final = "#d55e00"
"""The colour of edges that prove an answer, readable on white and on black."""
