"""Synthetic graphs by the rules of GraphWalk's generator: classes of nodes and of relationships, pools of values."""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass
from pathlib import Path

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnprstvz"


@dataclass(frozen=True)
class Synthetic:
    """A generated graph: properties of nodes by id, and edges with their properties."""

    classes: dict[str, str]
    nodes: dict[str, dict[str, str]]
    edges: list[tuple[str, str, str, dict[str, str]]]


def generate(
    size: int, classes: int, relationships: int, properties: int, pool: int, *, density: float = 0.02, seed: int = 1
) -> Synthetic:
    """A graph of `size` nodes in some classes, with `relationships` classes between pairs of them.

    Each class has `properties` properties, each with a `pool` of values: words of four to eight letters that mean
    nothing, or numbers. A class of relationships joins its two classes with a density, and has one property.
    """
    chance = random.Random(seed)  # noqa: S311 - a graph, no secret
    names = [_word(chance).capitalize() for _ in range(classes)]
    pools = {name: {_word(chance): _values(chance, pool) for _ in range(properties)} for name in names}
    ids = [f"n{n}" for n in range(size)]
    of_class = {id_: names[n % classes] for n, id_ in enumerate(ids)}
    nodes = {id_: {name: chance.choice(values) for name, values in pools[of_class[id_]].items()} for id_ in ids}
    edges: list[tuple[str, str, str, dict[str, str]]] = []
    for _ in range(relationships):
        kind, (head, tail) = _word(chance).upper(), (chance.choice(names), chance.choice(names))
        key, values = _word(chance), _values(chance, pool)
        edges += [
            (a, kind, b, {key: chance.choice(values)})
            for a in ids
            for b in ids
            if a != b and (of_class[a], of_class[b]) == (head, tail) and chance.random() < density * classes
        ]
    return Synthetic(of_class, nodes, edges)


def write(graph: Synthetic, folder: Path) -> list[Path]:
    """The graph as node and edge file with neo4j-admin's headers."""
    keys = sorted({key for own in graph.nodes.values() for key in own})
    edge_keys = sorted({key for *_, own in graph.edges for key in own})
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    with nodes.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow((":ID", ":LABEL", *keys))
        rows.writerows(
            (id_, graph.classes[id_], *(own.get(key, "") for key in keys)) for id_, own in graph.nodes.items()
        )
    with edges.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow((":START_ID", ":TYPE", ":END_ID", *edge_keys))
        rows.writerows((a, kind, b, *(own.get(key, "") for key in edge_keys)) for a, kind, b, own in graph.edges)
    return [nodes, edges]


def _word(chance: random.Random) -> str:
    length = chance.randint(4, 8)
    return "".join(chance.choice(_VOWELS if n % 2 else _CONSONANTS) for n in range(length))


def _values(chance: random.Random, pool: int) -> list[str]:
    if chance.random() < 0.5:
        return [_word(chance) for _ in range(pool)]
    return [f"{chance.uniform(0, 100):.2f}" for _ in range(pool)]
