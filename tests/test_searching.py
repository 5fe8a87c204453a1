"""Searches for paths, beside networkx."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from random import Random
from typing import Any, cast

import pytest

from kgnav_mcp.plan import PathKind, PathLength
from kgnav_mcp.port.searching import PathSearch

nx = cast("Any", import_module("networkx"))
Edges = list[tuple[str, str]]
GRAPHS = 150


def random_edges(seed: int) -> Edges:
    random = Random(seed)  # noqa: S311 - graphs to try
    nodes = [f"n{number}" for number in range(random.randint(2, 9))]
    return [(random.choice(nodes), random.choice(nodes)) for _ in range(random.randint(1, 22))]


def found(edges: Edges, *, forward: bool) -> list[tuple[int, ...]]:
    """The edges of the shortest path from n0 to n1, searched for from one of the two."""
    search: PathSearch[str, int] = PathSearch(
        PathLength(PathKind.SHORTEST),
        node_order=str,
        edge_order=lambda edge: edge,
        bound=1_000,
        check=lambda _: None,
        keep_edges=True,
        either=False,
    )
    near, far = ("n0", "n1") if forward else ("n1", "n0")
    asked = search.links([near], frozenset([far]), forward=forward)
    try:
        while True:
            nodes = next(asked)
            ways = ((a, b) if forward else (b, a) for a, b in edges)
            search.add_edges(nodes, [(a, number, b) for number, (a, b) in enumerate(ways) if a in nodes])
    except StopIteration as done:
        return [path for _, path, _ in cast("list[Any]", done.value)]


def expected(edges: Edges) -> list[tuple[int, ...]]:
    """The first of all shortest paths by its nodes, then by its edges."""
    graph = nx.MultiDiGraph(edges)
    graph.add_nodes_from(["n0", "n1"])
    if not nx.has_path(graph, "n0", "n1"):
        return []
    first: list[str] = min(nx.all_shortest_paths(graph, "n0", "n1"))
    return [tuple(edges.index(pair) for pair in pairwise(first))]


@pytest.mark.parametrize("forward", [True, False])
def test_the_first_shortest_path_between_two_nodes_is_that_of_networkx(forward: bool):
    for seed in range(GRAPHS):
        edges = random_edges(seed)
        assert found(edges, forward=forward) == expected(edges), edges
