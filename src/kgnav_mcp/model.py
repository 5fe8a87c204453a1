"""The words of the product as frozen values: no I/O, no store, no protocol.

Everything a store states and everything a tool shows is made of these. A property graph and an RDF graph
look the same through them: a node's own property is a triple with a literal tail, an RDF class is a label,
and an edge's own properties are the qualifiers of its triple.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Direction(StrEnum):
    """Which end of a triple an entity is at: the head (`outgoing`) or the tail (`incoming`)."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"

    @property
    def opposite(self) -> Direction:
        return Direction.INCOMING if self is Direction.OUTGOING else Direction.OUTGOING


@dataclass(frozen=True, slots=True)
class Entity:
    """A node: `id` as printed in answers and accepted by every tool, `label` its name (None: it has none).

    `types` are labels of a property graph or classes of an RDF graph. `mediator` marks a node without a name
    that only ties others together (Freebase's CVT). `asked_as` is the id that it was asked for by, where the store has
    merged that one into this. `namesakes` are others whose name differs by letter case alone from the one that it was
    asked for by.
    """

    id: str
    label: str | None = None
    types: tuple[str, ...] = ()
    description: str | None = None
    mediator: bool = False
    asked_as: str | None = None
    namesakes: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is no node: its text as a person reads it, and what the store says of its datatype or language."""

    text: str
    datatype: str | None = None
    language: str | None = None


Node = Entity | Literal


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate or relationship type. A flattened two-hop relation has the id `rel1.rel2`."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Qualifier:
    """One of an edge's own properties: a relationship property, a Wikidata qualifier, a sibling role of a CVT."""

    relation: Relation
    value: Node


@dataclass(frozen=True, slots=True)
class Triple:
    """(head, relation, tail) with its qualifiers. `via` is the mediator that a two-hop triple goes through."""

    head: Entity
    relation: Relation
    tail: Node
    qualifiers: tuple[Qualifier, ...] = ()
    via: Entity | None = None

    def far_end(self, direction: Direction) -> Node:
        """The node that is not the anchor, seen from an anchor that looks in `direction`."""
        return self.tail if direction is Direction.OUTGOING else self.head


class Certainty(StrEnum):
    """How much a count can be trusted."""

    EXACT = "exact"
    AT_LEAST = "at least"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Count:
    """A number of rows with how sure it is. An unknown count has the value 0, which means nothing."""

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
        """The sum of any number of counts, as sure as the least sure of them."""
        total, exact = 0, True
        for count in counts:
            total += count.value
            exact = exact and count.certainty is Certainty.EXACT
        return cls(total, Certainty.EXACT if exact else Certainty.AT_LEAST)

    def __add__(self, other: Count) -> Count:
        """The sum is as sure as its less sure part; an unknown part leaves a lower bound."""
        exact = self.certainty is other.certainty is Certainty.EXACT
        return Count(self.value + other.value, Certainty.EXACT if exact else Certainty.AT_LEAST)


class Stop(StrEnum):
    """Why an answer ends where it ends."""

    COMPLETE = "complete"
    LIMIT = "limit"
    BUDGET = "budget"
    ROW_CAP = "row cap"
    TIME_OUT = "time-out"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One bounded read of a longer list, in an order that is the same at every call.

    `positions` runs parallel to `items`: passing `positions[i]` back as `after` goes on behind item i.
    `total` counts the whole list, not this page. `stop` is COMPLETE when nothing follows the last item. `note` is a
    word on how the list was made, where that is not as usual.
    """

    items: tuple[T, ...]
    positions: tuple[str, ...]
    total: Count
    stop: Stop = Stop.COMPLETE
    note: str = ""


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """A relation as seen from a set of entities: how many rows it has there, and a few far ends.

    `hops` holds the relation's own parts: one, or two when it leads through mediators. `mediators` says that
    far ends of this one-hop relation are mediators, so that a two-hop relation shows more. A `hidden` relation is not
    offered unless asked for by name: there are too many, and they lead nowhere. `matches`: it fits the question.
    """

    relation: Relation
    direction: Direction
    count: Count
    hops: tuple[Relation, ...]
    examples: tuple[Node, ...] = ()
    mediators: bool = False
    hidden: bool = False
    matches: bool = False


@dataclass(frozen=True, slots=True)
class Namesake:
    """An entity that bears a name, letter case aside, and how it spells that name."""

    entity: Entity
    name: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity a name may mean: the name that matched, and a score from 0 to 1 (1: the very name).

    `sitelinks` are the pages about it in other wikis, which tell how well it is known; None where none are counted.
    """

    entity: Entity
    matched: str
    score: float
    degree: Count
    sitelinks: int | None = None


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """A label (class) with the number of its nodes."""

    id: str
    label: str
    count: Count


@dataclass(frozen=True, slots=True)
class PropertyFacts:
    """A property with literal values: how many values it has, and their datatypes, most frequent first."""

    relation: Relation
    count: Count
    datatypes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeFacts:
    """A relation between nodes: its triples, the labels at either end (most frequent first), its qualifiers' names."""

    relation: Relation
    count: Count
    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """What a graph, or the part of it around one label or relation, is made of, largest first."""

    entities: Count
    triples: Count
    labels: tuple[LabelFacts, ...]
    relations: tuple[EdgeFacts, ...]
    properties: tuple[PropertyFacts, ...]
    sampled: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A triple as seen from one of its ends: the direction is the one in which that end looks."""

    direction: Direction
    triple: Triple


@dataclass(frozen=True, slots=True)
class NodeProperties:
    """A node with the values of all its own properties (the GraphWalk primitives' view of a node)."""

    entity: Entity
    properties: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The triples around one entity in one direction, or, where it is a hub, only its relations.

    Exactly one of `rows` and `relations` is set. An entity without rows may have some in the other direction
    (`opposite`); without any, it may be the value of a qualifier, of these triples (`qualified`; None: not known).
    """

    entity: Entity
    direction: Direction
    rows: Page[Triple] | None = None
    relations: Page[RelationFacts] | None = None
    opposite: Count | None = None
    qualified: tuple[Triple, ...] | None = None


@dataclass(frozen=True, slots=True)
class NearestNeighbours:
    """The nodes a property value picked out and every link of theirs, or, at a hub, only their relations.

    Exactly one of `links` and `relations` is set. `properties` are the neighbours' own, by their ids.
    """

    anchors: Page[Entity]
    links: Page[Link] | None = None
    relations: Page[RelationFacts] | None = None
    properties: Mapping[str, tuple[Triple, ...]] = field(default_factory=dict[str, tuple["Triple", ...]])


@dataclass(frozen=True, slots=True)
class Completeness:
    """What an answer says of itself: rows shown, rows in all, why it stops, and the cursor that goes on."""

    shown: int
    total: Count
    stop: Stop = Stop.COMPLETE
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """What a check of a graph found: whether it answers, its size, and what would make it better."""

    reachable: bool
    store: str
    entities: Count
    triples: Count
    advice: tuple[str, ...] = ()
