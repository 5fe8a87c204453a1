"""The texts in pictures: short on the picture itself, whole where a reader points at it."""

from __future__ import annotations

import unicodedata

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Literal, Node, Subgraph, SubgraphEdge
from kgnav_mcp.render.text import clean, name_and_id, qualifiers_text

_WHOLE, _WHOLE_EDGE = 1_000, 500
"""Characters of a text that is shown whole, of a node and of an edge."""
_QUALIFIERS = 200
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def columns(text: str) -> int:
    """How wide a text is, in Latin letters: a Chinese one is as wide as two, an accent has no width of its own."""
    return sum(_columns(letter) for letter in text)


def _columns(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def shortened(text: str, limit: int) -> str:
    """The text on one line, without invisible characters, as much of it as `limit` columns hold."""
    text = clean(text[:_WHOLE]).strip()
    if columns(text) <= limit:
        return text
    end, left = 0, limit - 1
    while (left := left - _columns(text[end])) >= 0:
        end += 1
    return text[:end] + _ELLIPSIS


def node_label(node: Node, limit: int) -> str:
    """What a node is called; its id where it has no name."""
    return shortened(node.text if isinstance(node, Literal) else node.label or node.id, limit)


def node_title(node: Node) -> str:
    """Its name, id and types; a value with what it is."""
    if isinstance(node, Literal):
        return clean(clipped(node.text, _WHOLE))
    types = f", {', '.join(node.types)}" if node.types else ""
    return clean(clipped(name_and_id(node) + types, _WHOLE))


def edge_label(edge: SubgraphEdge, limit: int) -> str:
    """The names of its relations, each once."""
    return shortened("; ".join(dict.fromkeys(triple.relation.label for triple in edge.triples)), limit)


def edge_title(subgraph: Subgraph, edge: SubgraphEdge) -> str:
    """Each of its triples, with qualifiers."""
    head, tail = (node_label(subgraph.nodes[end].node, _WHOLE) for end in (edge.head, edge.tail))
    told = [
        f"{head} - {name_and_id(triple.relation)} - {tail}"
        + (f" ({qualifiers_text(triple.qualifiers, _QUALIFIERS)})" if triple.qualifiers else "")
        for triple in edge.triples
    ]
    return clean(clipped("; ".join(told), _WHOLE_EDGE))


def left_out(subgraph: Subgraph) -> str:
    """How much of the walk is not in the picture; nothing where all is."""
    parts = [
        f"{count:,} {word if count == 1 else f'{word}s'}"
        for count, word in ((subgraph.more_nodes, "node"), (subgraph.more_edges, "edge"))
        if count
    ]
    return f"Left out: {' and '.join(parts)}" if parts else ""
