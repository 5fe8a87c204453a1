"""Forms of Cypher that plans do not support: the error message for each, and the nearest supported forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kgnav_mcp.spelling.cypher.reading import Reading, has_token, subtree, subtrees
from kgnav_mcp.spelling.cypher.syntax import Node

PART_OF_LIST: Final = ("a part of a list is not supported", "head(list)", "last(list)", "UNWIND list AS x")
_PLAIN: Final[Mapping[str, tuple[str, ...]]] = {
    "map": ("a map is no value of a plan", "a column for each: n.a AS a, n.b AS b"),
    "map_projection": ("a map is no value of a plan", "properties(n)", "a column for each: n.a, n.b"),
    "case": ("CASE is not supported", "coalesce(n.a, n.b)", "UNION of a query for each case"),
    "reduction": ("reduce is not supported", "UNWIND list AS x, then sum(x)"),
    "collected": ("COLLECT { } is not supported", "OPTIONAL MATCH, then collect(n.name)"),
    "parameter": ("a plan has no parameters", "the value itself, as 'text' or 1"),
    "slice": PART_OF_LIST,
    "namespaced": ("functions of packages are left out",),
}


def unsupported_form(reading: Reading, node: Node) -> tuple[str, ...]:
    """The reason why a form is not supported, then the nearest supported forms."""
    message = _WITH_CONTENT.get(node.data)
    return message(reading, node) if message else _PLAIN[node.data]


def _comprehension(reading: Reading, node: Node) -> tuple[str, ...]:
    """`[(a)-->(b) | b.name]`, `[x IN list WHERE x > 1 | x.name]`."""
    reason = "a list made of a list or a pattern is not supported"
    source, *rest = subtrees(node)
    texts = [reading.source_text(part) for part in rest]
    condition = f" WHERE {texts[0]}" if has_token(node, "WHERE") else ""
    if source.data == "pattern_predicate":
        pattern = f"{reading.source_text(source)}{condition}"
        return reason, f"OPTIONAL MATCH {pattern}, then collect({texts[-1]})", f"COUNT {{ {pattern} }}"
    if (member := _member(reading, source)) is None:
        return reason, "MATCH, then collect(n.name)", "UNWIND list AS x"
    name, values = member
    last = texts[-1] if len(texts) == 1 + has_token(node, "WHERE") else name
    unwound = f"UNWIND {values} AS {name}, then {f'WITH *{condition}, then ' if condition else ''}collect({last})"
    return reason, values, unwound


def _quantified(reading: Reading, node: Node) -> tuple[str, ...]:
    """`any(x IN list WHERE x = 1)`."""
    reason = "a condition on the members of a list is not supported"
    source, condition = (part for part in subtrees(node) if part.data != "name")
    if (member := _member(reading, source)) is None:
        return reason, "'x' IN list"
    name, values = member
    return reason, f"'x' IN {values}", f"UNWIND {values} AS {name}, then WITH * WHERE {reading.source_text(condition)}"


def _path_value(reading: Reading, node: Node) -> tuple[str, ...]:
    return "a shortest path stands in a pattern", f"MATCH p = {reading.source_text(node)}"


def _member(reading: Reading, source: Node) -> tuple[str, str] | None:
    """The variable and the list of `x IN list`."""
    if source.data != "in" or subtree(source, "variable") is None:
        return None
    name, values = (reading.source_text(part) for part in subtrees(source))
    return name, values


_WITH_CONTENT: Final[Mapping[str, Callable[[Reading, Node], tuple[str, ...]]]] = {
    "comprehension": _comprehension,
    "quantified": _quantified,
    "path_value": _path_value,
}
"""Forms whose message depends on their content."""
