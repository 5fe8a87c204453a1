"""Citations of triples, in the form in which answers show them, and the rows that match a citation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgnav_mcp.clipping import echoed
from kgnav_mcp.model import Entity, Node, Triple
from kgnav_mcp.navigation.references import NameIndex, nearest_names, spellings
from kgnav_mcp.navigation.shown_graph import node_key


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited triple, by ids, names or values.

    `qualifiers` distinguish it from parallel edges. None: none are cited. Empty: the edge without qualifiers is cited.
    """

    head: str
    relation: str
    tail: str
    qualifiers: Mapping[str, str] | None = None

    def __str__(self) -> str:
        return f"[{echoed(self.head)}, {echoed(self.relation)}, {echoed(self.tail)}]"


def rows_to(tail: str, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows whose tail has this id; if there are none, those whose tail has this name or value."""
    ids = spellings(tail)
    by_id = [row for row in rows if isinstance(row.tail, Entity) and row.tail.id in ids]
    return by_id or [row for row in rows if names_node(tail, row.tail)]


def names_node(text: str, node: Node) -> bool:
    """Whether a text is a node as answers show it: its id, its name, both, or its value, which may be clipped."""
    shown = _normalized(text)
    if isinstance(node, Entity):
        names = (node.label, f"{node.label} ({node.id})") if node.label else ()
        return node.id in spellings(text) or shown in map(_normalized, names)
    if shown in (_normalized(node.text), _normalized(f"{node.text} @{node.language}")):
        return True
    clipped, cut, length = text.strip().rpartition("... (")
    return (
        bool(cut)
        and length == f"{len(node.text):,} characters)"
        and _normalized(node.text).startswith(_normalized(clipped))
    )


def _normalized(text: str) -> str:
    """A text without differences due to printing: letter case, whitespace, backslashes, invisible characters."""
    return "".join(one for one in text.casefold() if one.isprintable() and one not in " \\")


def rows_with(qualifiers: Mapping[str, str] | None, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows with the cited qualifiers; if some of them have no other qualifiers, only these."""
    if qualifiers is None:
        return rows
    matching = [row for row in rows if all(_has_qualifier(row, name, value) for name, value in qualifiers.items())]
    return [row for row in matching if len(row.qualifiers) == len(qualifiers)] or (matching if qualifiers else [])


def row_key(row: Triple) -> object:
    """The parts of a row by which a reader can distinguish it from others."""
    qualifiers = frozenset((one.relation.id, node_key(one.value)) for one in row.qualifiers)
    return row.relation.id, node_key(row.tail), qualifiers


def nearest_rows(tail: str, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows whose tails have names most like a text, best first."""
    rows_by_name: dict[str, Triple] = {}
    for row in rows:
        rows_by_name.setdefault(_name(row.tail), row)
    return [rows_by_name[name] for name in nearest_names(tail, list(rows_by_name))]


def how_to_tell(rows: Sequence[Triple]) -> str:
    """Advice on how to cite a single one of several rows that match a citation."""
    if len({node_key(row.tail) for row in rows}) > 1:
        return "Cite the tail by its id."
    for row in rows:
        for one in row.qualifiers:
            name, value = one.relation.id, _name(one.value)
            if sum(_has_qualifier(other, name, value) for other in rows) == 1:
                example = f"{{{echoed(name)}: {echoed(value)}}}"
                return f"Cite its qualifiers as a fourth element, such as {example}; {{}} is the one without any."
    return "Cite its relation by its id, and all its qualifiers as a fourth element."


def _has_qualifier(row: Triple, name: str, value: str) -> bool:
    index = NameIndex(row.qualifiers, lambda one: (one.relation.id, one.relation.label))
    return any(names_node(value, one.value) for one in index.find(name))


def _name(node: Node) -> str:
    return (node.label or node.id) if isinstance(node, Entity) else node.text
