"""Generates synthetic graphs from a hundred nodes to millions.

Nodes fall into classes. A class of relationships joins one class to another. Each class has properties, each with a
pool of values: numbers, or meaningless words of four to eight letters. The classes of relationships form a chain, so
that there are paths of several hops.
"""

from __future__ import annotations

import csv
import random
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

VOWELS, CONSONANTS = "aeiou", "bcdfghjklmnprstvz"
NAME = "name"
"""The property with a unique value for each node."""
_NAMES = 1_000
"""Number of words for names. A number after the word makes each name unique."""
_LARGEST = 1_000
"""Exclusive upper bound of numbers in a pool."""

Value = str | float


@dataclass(frozen=True, slots=True)
class Shape:
    """The size and the composition of a graph."""

    nodes: int
    classes: int
    relations: int
    properties: int
    """Number of properties of each node class. A relationship class has one."""
    pool: int
    """Number of values of each property."""
    degree: int = 3
    """Average number of outgoing relationships of one class per node."""

    @classmethod
    def of(cls, nodes: int) -> Shape:
        """The shape of this size. The number of values keeps answers at some hundred rows."""
        if nodes < 500:
            return cls(nodes, 4, 2, 3, 5)
        return cls(nodes, 8, 4, 6, max(10, nodes // 1_000))


@dataclass(frozen=True, slots=True)
class Pool:
    """A property and its possible values."""

    name: str
    values: Sequence[Value]

    @property
    def numbers(self) -> bool:
        """Whether the values are numbers."""
        return isinstance(self.values[0], float)


@dataclass(frozen=True, slots=True)
class NodeClass:
    """A label. `columns` has, for each property, the index into its pool for each node."""

    label: str
    members: range
    pools: tuple[Pool, ...]
    columns: tuple[array[int], ...]

    def value(self, node: int, place: int) -> Value:
        """A node's value of the property at this place."""
        return self.pools[place].values[self.columns[place][self.members.index(node)]]


@dataclass(frozen=True, slots=True)
class RelationClass:
    """A relationship type. No two of its relationships have the same ends.

    `column` has the index into the property's pool for each relationship.
    """

    type: str
    source: NodeClass
    target: NodeClass
    pool: Pool
    heads: array[int]
    tails: array[int]
    column: array[int]


@dataclass(frozen=True, slots=True)
class Graph:
    """A generated graph. Nodes are numbers."""

    shape: Shape
    seed: int
    words: tuple[str, ...]
    classes: tuple[NodeClass, ...]
    relations: tuple[RelationClass, ...]

    def name(self, node: int) -> str:
        """The name of a node."""
        return f"{self.words[node % _NAMES]} {node}"


def generate(shape: Shape, seed: int = 1) -> Graph:
    """The graph of this shape and seed. Every call returns the same."""
    chance = random.Random(seed)  # noqa: S311 - a graph, no secret
    words = _words(chance)
    size = shape.classes
    classes = tuple(
        _node_class(chance, words, range(number, shape.nodes, size), shape) for number in range(shape.classes)
    )
    way = [chance.randrange(size)]
    while len(way) <= shape.relations:
        way.append((way[-1] + chance.randrange(1, size)) % size)
    relations = tuple(
        _relation_class(chance, words, classes[source], classes[target], shape) for source, target in pairwise(way)
    )
    return Graph(shape, seed, tuple(word.capitalize() for word in islice(words, _NAMES)), classes, relations)


def _words(chance: random.Random) -> Iterator[str]:
    """Distinct meaningless words."""
    seen = {NAME, "id"}
    while True:
        letters = (chance.choice(VOWELS if n % 2 else CONSONANTS) for n in range(chance.randint(4, 8)))
        word = "".join(letters)
        if word not in seen:
            seen.add(word)
            yield word


def _pool(chance: random.Random, words: Iterator[str], size: int) -> Pool:
    name = next(words)
    if chance.random() < 0.5:
        return Pool(name, tuple(islice(words, size)))
    return Pool(name, tuple(number / 100 for number in chance.sample(range(_LARGEST * 100), size)))


def _node_class(chance: random.Random, words: Iterator[str], members: range, shape: Shape) -> NodeClass:
    pools = tuple(_pool(chance, words, shape.pool) for _ in range(shape.properties))
    return NodeClass(
        next(words).capitalize(), members, pools, tuple(_column(chance, shape.pool, len(members)) for _ in pools)
    )


def _column(chance: random.Random, pool: int, length: int) -> array[int]:
    return array("L", chance.choices(range(pool), k=length))


def _relation_class(
    chance: random.Random, words: Iterator[str], source: NodeClass, target: NodeClass, shape: Shape
) -> RelationClass:
    wanted = min(shape.degree * len(source.members), len(source.members) * len(target.members) // 2)
    ends: dict[tuple[int, int], None] = {}
    while len(ends) < wanted:
        missing = wanted - len(ends)
        heads, tails = chance.choices(source.members, k=missing), chance.choices(target.members, k=missing)
        ends.update(dict.fromkeys(zip(heads, tails, strict=True)))
    heads, tails = array("L", (head for head, _ in ends)), array("L", (tail for _, tail in ends))
    pool, name = _pool(chance, words, shape.pool), next(words).upper()
    return RelationClass(name, source, target, pool, heads, tails, _column(chance, shape.pool, len(ends)))


def write(graph: Graph, folder: Path) -> tuple[Path, Path]:
    """Write node and edge files with neo4j-admin's headers. The folder is created if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    own = [[_header(pool) for pool in each.pools] for each in graph.classes]
    _write(nodes, ("id:ID", ":LABEL", NAME, *(name for each in own for name in each)), _node_rows(graph))
    types = [_header(each.pool) for each in graph.relations]
    _write(edges, (":START_ID", ":TYPE", ":END_ID", *types), _edge_rows(graph))
    return nodes, edges


def _header(pool: Pool) -> str:
    return f"{pool.name}:double" if pool.numbers else pool.name


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def _node_rows(graph: Graph) -> Iterator[Sequence[object]]:
    before, behind = 0, sum(len(each.pools) for each in graph.classes)
    for each in graph.classes:
        behind -= len(each.pools)
        left, right = [""] * before, [""] * behind
        pools = [pool.values for pool in each.pools]
        for node, places in zip(each.members, zip(*each.columns, strict=True), strict=True):
            own: list[Value] = [values[place] for values, place in zip(pools, places, strict=True)]
            yield (f"n{node}", each.label, graph.name(node), *left, *own, *right)
        before += len(each.pools)


def _edge_rows(graph: Graph) -> Iterator[Sequence[object]]:
    for number, each in enumerate(graph.relations):
        left, right = [""] * number, [""] * (len(graph.relations) - number - 1)
        for head, tail, place in zip(each.heads, each.tails, each.column, strict=True):
            yield (f"n{head}", each.type, f"n{tail}", *left, each.pool.values[place], *right)
