"""Answers in the formats of three papers (`--paper-format`), for research runs. The other papers define none.

Search-on-Graph   a row count and a table; of a hub its distinct properties   (4.1, 4.2, A.3)
GraphWalker       relation ids; triples `[head, relation, tail]` by name      (E.3, F, H)
GraphWalk         JSON lists of objects                                       (C.1 to C.3)

Nothing else is printed: no completeness line, no cursor, no qualifiers, no counts. A name that the graph does not state
is empty in a table. Text is cleaned as everywhere, but never clipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgnav_mcp.errors import AnswerTooLarge
from kgnav_mcp.model import (
    Entity,
    Link,
    Literal,
    Neighbourhood,
    Node,
    NodeProperties,
    Relation,
    RelationFacts,
    Triple,
    ValueFacts,
)
from kgnav_mcp.render.columns import json_value
from kgnav_mcp.render.text import clean, printable_id, table_cell

MAX_BYTES = 1_000_000
"""The largest answer in a paper's format, as UTF-8."""
_UNCLIPPED = 1 << 31


@dataclass(frozen=True, slots=True)
class PaperAnswer:
    """An answer in a paper's format. It has no structured form, and is sent whole."""

    text: str
    size: int
    """Number of rows, relations, triples or objects in it."""
    shown: Sequence[object] = ()
    about: Sequence[Entity] = ()

    @property
    def first_line(self) -> str:
        """The number of rows, for a trail's transcript."""
        return f"{self.size:,} rows"

    @property
    def facts(self) -> dict[str, object]:
        """The facts by which an example call is accepted: whether there are rows."""
        return {"rows": [*range(self.size)], "notes": []}


@dataclass(slots=True)
class ObjectList:
    """A JSON list of objects that grows page by page and stops at MAX_BYTES.

    `next_step` is for the error: how to ask for less.
    """

    next_step: str
    shown: list[object] = field(default_factory=list[object])
    _objects: list[str] = field(default_factory=list[str])
    _bytes: int = 2

    def add(self, item: Mapping[str, object], shown: Iterable[object]) -> None:
        """Add an object, and the domain values that it shows.

        Raises:
            AnswerTooLarge: the list is longer than MAX_BYTES.
        """
        text = json.dumps(item, ensure_ascii=False)
        self._bytes += len(text.encode()) + 2
        if self._bytes > MAX_BYTES:
            raise AnswerTooLarge(MAX_BYTES, next_step=self.next_step)
        self._objects.append(text)
        self.shown += shown

    def answer(self) -> PaperAnswer:
        """The list as an answer."""
        return PaperAnswer(f"[{', '.join(self._objects)}]", len(self._objects), self.shown)


def neighbourhood(result: Neighbourhood) -> PaperAnswer:
    """Search-on-Graph's table: `N rows:`, headings, a rule, and the rows; at a hub its distinct properties only.

    With several entities, which the paper does not have, each row begins with its entity.
    """
    if result.relations is not None:
        facts = result.relations.items
        relations = dict.fromkeys(fact.relation for fact in facts)
        return _table(("property", "propertyLabel"), map(_property, relations), facts, result.entities)
    rows = result.rows.items if result.rows else ()
    several = ("entity",) if len(result.entities) > 1 else ()
    columns = (*several, "property", "propertyLabel", "value", "valueLabel")
    return _table(columns, (_row(triple, result, several=bool(several)) for triple in rows), rows, result.entities)


def _table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], shown: Sequence[object], about: Sequence[Entity]
) -> PaperAnswer:
    lines = ["|".join(map(table_cell, row)) for row in rows]
    rule = "|".join("--" for _ in columns)
    text = "\n".join([f"{len(lines)} rows:", "|".join(columns), rule, *lines])
    return PaperAnswer(text, len(lines), shown, about)


def _property(relation: Relation) -> tuple[str, str]:
    return printable_id(relation.id), "" if relation.label_from_id else relation.label


def _value(node: Node) -> tuple[str, str]:
    if isinstance(node, Literal):
        return node.text, ""
    return printable_id(node.id), "" if node.label_from_id else node.label or ""


def _row(triple: Triple, result: Neighbourhood, *, several: bool) -> tuple[str, ...]:
    anchor = _value(triple.far_end(result.direction.opposite))[:1] if several else ()
    return *anchor, *_property(triple.relation), *_value(triple.far_end(result.direction))


def relation_ids(facts: Sequence[RelationFacts], about: Sequence[Entity]) -> PaperAnswer:
    """GraphWalker's relations: their ids, each once, separated by commas."""
    ids = list(dict.fromkeys(printable_id(fact.relation.id) for fact in facts))
    return PaperAnswer(", ".join(ids), len(ids), facts, about)


def triples(items: Sequence[Triple], about: Sequence[Entity]) -> PaperAnswer:
    """GraphWalker's triples, one per line: `[head, relation, tail]`, by names; by ids where there is no name."""
    lines = [f"[{_name(triple.head)}, {printable_id(triple.relation.id)}, {_name(triple.tail)}]" for triple in items]
    return PaperAnswer(",\n".join(lines), len(lines), items, about)


def _name(node: Node) -> str:
    if isinstance(node, Literal):
        return clean(node.text)
    return printable_id(node.id) if node.label is None or node.label_from_id else clean(node.label)


def node_object(node: NodeProperties) -> Mapping[str, object]:
    """GraphWalk's node: an object with all its properties (C.1)."""
    return _properties((triple.relation, triple.tail) for triple in node.properties)


def neighbour_object(link: Link, neighbour: NodeProperties) -> Mapping[str, object]:
    """GraphWalk's neighbour: the node's properties, and the relationship that connects it (C.2).

    The paper prints no example; the names of the keys are this project's.
    """
    relationship = {
        "type": printable_id(link.triple.relation.id),
        "direction": str(link.direction),
        "properties": _properties((qualifier.relation, qualifier.value) for qualifier in link.triple.qualifiers),
    }
    labels = [clean(label) for label in neighbour.entity.types]
    return {"neighbor": node_object(neighbour), "labels": labels, "relationship": relationship}


def value_object(facts: ValueFacts) -> Mapping[str, object]:
    """GraphWalk's value of a property (C.3)."""
    return {"values": _json(facts.value)}


def _properties(pairs: Iterable[tuple[Relation, Node]]) -> dict[str, object]:
    """Properties by name; several values, and arrays, are lists. A text in several languages is given once."""
    values: dict[str, list[object]] = {}
    arrays: set[str] = set()
    for relation, node in pairs:
        name, value = printable_id(relation.id), _json(node)
        members = values.setdefault(name, [])
        if isinstance(node, Literal) and node.index is not None:
            arrays.add(name)
        if name in arrays or value not in members:
            members.append(value)
    return {name: members if name in arrays or len(members) > 1 else members[0] for name, members in values.items()}


def _json(node: Node) -> object:
    value = replace(node, language=None) if isinstance(node, Literal) else node
    return json_value(value, _UNCLIPPED)
