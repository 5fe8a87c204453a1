"""A question about a synthetic graph, as it is asked in each spelling, and its true answer."""

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
    """In English."""
    cypher: str
    truth: tuple[Row, ...]
    """The rows of the answer, in their order."""
    pattern: Json
    """The same question as a pattern in JSON."""
    steps: Sequence[Json]
    """The same as GraphRunner's steps."""


@dataclass(frozen=True, slots=True)
class Condition:
    """That a property has a value of its pool."""

    pool: Pool
    place: int
    """Of the property among those of its class."""
    chosen: int
    """The value's place in the pool."""

    @property
    def value(self) -> Value:
        return self.pool.values[self.chosen]

    @property
    def text(self) -> str:
        """In English."""
        return f"{self.pool.name} {self.value}"

    @property
    def braces(self) -> str:
        """In Cypher."""
        return f"{{{self.pool.name}: {literal(self.value)}}}"

    @property
    def where(self) -> Json:
        """In JSON."""
        return {self.pool.name: self.value}


def literal(value: Value) -> str:
    """A value as Cypher writes it; no text of these graphs has a character to be escaped."""
    return f"'{value}'" if isinstance(value, str) else repr(value)


class Asker:
    """Picks what is asked about, and finds what is true by reading the graph from end to end."""

    def __init__(self, graph: Graph, chance: random.Random) -> None:
        self.graph = graph
        self.chance = chance

    def node_class(self) -> NodeClass:
        return self.chance.choice(self.graph.classes)

    def relation(self) -> RelationClass:
        return self.chance.choice(self.graph.relations)

    def two_hops(self) -> tuple[RelationClass, RelationClass]:
        """Two types of relationships, the second where the first leads."""
        place = self.chance.randrange(len(self.graph.relations) - 1)
        return self.graph.relations[place], self.graph.relations[place + 1]

    def of_node(self, node_class: NodeClass) -> Condition:
        """A value that one of the nodes has."""
        place = self.chance.randrange(len(node_class.pools))
        return Condition(node_class.pools[place], place, self.chance.choice(node_class.columns[place]))

    def of_edge(self, relation: RelationClass) -> Condition:
        return Condition(relation.pool, 0, self.chance.choice(relation.column))

    def way(self, first: RelationClass, second: RelationClass) -> tuple[int, int, int] | None:
        """Three nodes that two relationships join, the first one by chance; None where no such nodes were met."""
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
        """Rows of names, each once, in their order."""
        return ordered((self.graph.name(node),) for node in set(nodes))


def pairs(
    relation: RelationClass, condition: Condition | None = None, *, equal: bool = True
) -> Iterator[tuple[int, int]]:
    """The ends of relationships: all, or those with a value, or with another."""
    ends = zip(relation.heads, relation.tails, strict=True)
    if condition is None:
        return ends
    chosen = condition.chosen
    return (pair for pair, own in zip(ends, relation.column, strict=True) if (own == chosen) is equal)


def led_to(
    relation: RelationClass, starts: set[int], condition: Condition | None = None, *, equal: bool = True
) -> set[int]:
    """Where relationships lead from some nodes."""
    return {tail for head, tail in pairs(relation, condition, equal=equal) if head in starts}


def leading_to(relation: RelationClass, ends: set[int]) -> set[int]:
    """Where relationships that lead to some nodes come from."""
    return {head for head, tail in pairs(relation) if tail in ends}


def ordered(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows in the order of their values; those of one column are of one kind."""
    return tuple(sorted(rows))
