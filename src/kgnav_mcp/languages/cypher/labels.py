"""Reads the syntax trees of label expressions."""

from __future__ import annotations

from collections.abc import Iterator

from kgnav_mcp.languages.cypher.reader import has_token, name_of, subtrees
from kgnav_mcp.languages.cypher.syntax import Node


def conjuncts(labels: Node) -> Iterator[Node]:
    """The label expressions that are joined by "and"."""
    if labels.data == "all_of":
        for part in subtrees(labels):
            yield from conjuncts(part)
    else:
        yield labels


def any_of_labels(labels: Node) -> tuple[str, ...] | None:
    """The labels of a single label or an "or" of labels; None for any other expression."""
    if labels.data == "label":
        return (name_of(labels),)
    if labels.data == "any_of" and all(part.data == "label" for part in subtrees(labels)):
        return tuple(dict.fromkeys(name_of(part) for part in subtrees(labels)))
    return None


def types_of(labels: Node) -> tuple[str, ...] | None:
    """The types that an edge may have; None if the expression is not a type or an "or" of types.

    An edge has only one type, so `:wdt:P57` is a single id with its prefix.
    """
    if labels.data == "any_of":
        each = [types_of(part) for part in subtrees(labels)]
        return tuple(dict.fromkeys(name for names in each if names for name in names)) if all(each) else None
    parts = [labels] if labels.data == "label" else list(subtrees(labels))
    joined = labels.data == "all_of" and len(parts) == 2 and not has_token(labels, "AMPERSAND")
    if not (joined or labels.data == "label") or any(part.data != "label" for part in parts):
        return None
    return (":".join(name_of(part) for part in parts),)
