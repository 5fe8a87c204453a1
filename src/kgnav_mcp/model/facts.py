"""Entities, relations and triples, pages of them, and the facts that a store states about itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

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
    """A node: `id` as printed in answers and accepted by every tool, `label` its name; None if it has none.

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


T = TypeVar("T")


class Certainty(StrEnum):
    """How certain a count is."""

    EXACT = "exact"
    AT_LEAST = "at least"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Count:
    """A number of rows with its certainty. An unknown count has the value 0, which has no meaning."""

    value: int
    certainty: Certainty = Certainty.EXACT

    @classmethod
    def at_least(cls, value: int) -> Count:
        return cls(value, Certainty.AT_LEAST)

    @classmethod
    def unknown(cls) -> Count:
        return cls(0, Certainty.UNKNOWN)

    @classmethod
    def sum(cls, counts: Iterable[Count]) -> Count:
        """The sum of counts: exact if all of them are, otherwise a lower bound."""
        total, exact = 0, True
        for count in counts:
            total += count.value
            exact = exact and count.certainty is Certainty.EXACT
        return cls(total, Certainty.EXACT if exact else Certainty.AT_LEAST)

    @property
    def words(self) -> str:
        """The count before a noun: `4,030`, `at least 4,030` or `an unknown number of`."""
        match self.certainty:
            case Certainty.EXACT:
                return f"{self.value:,}"
            case Certainty.AT_LEAST:
                return f"at least {self.value:,}"
            case Certainty.UNKNOWN:
                return "an unknown number of"

    def __str__(self) -> str:
        """`4,030`; `4,030+` for a lower bound; `?` if it is unknown."""
        marks = {Certainty.EXACT: "", Certainty.AT_LEAST: "+"}
        return f"{self.value:,}{marks[self.certainty]}" if self.certainty in marks else "?"

    def __add__(self, other: Count) -> Count:
        """The sum: exact if both counts are, otherwise a lower bound."""
        exact = self.certainty is other.certainty is Certainty.EXACT
        return Count(self.value + other.value, Certainty.EXACT if exact else Certainty.AT_LEAST)


class Stop(StrEnum):
    """Why a list ends where it does."""

    COMPLETE = "complete"
    LIMIT = "limit"
    BUDGET = "budget"
    ROW_CAP = "row cap"
    TIME_OUT = "time-out"
    UNORDERED = "unordered"
    """The store could not sort the list, so that no later page could tell which rows were shown."""

    @classmethod
    def first(cls, stops: Iterable[Stop]) -> Stop:
        """The first of several reasons that is not COMPLETE; COMPLETE if all are."""
        return next((stop for stop in stops if stop is not cls.COMPLETE), cls.COMPLETE)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One bounded read of a longer list, in an order that is the same at every call.

    `positions` is parallel to `items`: with `positions[i]` as `after`, the next page starts after item i. `total`
    counts the whole list, not this page. `stop` is COMPLETE if nothing follows the last item. `note` says what is
    unusual about the list, if anything.
    """

    items: tuple[T, ...]
    positions: tuple[str, ...]
    total: Count
    stop: Stop = Stop.COMPLETE
    note: str = ""


@dataclass(frozen=True, slots=True)
class AnchoredPage(Page[T]):
    """A page of rows or relations at some entities, the anchors.

    `anchors` maps each id, as it was given, to its entity, which has at least a label. Unknown ids are absent. A later
    page (`after`) may omit anchors that have no rows on it. `without` are the anchors that have no items in the whole
    list; None: the page does not say.
    """

    anchors: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    without: tuple[Entity, ...] | None = None


def anchored(page: Page[T], anchors: Mapping[str, Entity]) -> AnchoredPage[T]:
    """A page with its anchors."""
    return AnchoredPage(page.items, page.positions, page.total, page.stop, page.note, anchors)


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """A relation at a set of entities: the number of its rows there, and a few far ends.

    `per_entity` has the number of rows at each entity with some, by id, with the certainty of their sum, `count`.
    `hops` are the relations that it consists of: one, or two if it leads through mediators. `mediators`: far ends of
    this one-hop relation are mediators, so a two-hop relation shows more. A `hidden` relation is shown only when it is
    asked for by name: there are many such relations, and they lead to no other nodes. `matches`: it matches the
    question.
    """

    relation: Relation
    direction: Direction
    count: Count
    hops: tuple[Relation, ...]
    examples: tuple[Node, ...] = ()
    mediators: bool = False
    hidden: bool = False
    matches: bool = False
    per_entity: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Namesake:
    """An entity with a given name in any letter case, and the exact spelling of that name."""

    entity: Entity
    name: str


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """An entity, and the property that has a given text as its value there."""

    entity: Entity
    relation: Relation


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a name may mean, with the name that matched, and a score from 0 to 1 (1: exactly this name).

    `sitelinks` is the number of pages about it in other wikis, a measure of how well it is known; None if the store
    has no such count. `found_by` is the property that has `matched` as its value; None if that is a name or an id.
    `similarity` is that of the hint's and the entity's meaning, at most 1, if meanings were compared; an entity that
    only its meaning found has the score 0.
    """

    entity: Entity
    matched: str
    score: float
    degree: Count
    sitelinks: int | None = None
    found_by: str | None = None
    similarity: float | None = None


