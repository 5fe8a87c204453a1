"""Entities, relations and triples."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

_NO_LETTER = re.compile(r"[\W_]")


class Direction(StrEnum):
    """The direction of a triple as seen from an entity: `outgoing` if it is the head, `incoming` if it is the tail."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"

    @property
    def opposite(self) -> Direction:
        return Direction.INCOMING if self is Direction.OUTGOING else Direction.OUTGOING


@dataclass(frozen=True, slots=True)
class Entity:
    """A node: `id` as printed in answers and accepted by every tool, `label` its name (None: it has none).

    `types` are labels of a property graph or classes of an RDF graph. `mediator` marks a node without a name that only
    connects others (Freebase's CVT). `asked_as` is the id that the caller used, if the store has merged that id into
    this one. `namesakes` are other entities that the caller's text may also mean: their name differs from it only by
    letter case, or their id only by brackets (`PMID:1` and `<PMID:1>`). `found_by` is the property by whose value the
    caller named it, and that value. `label_from_id`: the graph states no name, so that `label` is made from the id.
    """

    id: str
    label: str | None = None
    types: tuple[str, ...] = ()
    description: str | None = None
    mediator: bool = False
    asked_as: str | None = None
    namesakes: tuple[Entity, ...] = ()
    found_by: tuple[str, str] | None = None
    label_from_id: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is not a node: its text for readers, and its datatype and language if the store states them.

    `index` is the place of an item in a declared array, from 0; None: the value is not an item of an array. It is not
    compared: a value is the same fact wherever it is in an array.
    """

    text: str
    datatype: str | None = None
    language: str | None = None
    index: int | None = field(default=None, compare=False)


Node = Entity | Literal


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate or relationship type. A flattened two-hop relation has the id `rel1.rel2`.

    `label_from_id`: the graph states no name, so that `label` is made from the id.
    """

    id: str
    label: str
    label_from_id: bool = field(default=False, compare=False)

    @property
    def name(self) -> str:
        """Its label if its id does not say the same, as `born_in` says "born in"; otherwise empty."""
        label, own_id = (_NO_LETTER.sub("", text).casefold() for text in (self.label, self.id))
        return "" if label in own_id else self.label


@dataclass(frozen=True, slots=True)
class Qualifier:
    """One of an edge's own properties: a relationship property, a Wikidata qualifier, a sibling role of a CVT."""

    relation: Relation
    value: Node


@dataclass(frozen=True, slots=True)
class Triple:
    """(head, relation, tail) with qualifiers. `via` is the mediator that a two-hop triple leads through."""

    head: Entity
    relation: Relation
    tail: Node
    qualifiers: tuple[Qualifier, ...] = ()
    via: Entity | None = None

    def far_end(self, direction: Direction) -> Node:
        """The end of the triple opposite to its anchor, for an anchor that sees the triple in this direction."""
        return self.tail if direction is Direction.OUTGOING else self.head


@dataclass(frozen=True, slots=True)
class Link:
    """A triple as seen from one of its ends, the anchor. `direction` is outgoing if the anchor is the head."""

    direction: Direction
    triple: Triple

    @property
    def anchor(self) -> Entity:
        """The end from which the triple is seen."""
        end = self.triple.head if self.direction is Direction.OUTGOING else self.triple.tail
        if not isinstance(end, Entity):
            raise TypeError(f"a value is no anchor: {self}")
        return end

    @property
    def far_end(self) -> Node:
        """The other end."""
        return self.triple.far_end(self.direction)
