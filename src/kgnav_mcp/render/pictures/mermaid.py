"""A walked subgraph as a Mermaid flowchart, as chat clients and Markdown pages draw it."""

from __future__ import annotations

import re

from kgnav_mcp.model import Literal, Role, Subgraph, SubgraphNode
from kgnav_mcp.render.pictures.captions import FILLS, PROOF, edge_label, more_label, node_label, omitted_note

_NODE_WIDTH, _EDGE_WIDTH = 24.0, 18.0
"""Width of labels, in units of the font size."""
_ESCAPED_NODE, _ESCAPED_EDGE, _ESCAPED_NOTE = 70, 40, 200
"""Maximum characters of an escaped label: 200 nodes and 400 edges stay under Mermaid's limit of 50,000 characters."""

_SHAPES = {Role.TOPIC: '(["{}"])', Role.ANSWER: '{{{{"{}"}}}}', Role.VISITED: '[["{}"]]', Role.SEEN: '["{}"]'}
_VALUE = '[/"{}"/]'
_UNSAFE = re.compile(r"(?![A-Za-z0-9 .,:'()/+=?!-])[\x00-\x7f]|[.)+-](?= |$)")
"""ASCII characters that Mermaid, its Markdown or HTML may treat as markup; `1. ` and `- ` start lists."""


def mermaid(subgraph: Subgraph) -> str:
    """A flowchart from left to right, with generated node ids and escaped labels."""
    lines = ["flowchart LR"]
    lines += [f"  n{place}{_shape(node)}" for place, node in enumerate(subgraph.nodes)]
    for edge in subgraph.edges:
        arrow = "==>" if edge.proof else "-->"
        lines.append(f'  n{edge.head} {arrow}|"{_text(edge_label(edge, _EDGE_WIDTH), _ESCAPED_EDGE)}"| n{edge.tail}')
    for place, node in enumerate(subgraph.nodes):
        if node.more:
            lines += [f'  more{place}["{more_label(node.more)}"]', f"  n{place} -.- more{place}"]
    if note := omitted_note(subgraph):
        lines.append(f'  left_out>"{_text(note, _ESCAPED_NOTE)}"]')
    for role, (fill, text) in FILLS.items():
        if places := [f"n{place}" for place, node in enumerate(subgraph.nodes) if node.role is role]:
            lines.append(f"  classDef {role.name.lower()} fill:{fill},color:{text},stroke:{text}")
            lines.append(f"  class {','.join(places)} {role.name.lower()}")
    if proof := [str(place) for place, edge in enumerate(subgraph.edges) if edge.proof]:
        lines.append(f"  linkStyle {','.join(proof)} stroke:{PROOF}")
    return "\n".join(lines) + "\n"


def _shape(node: SubgraphNode) -> str:
    shape = _VALUE if isinstance(node.node, Literal) and node.role is Role.SEEN else _SHAPES[node.role]
    return shape.format(_text(node_label(node.node, _NODE_WIDTH), _ESCAPED_NODE))


def _text(label: str, limit: int) -> str:
    """A label with possible markup written as entity codes, cut to `limit` characters without splitting a code."""
    parts, left = list[str](), limit
    for place, letter in enumerate(label):
        part = f"#{ord(letter)};" if _UNSAFE.match(label, place) else letter
        left -= len(part)
        if left < 0:
            return "".join(parts)
        parts.append(part)
    return "".join(parts) or " "