class Listing(StrEnum):
    """How complete a store's list of properties is."""

    COMPLETE = "complete"
    SAMPLED = "sampled"
    """Read from some of the nodes or edges: rare properties may be missing."""
    ABSENT = "not listed"
    """Not read; there may be some."""


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """A label (class) with the number of its nodes, whose types have it as `shown`.

    `is_shown_by_id`: that is the id, because `label` is made from it, or is the name of other classes, too.
    `properties` are the ids of the properties with literal values that these nodes have, most frequent first;
    `listing` says whether these are all.
    """

    id: str
    label: str
    count: Count
    properties: tuple[str, ...] = ()
    listing: Listing = Listing.ABSENT
    is_shown_by_id: bool = False

    @property
    def shown(self) -> str:
        """The text that the types of its nodes have."""
        return self.id if self.is_shown_by_id else self.label


@dataclass(frozen=True, slots=True)
class PropertyFacts:
    """A property with literal values: the number of values, and their datatypes, most frequent first.

    `is_array`: it is declared as an array, so that each node with it has a list, also of one item. `multivalued`:
    whether a node has several values; None: the store does not state that.
    """

    relation: Relation
    count: Count
    datatypes: tuple[str, ...] = ()
    is_array: bool = False
    multivalued: bool | None = None


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """A distinct value of a property, and the number of nodes or edges that have it."""

    value: Literal
    count: Count


NODE_VALUES = "node"
"""The datatype of values that are nodes."""


@dataclass(frozen=True, slots=True)
class QualifierFacts:
    """A property of a relation's edges: its id, its label if it has one, and the datatypes of its values.

    `datatypes` has the most frequent first, and is empty if the store does not state them. `is_array`: it is declared
    as an array, so that each edge with it has a list, also of one item. `multivalued`: whether an edge has several
    values; None: the store does not state that.
    """

    id: str
    datatypes: tuple[str, ...] = ()
    is_array: bool = False
    multivalued: bool | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class EdgeFacts:
    """A relation between nodes: the number of its triples, the labels at either end (most frequent first), qualifiers.

    `ends` are pairs of a head label and a tail label with the number of triples between them, most frequent first;
    empty if the store does not state them. A node with several labels counts for each of them. `listing` says whether
    the qualifiers are all.
    """

    relation: Relation
    count: Count
    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    qualifiers: tuple[QualifierFacts, ...] = ()
    ends: tuple[tuple[str, str, Count], ...] = ()
    listing: Listing = Listing.COMPLETE


@dataclass(frozen=True, slots=True)
class Schema:
    """Labels, relations and properties of a graph, or of the part around one label or relation; largest first.

    `sampled` says what was read if the counts are from a sample; None if they are not. `remarks` are what every reader
    of the graph should know, such as that its edges are undirected.
    """

    entities: Count
    triples: Count
    labels: tuple[LabelFacts, ...]
    relations: tuple[EdgeFacts, ...]
    properties: tuple[PropertyFacts, ...]
    sampled: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """The result of checking a graph: whether it answers, its size, and advice on how to improve it."""

    reachable: bool
    store: str
    entities: Count
    triples: Count
    advice: tuple[str, ...] = ()
