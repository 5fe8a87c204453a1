"""Generates random property graphs of meaningless names (GraphWalk, appendix B).

Each node has a random class. A relationship class joins some pairs of node classes. Its density is the share of the
allowed pairs of nodes that are joined. Classes have properties, each with a pool of values.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from kgnav_bench.graphwalk.words import NonWords

KEY = "key"
"""The property that identifies a node."""

_DEGREE = 3
"""Mean number of relationships that leave a node in the presets, whose density the paper does not give."""
_HUNDREDTHS = 100_000
"""Numbers in pools are distinct hundredths below 1,000."""

Value = str | float


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of a graph."""

    nodes: int
    node_classes: int
    relationship_classes: int
    node_properties: int
    """Mean number of properties of a node class, besides `key`."""
    relationship_properties: int
    """Mean number of properties of a relationship class."""
    values: int
    """Number of values in the pool of a property."""
    class_pairs: int
    """Number of pairs of node classes that a relationship class joins."""
    density: float
    """Share of the pairs of nodes of two joined classes that have a relationship."""
    text_share: float = 0.5
    """Share of the properties whose values are strings; the others have numbers."""

    @classmethod
    def of(cls, nodes: int) -> Shape:
        """The paper's shape of this size: 4/2/3/5 up to 100 nodes, 8/4/6/10 beyond (GraphWalk, 4.5).

        There are about as many pairs of classes as table 5 has rows. The density keeps the degree equal at every size.
        """
        classes, relationships, properties, values = (4, 2, 3, 5) if nodes <= 100 else (8, 4, 6, 10)
        pairs = classes + 1
        density = min(1.0, _DEGREE * classes**2 / (relationships * pairs * nodes))
        return cls(nodes, classes, relationships, properties, properties, values, pairs, density)

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            ValueError: one of them is too small or too large.
        """
        counts = (
            self.nodes,
            self.node_classes,
            self.relationship_classes,
            self.node_properties,
            self.relationship_properties,
            self.values,
            self.class_pairs,
        )
        if min(counts) < 1:
            raise ValueError("every number of a graph's shape is at least 1")
        if self.class_pairs > self.node_classes**2:
            raise ValueError(f"{self.node_classes} node classes have {self.node_classes**2} pairs at most")
        if not 0 < self.density <= 1 or not 0 <= self.text_share <= 1:
            raise ValueError("the density is above 0 and at most 1; the share of strings is from 0 to 1")


@dataclass(frozen=True, slots=True)
class Pool:
    """A property and its possible values: all strings or all numbers."""

    name: str
    values: Sequence[Value]

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return isinstance(self.values[0], float)


@dataclass(frozen=True, slots=True)
class NodeClass:
    """A label and its properties, without `key`."""

    label: str
    pools: tuple[Pool, ...]


@dataclass(frozen=True, slots=True)
class RelationshipClass:
    """A relationship type, the pairs of labels that it joins, and its properties."""

    type: str
    pairs: tuple[tuple[str, str], ...]
    pools: tuple[Pool, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """Everything that an agent is told about a graph (GraphWalk, B.1)."""

    node_classes: tuple[NodeClass, ...]
    relationship_classes: tuple[RelationshipClass, ...]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Kind, name, Cypher pattern and property, as in the paper's table 5."""
        nodes = [
            ("Node", each.label, f"(:{each.label})", name)
            for each in self.node_classes
            for name in (KEY, *(pool.name for pool in each.pools))
        ]
        relationships = [
            ("Relationship", each.type, f"(:{source})-[:{each.type}]->(:{target})", pool.name)
            for each in self.relationship_classes
            for source, target in each.pairs
            for pool in each.pools
        ]
        return nodes + relationships


@dataclass(frozen=True, slots=True)
class Node:
    """A node."""

    key: str
    label: str
    properties: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship. Its ends are indexes into the list of nodes."""

    type: str
    source: int
    target: int
    properties: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Graph:
    """A generated graph."""

    shape: Shape
    seed: int
    schema: Schema
    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]


def generate(shape: Shape, seed: int) -> Graph:
    """The graph of this shape and seed. Every call returns the same."""
    chance = random.Random(seed)  # noqa: S311 - a graph is no secret
    new_word = NonWords(chance)
    schema = _schema(chance, new_word, shape)
    classes = [chance.choice(schema.node_classes) for _ in range(shape.nodes)]
    nodes = tuple(Node(new_word(), each.label, _properties(chance, each.pools)) for each in classes)
    members: dict[str, list[int]] = {each.label: [] for each in schema.node_classes}
    for place, node in enumerate(nodes):
        members[node.label].append(place)
    relationships = tuple(
        Relationship(each.type, source, target, _properties(chance, each.pools))
        for each in schema.relationship_classes
        for sources, targets in each.pairs
        for source, target in _joined(chance, members[sources], members[targets], shape.density)
    )
    return Graph(shape, seed, schema, nodes, relationships)


def _schema(chance: random.Random, new_word: NonWords, shape: Shape) -> Schema:
    node_classes = tuple(
        NodeClass(new_word().capitalize(), _pools(chance, new_word, shape, shape.node_properties))
        for _ in range(shape.node_classes)
    )
    labels = [each.label for each in node_classes]
    relationship_classes = tuple(
        RelationshipClass(
            new_word().upper(),
            tuple(chance.sample(list(product(labels, labels)), shape.class_pairs)),
            _pools(chance, new_word, shape, shape.relationship_properties),
        )
        for _ in range(shape.relationship_classes)
    )
    return Schema(node_classes, relationship_classes)


def _pools(chance: random.Random, new_word: NonWords, shape: Shape, mean: int) -> tuple[Pool, ...]:
    """One to 2 * `mean` - 1 properties: `mean` on average."""
    return tuple(_pool(chance, new_word, shape) for _ in range(chance.randint(1, 2 * mean - 1)))


def _pool(chance: random.Random, new_word: NonWords, shape: Shape) -> Pool:
    name = new_word()
    if chance.random() < shape.text_share:
        return Pool(name, tuple(new_word() for _ in range(shape.values)))
    return Pool(name, tuple(number / 100 for number in chance.sample(range(_HUNDREDTHS), shape.values)))


def _properties(chance: random.Random, pools: Sequence[Pool]) -> Mapping[str, Value]:
    return {pool.name: chance.choice(pool.values) for pool in pools}


def _joined(
    chance: random.Random, sources: Sequence[int], targets: Sequence[int], density: float
) -> list[tuple[int, int]]:
    """Random distinct pairs of nodes: this share of all, and at least one if there is any."""
    possible = len(sources) * len(targets)
    count = max(min(1, possible), round(density * possible))
    places = chance.sample(range(possible), count)
    return [(sources[place // len(targets)], targets[place % len(targets)]) for place in places]
