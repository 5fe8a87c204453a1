"""Texts in pictures: short labels, and longer titles that appear under the pointer."""

from __future__ import annotations

import unicodedata

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Literal, Node, Subgraph, SubgraphEdge
from kgnav_mcp.render.text import clean, name_and_id, qualifiers_text

_TITLE, _EDGE_TITLE = 1_000, 500
"""Most characters of a title, of a node and of an edge."""
_QUALIFIERS = 200
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def text_width(text: str) -> int:
    """Width of a text in Latin letters: a Chinese character counts as two, a combining accent as none."""
    return sum(_columns(letter) for letter in text)


def _columns(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def shorten(text: str, limit: int) -> str:
    """The text on one line, without invisible characters, cut to `limit` columns."""
    text = clean(text[:_TITLE]).strip()
    if text_width(text) <= limit:
        return text
    end, left = 0, limit - 1
    while (left := left - _columns(text[end])) >= 0:
        end += 1
    return text[:end] + _ELLIPSIS


def node_label(node: Node, limit: int) -> str:
    """The name of a node, or its id if it has none; the text of a literal."""
    return shorten(node.text if isinstance(node, Literal) else node.label or node.id, limit)


def node_title(node: Node) -> str:
    """Name, id and types of a node; the whole text of a literal."""
    if isinstance(node, Literal):
        return clean(clipped(node.text, _TITLE))
    types = f", {', '.join(node.types)}" if node.types else ""
    return clean(clipped(name_and_id(node) + types, _TITLE))


def edge_label(edge: SubgraphEdge, limit: int) -> str:
    """The distinct names of an edge's relations."""
    return shorten("; ".join(dict.fromkeys(triple.relation.label for triple in edge.triples)), limit)


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
    """How many nodes and edges are not in the picture; empty if none."""
    parts = [
        f"{count:,} {word if count == 1 else f'{word}s'}"
        for count, word in ((subgraph.more_nodes, "node"), (subgraph.more_edges, "edge"))
        if count
    ]
    return f"Left out: {' and '.join(parts)}" if parts else ""
