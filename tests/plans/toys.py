"""The toy graph, and random ones like it, as the oracle reads them: with the ids of the store that has them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.contract import toy
from tests.contract.toy_views import Tail, View
from tests.plans.graph import Date, Edge, Graph, Node, Plain

_WHOLE = frozenset({"integer", "xsd:integer"})
_NUMBERS = frozenset({"float", "xsd:decimal", "quantity"})
_DATES = frozenset({"date", "datetime", "time", "xsd:date", "xsd:dateTime"})
RELATIONS = ("knows", "dislikes", "eats")
_LABELS = ("Person", "Place", "Sailor")
_TEXTS = ("x", "y", "X", "12", *toy.HOSTILE_TEXTS[:8])


def plain(view: View, nodes: Sequence[toy.Node] = toy.NODES) -> Graph:
    """What a reader of a store sees, as a graph."""
    style = view.style
    names = {style.node_id(node.id): _name(node) for node in nodes}
    names |= view.properties
    called = {style.label_id(label): label for labels in view.types.values() for label in labels}
    own: dict[str, list[tuple[str, Plain]]] = {node: [] for node in view.types}
    edges: list[Edge] = []
    for number, (head, relation, tail, qualifiers) in enumerate(view.rows):
        if isinstance(tail, str):
            facts = tuple((name, _plain(value)) for name, value in qualifiers)
            edges.append(Edge(number, head, relation, tail, facts))
        else:
            own[head].append((relation, _plain(tail)))
    found = {
        node: Node(
            node,
            frozenset(style.label_id(label) for label in labels),
            tuple(own[node]),
            names.get(node, called.get(node)),
        )
        for node, labels in view.types.items()
    }
    return Graph(found, tuple(edges), called=called)


def _name(node: toy.Node) -> str | None:
    """What a node is called by one who reads English first."""
    languages = [value.language for value in node.names]
    for wanted in ("en", None):
        if wanted in languages:
            return node.names[languages.index(wanted)].text
    return node.names[0].text if node.names else None


def _plain(tail: Tail) -> Plain:
    assert not isinstance(tail, str)
    text, datatype, _ = tail
    if datatype in _WHOLE or (datatype == "quantity" and text.lstrip("-").isdigit()):
        return int(text)
    if datatype in _NUMBERS:
        return float(text)
    if datatype in {"boolean", "xsd:boolean"}:
        return text == "true"
    return Date(text) if datatype in _DATES else text


def random_toy(seed: int) -> tuple[list[toy.Node], list[toy.Edge]]:
    """A small graph by chance: parallel edges, some alike, loops, nodes without labels, several values, dates."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    nodes = [
        toy.Node(
            f"n{number}",
            tuple(sorted(chance.sample(_LABELS, chance.choice((0, 1, 1, 1, 2))))),
            toy.name(chance.choice((f"Node {number}", "Twin", "twin", toy.HOSTILE_TEXTS[number % 8]))),
            properties=tuple(_some(chance, 0, 5)),
        )
        for number in range(chance.randint(4, 8))
    ]
    ids = [node.id for node in nodes]
    edges: list[toy.Edge] = []
    for _ in range(chance.randint(5, 14)):
        if edges and chance.random() < 0.15:
            edges.append(chance.choice(edges))
            continue
        head, tail = chance.choice(ids), chance.choice(ids)
        relation = chance.choice((*RELATIONS, RELATIONS[0]))
        edges.append(toy.Edge(head, relation, tail, tuple(_some(chance, 0, 2))))
    return nodes, edges


def large_toy(seed: int = 1, size: int = 320) -> tuple[list[toy.Node], list[toy.Edge]]:
    """A graph by chance that is large enough for a store to choose other ways to a plan's rows than on a small one.

    It has what `random_toy` has, names in several languages and none, and nodes with many edges. Parallel edges have
    qualifiers, by which every store with qualifiers keeps them apart.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    languages = (("en",), ("en", "de"), ("de", "fr"), (None,), (None,), ())
    nodes = [
        toy.Node(
            f"n{number}",
            tuple(sorted(chance.sample(_LABELS, chance.choice((0, 1, 1, 1, 2, 3))))),
            tuple(
                toy.Value(f"{chance.choice(('Node', 'Twin', 'node'))} {number // 2}", language=language)
                for language in chance.choice(languages)
            ),
            properties=tuple(_some(chance, 0, 5)),
        )
        for number in range(size)
    ]
    edges: dict[tuple[str, str, str], list[toy.Edge]] = {}
    for _ in range(2 * size):
        head, tail = (f"n{min(chance.randrange(size), chance.randrange(size))}" for _ in range(2))
        relation = chance.choice((*RELATIONS, RELATIONS[0]))
        own = tuple(dict(_some(chance, 0, 2)).items())
        parallel = edges.setdefault((head, relation, tail), [])
        if not parallel or (own and parallel[0].qualifiers):
            parallel.append(toy.Edge(head, relation, tail, own))
    ends = {end for head, _, tail in edges for end in (head, tail)}
    for node in nodes:
        if not node.names and node.id not in ends:  # a graph file names it by its IRI, as it cannot be a mediator
            edges[node.id, RELATIONS[0], "n0"] = [toy.Edge(node.id, RELATIONS[0], "n0")]
    return nodes, [edge for parallel in edges.values() for edge in parallel]


def _some(chance: random.Random, fewest: int, most: int) -> list[tuple[str, toy.Value]]:
    """Properties with values, each pair once: some properties have several."""
    made = [_property(chance) for _ in range(chance.randint(fewest, most))]
    return list(dict.fromkeys(made))


def _property(chance: random.Random) -> tuple[str, toy.Value]:
    match chance.choice(("age", "height", "tag", "tag", "alive", "born", "since", "until")):
        case "age":
            return "age", toy.Value(str(chance.choice((0, 1, 2, 3, -3, 36))), "integer")
        case "height":
            return "height", toy.Value(str(chance.choice((0.5, 1.0, 2.25, -1.5))), "decimal")
        case "alive":
            return "alive", toy.Value(chance.choice(("true", "false")), "boolean")
        case "tag":
            return "tag", toy.Value(chance.choice(_TEXTS))
        case "born":
            return "born", toy.Value(chance.choice(("1815-12-10", "1815-12-11", "1999-01-01")), "date")
        case name:
            return name, toy.Value(str(chance.randint(1830, 1835)), "integer")
