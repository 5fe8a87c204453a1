"""What a store states about its relations, names, labels and itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgnav_mcp.model.pages import Count
from kgnav_mcp.model.values import Direction, Entity, Literal, Node, Relation


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """A relation as seen from a set of entities: how many rows it has there, and a few far ends.

    `per_entity` has the rows at each entity that has some, by its id; they are as sure as `count`, their sum. `hops`
    holds the relation's own parts: one, or two when it leads through mediators. `mediators` says that far ends of this
    one-hop relation are mediators, so that a two-hop relation shows more. A `hidden` relation is not offered unless
    asked for by name: there are too many, and they lead nowhere. `matches`: it fits the question.
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
class ValueFacts:
    """A distinct value of a property, and how many nodes, or edges, have it."""

    value: Literal
    count: Count


NODE_VALUES = "node"
"""Stands for the datatype of values that are nodes."""


@dataclass(frozen=True, slots=True)
class QualifierFacts:
    """A property of a relation's edges: its id, and the datatypes of its values, most frequent first.

    Without datatypes the store does not tell them.
    """

    id: str
    datatypes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeFacts:
    """A relation between nodes: its triples, the labels at either end (most frequent first), its qualifiers.

    `ends` are the labels of heads and of tails that it joins, with its triples between these, most frequent first;
    empty where the store does not tell. Of a node with several labels each counts.
    """

    relation: Relation
    count: Count
    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    qualifiers: tuple[QualifierFacts, ...] = ()
    ends: tuple[tuple[str, str, Count], ...] = ()


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
class Health:
    """What a check of a graph found: whether it answers, its size, and what would make it better."""

    reachable: bool
    store: str
    entities: Count
    triples: Count
    advice: tuple[str, ...] = ()
