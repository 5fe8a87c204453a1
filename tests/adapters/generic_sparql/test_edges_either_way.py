"""Edges that may have either direction, beside conditions on their ends: Virtuoso and Oxigraph count as Python does.

The graph is large enough for Virtuoso to work on several rows at once, where it has lost conditions.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.services import Oxigraph, RdfService, Virtuoso

EX = "http://ex.example/"
GRAPH = EX + "either-way"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NODES = range(300)

_chance = random.Random(3)  # noqa: S311 - repeatable
LABELS = {node: set(_chance.sample("ABCD", _chance.choice([1, 1, 2, 3]))) for node in NODES}
R, S = ({(_chance.choice(NODES), _chance.choice(NODES)) for _ in range(750)} for _ in range(2))


def either_way(edges: set[tuple[int, int]]) -> list[tuple[int, int, tuple[int, int]]]:
    """Both ends of each edge in either order, with the edge. An edge from a node to itself is there once."""
    forth = [(head, tail, (head, tail)) for head, tail in edges]
    return forth + [(tail, head, edge) for head, tail, edge in forth if head != tail]


def walks() -> int:
    """Walks `(a)<--(b)<--(c)--(d)` along distinct edges of S, where d is another node than b and no head of R."""
    has_r = {head for head, _ in R}
    return sum(
        edge not in {(b, a), (c, b)} and (b, a) != (c, b) and d != b and d not in has_r
        for c, b in S
        if LABELS[b] & set("ABC")
        for a in (tail for head, tail in S if head == b)
        for other, d, edge in either_way(S)
        if other == c
    )


def joined_also() -> int:
    """Pairs that R joins in either direction, and S too."""
    return sum((a, b) in S or (b, a) in S for a, b, _ in either_way(R))


def without_third() -> int:
    """Pairs `(a)--(b)` along R where no node c with label A is next to both along distinct edges of S."""
    near: dict[int, set[tuple[int, tuple[int, int]]]] = {node: set() for node in NODES}
    for one, other, edge in either_way(S):
        near[one].add((other, edge))
    return sum(
        not any("A" in LABELS[c] and c == d and first != second for c, first in near[b] for d, second in near[a])
        for a, b, _ in either_way(R)
    )


WALKS = "MATCH (a)<-[:S]-(b:A|B|C)<-[:S]-(c)-[:S]-(d) WHERE d <> b AND NOT EXISTS { (d)-[:R]->() } RETURN count(*)"
PLANS = {
    "MATCH (a:A|C)-[:R]-(b) RETURN count(*)": sum(bool(LABELS[a] & set("AC")) for a, _, _ in either_way(R)),
    WALKS: walks(),
    "MATCH (a)-[:R]-(b) WHERE EXISTS { (b)-[:S]-(a) } RETURN count(*)": joined_also(),
    "MATCH (a)-[:R]-(b) WHERE NOT EXISTS { (b)-[:S]-(c:A)-[:S]-(a) } RETURN count(*)": without_third(),
}
"""Plans with the number that they return."""


@pytest.fixture(
    params=[
        pytest.param("virtuoso", marks=pytest.mark.xdist_group("virtuoso")),
        pytest.param("oxigraph", marks=pytest.mark.xdist_group("oxigraph")),
    ]
)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    store: RdfService = request.getfixturevalue(request.param)
    assert isinstance(store, Virtuoso | Oxigraph)
    triples = [f"<{EX}n{node}> <{TYPE}> <{EX}{label}> .\n" for node, own in LABELS.items() for label in sorted(own)]
    triples += [
        f"<{EX}n{head}> <{EX}{name}> <{EX}n{tail}> .\n"
        for name, edges in (("R", R), ("S", S))
        for head, tail in sorted(edges)
    ]
    path = tmp_path / "edges.nt"
    path.write_text("".join(triples), encoding="utf-8")
    store.load(path, GRAPH)
    return f"sparql+{store.url}?default-graph-uri={GRAPH}#prefix.ex={EX}"


@pytest.mark.parametrize(("cypher", "number"), PLANS.items())
async def test_a_plan_counts_edges_of_either_direction_as_python_does(location: str, cypher: str, number: int):
    async with open_adapter(location, AdapterOptions()) as graph:
        runner = PlanRunner(graph)
        checked = await runner.check(parse_plan(cypher).plan)
        assert [row.cells for row in (await runner.run(checked.plan, limit=2)).items] == [(number,)]


async def test_edges_of_either_direction_are_counted_where_they_are_more_than_may_be_held(location: str):
    async with open_adapter(location, AdapterOptions()) as graph:
        plan = (await PlanRunner(graph).check(parse_plan("MATCH (a)-[:R]-(b) RETURN count(*)").plan)).plan
        assert [row.cells for row in (await evaluate(graph, plan, limit=2, bound=50)).items] == [(len(either_way(R)),)]
