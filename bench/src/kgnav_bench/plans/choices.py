"""Random choices in a synthetic graph: classes, values that occur, and paths of two relationships."""

from __future__ import annotations

import random

from kgnav_bench.plans.synthetic import Graph, NodeClass, RelationClass, Value


def literal(value: Value) -> str:
    """A value as a Cypher literal. No text in these graphs needs escaping."""
    return f"'{value}'" if isinstance(value, str) else repr(value)


def occurring_value(chance: random.Random, node_class: NodeClass) -> tuple[str, Value]:
    """A property of a class, and a value of it that at least one node has."""
    place = chance.randrange(len(node_class.pools))
    pool = node_class.pools[place]
    return pool.name, pool.values[chance.choice(node_class.columns[place])]


def two_hops(chance: random.Random, graph: Graph) -> tuple[RelationClass, RelationClass]:
    """Two types of relationships, of which the second starts where the first ends."""
    place = chance.randrange(len(graph.relations) - 1)
    return graph.relations[place], graph.relations[place + 1]


def way(chance: random.Random, first: RelationClass, second: RelationClass) -> tuple[int, int, int] | None:
    """Three nodes joined by two relationships, from a random start; None if no such path was found."""
    tails = dict[int, int]()
    for head, tail in zip(second.heads, second.tails, strict=True):
        tails.setdefault(head, tail)
    for _ in range(100):
        place = chance.randrange(len(first.heads))
        middle = first.tails[place]
        if middle in tails:
            return first.heads[place], middle, tails[middle]
    return None
