"""Paths of any length: each is a match, as in Cypher, and where only distinct ends matter none is listed."""

from __future__ import annotations

import random
from typing import Any, cast

import networkx as nx
import pytest

from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.pushdown.reachability import has_unbounded_paths, with_reachability
from kgnav_mcp.plan import PathKind, PathLength
from kgnav_mcp.port.path_search import EdgeRequest, PathSearch

Edges = list[tuple[int, int]]


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)-[:R*]->(b) RETURN DISTINCT b",
        "MATCH (a)-[:R*0..]-(b) RETURN count(DISTINCT b), min(b.x), collect(DISTINCT a)",
        "MATCH (a)-[:R*]->(b) WITH b RETURN DISTINCT b.x",
        "MATCH (a)-[:R*]->(b) RETURN b UNION MATCH (b) RETURN b",
        "MATCH (a) WHERE EXISTS { (a)-[:R*]->(b) } RETURN a",
        "MATCH (a)-[:S]->(c)-[:R*]->(b) RETURN DISTINCT b",
        "OPTIONAL MATCH (a)-[:R*]->(b) RETURN DISTINCT b",
    ],
)
def test_paths_of_which_only_distinct_ends_matter_are_not_listed(text: str):
    assert not has_unbounded_paths(with_reachability(parse_cypher(text)))


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)-[:R*]->(b) RETURN b",
        "MATCH (a)-[:R*]->(b) RETURN count(*)",
        "MATCH (a)-[:R*]->(b) RETURN DISTINCT b, count(b)",
        "MATCH (a)-[:R*]->(b) RETURN DISTINCT count(*)",
        "MATCH p = (a)-[:R*]->(b) RETURN DISTINCT length(p)",
        "MATCH (a)-[r:R*]->(b) RETURN DISTINCT size(r)",
        "MATCH (a)-[:R*2..]->(b) RETURN DISTINCT b",
        "MATCH (a)-[:R*]->(b) WITH b LIMIT 3 RETURN DISTINCT b",
        "MATCH (a)-[:R*]->(b) WITH b, count(*) AS n RETURN DISTINCT b",
        "MATCH (a)-[:R*]->(b) RETURN b UNION ALL MATCH (b) RETURN b",
        "MATCH (a) WHERE COUNT { (a)-[:R*]->(b) } > 1 RETURN DISTINCT a",
        "MATCH (a)-[:R]->(c)-[:R*]->(b) RETURN DISTINCT b",
        "MATCH (a)-->(c)-[:R*]->(b) RETURN DISTINCT b",
        "MATCH (a)-[:R*]->(c)<-[:R*]-(b) RETURN DISTINCT c",
    ],
)
def test_paths_that_count_or_share_edges_with_their_pattern_are_all_matched(text: str):
    written = parse_cypher(text)
    assert with_reachability(written) == written


def _pairs(edges: Edges, kind: PathKind, *, shortest: int, either: bool) -> set[tuple[int, int]]:
    """The ends that a search of all nodes finds."""
    search = PathSearch[int, int](
        PathLength(kind, shortest),
        node_order=str,
        edge_order=str,
        bound=10**6,
        check=lambda _rows, _edges: None,
        keep_edges=True,
        either=either,
    )
    steps = [(head, number, tail) for number, (head, tail) in enumerate(edges)]
    if either:
        steps += [(tail, number, head) for head, number, tail in steps if head != tail]
    paths = search.paths(range(5), None, forward=True)
    try:
        while True:
            request = next(paths)
            if isinstance(request, EdgeRequest):
                search.add_edges(request, [step for step in steps if step[0] in request.nodes])
    except StopIteration as done:
        found = done.value
    assert kind is not PathKind.REACHABLE or len(found) == len({(start, end) for start, _, end in found})
    assert all(len(set(way)) == len(way) for _, way, _ in found)
    return {(start, end) for start, _, end in found}


@pytest.mark.parametrize("either", [False, True])
@pytest.mark.parametrize("shortest", [0, 1])
def test_what_can_be_reached_are_the_ends_of_all_paths_without_a_repeated_edge(shortest: int, either: bool):
    chance = random.Random(7)  # noqa: S311 - not a secret
    for _ in range(60):
        edges = [(chance.randrange(5), chance.randrange(5)) for _ in range(chance.randrange(7))]
        reached = _pairs(edges, PathKind.REACHABLE, shortest=shortest, either=either)
        assert reached == _pairs(edges, PathKind.TRAILS, shortest=shortest, either=either), edges
        graph = cast("Any", nx.MultiGraph if either else nx.MultiDiGraph)(edges)
        graph.add_nodes_from(range(5))
        others = {(start, end) for start in range(5) for end in cast("Any", nx).descendants(graph, start)}
        assert {pair for pair in reached if pair[0] != pair[1]} == others, edges
