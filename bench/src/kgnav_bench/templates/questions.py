"""Questions about a synthetic graph in each plan language, with their true answers."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kgnav_bench.templates.synthetic import Graph, NodeClass, Pool, RelationClass, Value

T = TypeVar("T")

Row = tuple[Value | int, ...]
Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Question:
    """One instance of a template."""

    template: str
    text: str
    """The question in English."""
    cypher: str
    truth: tuple[Row, ...]
    """The rows of the answer, in order."""
    pattern: Json
    """The same question as a pattern in JSON."""
    steps: Sequence[Json]
    """The same question as GraphRunner's steps."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition that a property has a certain value of its pool."""

    pool: Pool
    place: int
    """The property's position among those of its class."""
    chosen: int
    """The value's position in the pool."""

    @property
    def value(self) -> Value:
        return self.pool.values[self.chosen]

    @property
    def text(self) -> str:
        """The condition in English."""
        return f"{self.pool.name} {self.value}"

    @property
    def braces(self) -> str:
        """The condition in Cypher."""
        return f"{{{self.pool.name}: {literal(self.value)}}}"

    @property
    def where(self) -> Json:
        """The condition in JSON."""
        return {self.pool.name: self.value}


def literal(value: Value) -> str:
    """A value as a Cypher literal. No text in these graphs needs escaping."""
    return f"'{value}'" if isinstance(value, str) else repr(value)


class Asker:
    """Picks the subjects of questions, and computes the true answers by scanning the whole graph."""

    def __init__(self, graph: Graph, chance: random.Random) -> None:
        self.graph = graph
        self.chance = chance

    def node_class(self) -> NodeClass:
        return self.chance.choice(self.graph.classes)

    def relation(self) -> RelationClass:
        return self.chance.choice(self.graph.relations)

    def two_hops(self) -> tuple[RelationClass, RelationClass]:
        """Two types of relationships, of which the second starts where the first ends."""
        place = self.chance.randrange(len(self.graph.relations) - 1)
        return self.graph.relations[place], self.graph.relations[place + 1]

    def of_node(self, node_class: NodeClass) -> Condition:
        """A condition with a value that at least one node has."""
        place = self.chance.randrange(len(node_class.pools))
        return Condition(node_class.pools[place], place, self.chance.choice(node_class.columns[place]))

    def of_edge(self, relation: RelationClass) -> Condition:
        return Condition(relation.pool, 0, self.chance.choice(relation.column))

    def way(self, first: RelationClass, second: RelationClass) -> tuple[int, int, int] | None:
        """Three nodes joined by two relationships, from a random start; None if none were found."""
        tails = dict[int, int]()
        for head, tail in pairs(second):
            tails.setdefault(head, tail)
        for _ in range(100):
            place = self.chance.randrange(len(first.heads))
            middle = first.tails[place]
            if middle in tails:
                return first.heads[place], middle, tails[middle]
        return None

    def with_value(self, node_class: NodeClass, condition: Condition) -> set[int]:
        """The nodes of a class with a value."""
        column = node_class.columns[condition.place]
        return {node for node, chosen in zip(node_class.members, column, strict=True) if chosen == condition.chosen}

    def names(self, nodes: Iterable[int]) -> tuple[Row, ...]:
        """Distinct rows of names, sorted."""
        return ordered((self.graph.name(node),) for node in set(nodes))


def pairs(
    relation: RelationClass, condition: Condition | None = None, *, equal: bool = True
) -> Iterator[tuple[int, int]]:
    """The ends of relationships: all, or those with the value, or (not `equal`) with another value."""
    ends = zip(relation.heads, relation.tails, strict=True)
    if condition is None:
        return ends
    chosen = condition.chosen
    return (pair for pair, own in zip(ends, relation.column, strict=True) if (own == chosen) is equal)


def led_to(
    relation: RelationClass, starts: set[int], condition: Condition | None = None, *, equal: bool = True
) -> set[int]:
    """The nodes to which relationships lead from these nodes."""
    return {tail for head, tail in pairs(relation, condition, equal=equal) if head in starts}


def leading_to(relation: RelationClass, ends: set[int]) -> set[int]:
    """The nodes from which relationships lead to these nodes."""
    return {head for head, tail in pairs(relation) if tail in ends}


def ordered(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows sorted by value. Values of one column have the same type."""
    return tuple(sorted(rows))
