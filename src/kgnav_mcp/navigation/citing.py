"""Triples as a reader cites them, in the words in which answers show them, and the rows that they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgnav_mcp.clipping import echoed
from kgnav_mcp.model import Entity, Node, Triple
from kgnav_mcp.navigation.resolving import NameIndex, nearest_names, spellings
from kgnav_mcp.navigation.walked import node_key


@dataclass(frozen=True, slots=True)
class Citation:
    """A triple as it is cited: by ids, names or values. `qualifiers` tell it from parallel ones; None: none are cited.

    Empty qualifiers cite the edge that has none.
    """

    head: str
    relation: str
    tail: str
    qualifiers: Mapping[str, str] | None = None

    def __str__(self) -> str:
        return f"[{echoed(self.head)}, {echoed(self.relation)}, {echoed(self.tail)}]"


def rows_to(tail: str, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows to a tail of this id, else of this name or value."""
    ids = spellings(tail)
    by_id = [row for row in rows if isinstance(row.tail, Entity) and row.tail.id in ids]
    return by_id or [row for row in rows if names_node(tail, row.tail)]


def names_node(text: str, node: Node) -> bool:
    """Whether a text is how an answer shows a node: its id, its name, both, or its value, which may be clipped."""
    shown = _bare(text)
    if isinstance(node, Entity):
        names = (node.label, f"{node.label} ({node.id})") if node.label else ()
        return node.id in spellings(text) or shown in map(_bare, names)
    if shown in (_bare(node.text), _bare(f"{node.text} @{node.language}")):
        return True
    beginning, cut, length = text.strip().rpartition("... (")
    return bool(cut) and length == f"{len(node.text):,} characters)" and _bare(node.text).startswith(_bare(beginning))


def _bare(text: str) -> str:
    """A text without what printing may change in it: letter case, blanks, backslashes, what cannot be seen."""
    return "".join(one for one in text.casefold() if one.isprintable() and one not in " \\")


def rows_with(qualifiers: Mapping[str, str] | None, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows with the qualifiers that are cited; of several those with no others, if there are such."""
    if qualifiers is None:
        return rows
    having = [row for row in rows if all(_has(row, name, value) for name, value in qualifiers.items())]
    return [row for row in having if len(row.qualifiers) == len(qualifiers)] or (having if qualifiers else [])


def row_key(row: Triple) -> object:
    """What a reader can tell a row from others by."""
    qualifiers = frozenset((one.relation.id, node_key(one.value)) for one in row.qualifiers)
    return row.relation.id, node_key(row.tail), qualifiers


def nearest_rows(tail: str, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows whose tails are called most like a text, best first."""
    called: dict[str, Triple] = {}
    for row in rows:
        called.setdefault(_called(row.tail), row)
    return [called[name] for name in nearest_names(tail, list(called))]


def how_to_tell(rows: Sequence[Triple]) -> str:
    """How to cite one of several rows that a citation fits."""
    if len({node_key(row.tail) for row in rows}) > 1:
        return "Cite the tail that you mean by its id."
    for row in rows:
        for one in row.qualifiers:
            name, value = one.relation.id, _called(one.value)
            if sum(_has(other, name, value) for other in rows) == 1:
                example = f"{{{echoed(name)}: {echoed(value)}}}"
                return f"Cite its qualifiers as a fourth element, such as {example}; {{}} is the one without any."
    return "Cite its relation by its id, and all its qualifiers as a fourth element."


def _has(row: Triple, name: str, value: str) -> bool:
    index = NameIndex(row.qualifiers, lambda one: (one.relation.id, one.relation.label))
    return any(names_node(value, one.value) for one in index.called(name))


def _called(node: Node) -> str:
    return (node.label or node.id) if isinstance(node, Entity) else node.text
