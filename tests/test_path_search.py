"""Searches for paths, beside networkx."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise, product
from random import Random
from typing import Any, cast

import pytest

from kgnav_mcp.plan import PathKind, PathLength
from kgnav_mcp.port.path_search import EDGES_PER_ROW, CountRequest, PathSearch

nx = cast("Any", import_module("networkx"))
Edges = list[tuple[str, str]]
GRAPHS = 150


def random_edges(seed: int) -> Edges:
    random = Random(seed)  # noqa: S311 - graphs to try
    nodes = [f"n{number}" for number in range(random.randint(2, 9))]
    return [(random.choice(nodes), random.choice(nodes)) for _ in range(random.randint(1, 22))]


class TooManyError(Exception):
    """More rows than the bound."""


def found(
    edges: Edges,
    length: PathLength,
    starts: list[str],
    ends: list[str] | None,
    *,
    forward: bool = True,
    either: bool = False,
    bound: int = 10_000,
    degrees: bool = False,
    read: list[str] | None = None,
) -> list[tuple[int, ...]]:
    """The edges of the paths from the starts to the ends. `read` receives the nodes whose edges were read."""

    def check(rows: int, edges: int) -> None:
        if max(rows, edges // EDGES_PER_ROW) > bound:
            raise TooManyError

    def steps(nodes: Sequence[str], incoming: bool) -> list[tuple[str, int, str]]:
        ways = [((b, a) if incoming else (a, b), number) for number, (a, b) in enumerate(edges)]
        ways += [((b, a), number) for number, (a, b) in enumerate(edges) if either and a != b]
        return [(a, number, b) for (a, b), number in ways if a in nodes]

    def count(nodes: Sequence[str], incoming: bool) -> int:
        return len(steps(nodes, incoming)) if degrees else len(nodes)

    search: PathSearch[str, int] = PathSearch(
        length,
        node_order=str,
        edge_order=lambda edge: edge,
        bound=bound,
        check=check,
        keep_edges=True,
        either=either,
    )
    near, far = (starts, ends) if forward else (ends or [], starts)
    paths = search.paths(near, None if far is None else frozenset(far), forward=forward)
    counted: int | None = None
    try:
        while True:
            request = paths.send(counted)
            if isinstance(request, CountRequest):
                counted = count(request.nodes, request.incoming)
                continue
            counted = None
            (read if read is not None else []).extend(request.nodes)
            search.add_edges(request, steps(request.nodes, request.incoming))
    except StopIteration as done:
        return [path for _, path, _ in cast("list[Any]", done.value)]


def shortest(edges: Edges, *, either: bool) -> list[list[str]]:
    """The nodes of all shortest paths from n0 to n1, in order."""
    graph = nx.MultiGraph(edges) if either else nx.MultiDiGraph(edges)
    graph.add_nodes_from(["n0", "n1"])
    return sorted(nx.all_shortest_paths(graph, "n0", "n1")) if nx.has_path(graph, "n0", "n1") else []


def ways(edges: Edges, nodes: list[str], *, either: bool) -> list[tuple[int, ...]]:
    """All paths through these nodes, as their edges."""
    choices = [
        [number for number, one in enumerate(edges) if one == pair or (either and one == pair[::-1])]
        for pair in pairwise(nodes)
    ]
    return list(product(*choices))


@pytest.mark.parametrize("either", [True, False])
@pytest.mark.parametrize("degrees", [True, False])
@pytest.mark.parametrize("forward", [True, False])
def test_the_shortest_paths_between_two_nodes_are_those_of_networkx(forward: bool, degrees: bool, either: bool):
    for seed in range(GRAPHS):
        edges = random_edges(seed)
        expected = shortest(edges, either=either)
        one, every, bounded, longer = (
            found(edges, length, ["n0"], ["n1"], forward=forward, degrees=degrees, either=either)
            for length in (
                PathLength(PathKind.SHORTEST),
                PathLength(PathKind.ALL_SHORTEST),
                PathLength(PathKind.ALL_SHORTEST, 1, 2),
                PathLength(PathKind.SHORTEST, 3),
            )
        )
        all_ways = [way for nodes in expected for way in ways(edges, nodes, either=either)]

        assert one == ([min(ways(edges, expected[0], either=either))] if expected else []), edges
        assert sorted(every) == sorted(all_ways), edges
        assert sorted(bounded) == sorted(way for way in all_ways if len(way) <= 2), edges
        assert longer == [way for way in one if len(way) >= 3], edges


@pytest.mark.parametrize("kind", [PathKind.SHORTEST, PathKind.ALL_SHORTEST])
def test_shortest_paths_between_few_pairs_are_found_for_each_of_them(kind: PathKind):
    for seed in range(GRAPHS):
        edges = random_edges(seed)
        starts, ends = ["n0", "n2"], ["n1", "n3"]
        single = [found(edges, PathLength(kind), [start], [end]) for start in starts for end in ends]

        assert sorted(found(edges, PathLength(kind), starts, ends)) == sorted(way for ways in single for way in ways)


def test_the_edges_of_a_hub_are_not_read_where_both_ends_meet_in_it():
    edges = [(f"leaf{number}", "hub") for number in range(500)]
    edges += [("n0", "hub"), ("n0", "a"), ("n1", "b"), ("n1", "hub")]
    read: list[str] = []

    assert found(edges, PathLength(PathKind.SHORTEST), ["n0"], ["n1"], either=True, degrees=True, read=read) == [
        (500, 503)
    ]
    assert set(read) == {"n0", "n1"}


def test_a_hub_at_one_end_is_read_only_if_the_other_end_leads_to_no_path():
    edges = [("n0", f"leaf{number}") for number in range(500)] + [("leaf7", "x"), ("x", "n1")]
    read: list[str] = []

    assert found(edges, PathLength(PathKind.SHORTEST), ["n0"], ["n1"], degrees=True, read=read) == [(7, 500, 501)]
    assert "n0" not in read


def test_a_hub_with_more_edges_than_the_bound_is_refused_before_they_are_read():
    edges = [(f"leaf{number}", f"n{number % 2}") for number in range(500)]
    read: list[str] = []

    with pytest.raises(TooManyError):
        found(edges, PathLength(PathKind.SHORTEST), ["n0"], ["n1"], either=True, degrees=True, bound=200, read=read)
    assert read == []


def test_shortest_paths_that_are_too_long_together_are_refused_while_they_are_searched():
    chain = [(f"n{number}", f"n{number + 1}") for number in range(400)]
    read: list[str] = []

    with pytest.raises(TooManyError):
        found(chain, PathLength(PathKind.SHORTEST), ["n0"], None, bound=500, read=read)
    assert len(read) < 120
