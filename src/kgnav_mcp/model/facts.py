"""Facts that a store states about its relations, names, labels and itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kgnav_mcp.model.pages import Count
from kgnav_mcp.model.values import Direction, Entity, Literal, Node, Relation


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """A relation as seen from a set of entities: the number of its rows there, and a few far ends.

    `per_entity` has the number of rows at each entity with some, by id; these are as certain as their sum, `count`.
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
    """How much of a list of properties a store gives."""

    COMPLETE = "complete"
    SAMPLED = "sampled"
    """Read from some of the nodes or edges: rare properties may be missing."""
    ABSENT = "not listed"
    """Not read, which does not mean that there are none."""


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """A label (class) with the number of its nodes.

    `properties` are the ids of the properties with literal values that these nodes have, most frequent first;
    `listing` says whether these are all.
    """

    id: str
    label: str
    count: Count
    properties: tuple[str, ...] = ()
    listing: Listing = Listing.ABSENT


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
    """A property of a relation's edges: its id, and the datatypes of its values, most frequent first.

    `datatypes` is empty if the store does not state them. `is_array`: it is declared as an array, so that each edge
    with it has a list, also of one item. `multivalued`: whether an edge has several values; None: the store does not
    state that.
    """

    id: str
    datatypes: tuple[str, ...] = ()
    is_array: bool = False
    multivalued: bool | None = None


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
