"""Forms of Cypher that plans do not support: the error message for each, and the nearest supported forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kgnav_mcp.languages.cypher.reader import Reading, has_token, subtrees
from kgnav_mcp.languages.cypher.syntax import Node

_PLAIN: Final[Mapping[str, tuple[str, ...]]] = {
    "map": ("a map is no value of a plan", "a column for each: n.a AS a, n.b AS b"),
    "map_projection": ("a map is no value of a plan", "properties(n)", "a column for each: n.a, n.b"),
    "reduction": ("such a call is not known", "reduce(total = 0, x IN list | total + x)"),
    "collected": ("COLLECT { } is not supported", "OPTIONAL MATCH, then collect(n.name)"),
    "namespaced": ("functions of packages are left out",),
}


def unsupported_form(reading: Reading, node: Node) -> tuple[str, ...]:
    """The reason why a form is not supported, then the nearest supported forms."""
    message = _WITH_CONTENT.get(node.data)
    return message(reading, node) if message else _PLAIN[node.data]


def _comprehension(reading: Reading, node: Node) -> tuple[str, ...]:
    """`[(a)-->(b) | b.name]`."""
    reason = "a list made of a pattern is not supported"
    source, *rest = subtrees(node)
    texts = [reading.source_text(part) for part in rest]
    condition = f" WHERE {texts[0]}" if has_token(node, "WHERE") else ""
    if source.data == "pattern_predicate":
        pattern = f"{reading.source_text(source)}{condition}"
        return reason, f"OPTIONAL MATCH {pattern}, then collect({texts[-1]})", f"COUNT {{ {pattern} }}"
    return "a list is made of the members of another one", "[x IN list WHERE condition | value]"


def _quantified(reading: Reading, node: Node) -> tuple[str, ...]:
    del reading, node
    return "such a call is not known", "any(x IN list WHERE condition)", "all(...)", "none(...)", "single(...)"


def _path_value(reading: Reading, node: Node) -> tuple[str, ...]:
    return "a shortest path stands in a pattern", f"MATCH p = {reading.source_text(node)}"


_WITH_CONTENT: Final[Mapping[str, Callable[[Reading, Node], tuple[str, ...]]]] = {
    "comprehension": _comprehension,
    "quantified": _quantified,
    "path_value": _path_value,
}
"""Forms whose message depends on their content."""
