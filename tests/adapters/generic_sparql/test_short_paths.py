"""Paths of a few lengths between nodes of two labels are matched by the store, each length for itself.

The expected rows are computed here, in Python.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Entity
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.services import Oxigraph, Virtuoso

EX = "http://ex.example/"
NODES, BOUND = 60, 100
_CHANCE = Random(3)  # noqa: S311 - a graph for tests
EDGES = sorted({(_CHANCE.randrange(NODES), _CHANCE.choice("rs"), _CHANCE.randrange(NODES)) for _ in range(200)})
LABELS = {n: "ABC"[n % 3] for n in range(NODES)}
TURTLE = "\n".join(
    (
        f"@prefix ex: <{EX}> .",
        *(f'ex:n{n} a ex:{label} ; ex:key "{n}" .' for n, label in LABELS.items()),
        *(f"ex:n{source} ex:{relation} ex:n{target} ." for source, relation, target in EDGES),
        "ex:A a ex:Kind . ex:B a ex:Kind .",
    )
)
Trail = tuple[tuple[int, str, int], ...]


def _trails(shortest: int, longest: int) -> list[Trail]:
    found: list[Trail] = []
    trails: list[Trail] = [(edge,) for edge in EDGES]
    for length in range(1, longest + 1):
        found += trails if length >= shortest else []
        trails = [
            (*trail, edge) for trail, edge in product(trails, EDGES) if trail[-1][2] == edge[0] and edge not in trail
        ]
    return found


def _pairs(trails: list[Trail], source: str, target: str) -> Counter[tuple[str, str]]:
    """The pairs of ends with these labels, and the number of trails between them."""
    ends = ((trail[0][0], trail[-1][2]) for trail in trails)
    return Counter((f"ex:n{one}", f"ex:n{end}") for one, end in ends if (LABELS[one], LABELS[end]) == (source, target))


def _followed(trails: list[Trail]) -> list[Trail]:
    """The trails with each edge of `r` that may follow them."""
    return [
        (*trail, edge)
        for trail, edge in product(trails, EDGES)
        if trail[-1][2] == edge[0] and edge[1] == "r" and edge not in trail
    ]


_OF_R = [trail for trail in _trails(1, 3) if {edge[1] for edge in trail} == {"r"}]
_BEFORE = [trail for trail in _trails(1, 2) if {edge[1] for edge in trail} <= {"r", "s"}]
EXPECTED = {
    "MATCH (a:A)-[:r|s*1..2]->(b:B) RETURN a, b": sorted(_pairs(_BEFORE, "A", "B").elements()),
    "MATCH (a:A)-[:r*1..3]->(b:B) RETURN DISTINCT a, b": sorted(_pairs(_OF_R, "A", "B")),
    "MATCH (a:A)-[:r|s*1..2]->(b:B)-[:r]->() RETURN a, b": sorted(
        _pairs([trail[:-1] for trail in _followed(_BEFORE)], "A", "B").elements()
    ),
    "MATCH (a:A)-[:r|s*2..2]->(b:B) RETURN count(*)": [
        (_pairs([trail for trail in _BEFORE if len(trail) == 2], "A", "B").total(),)
    ],
    "MATCH (a:A)-[:r|s*1..2]->(b:B) RETURN count(DISTINCT b)": [(len({b for _, b in _pairs(_BEFORE, "A", "B")}),)],
    "MATCH (a:A)-[:r|s*1..2]->(b:B) RETURN a, count(*) AS n ORDER BY n DESC, a LIMIT 3": sorted(
        Counter(a for a, _ in _pairs(_BEFORE, "A", "B").elements()).items(), key=lambda each: (-each[1], each[0])
    )[:3],
}


async def _rows(adapter: GraphAdapter, text: str, bound: int) -> list[tuple[object, ...]]:
    checked = await PlanRunner(adapter).check(parse_plan(text).plan)
    assert not checked.problems
    page = await evaluate(adapter, checked.plan, limit=10_000, bound=bound)
    return [tuple(one.id if isinstance(one, Entity) else one for one in row.cells) for row in page.items]


class ShortPaths:
    """What holds on each store."""

    @pytest.mark.parametrize(("text", "expected"), EXPECTED.items())
    async def test_paths_of_all_lengths_are_found(self, location: str, text: str, expected: list[tuple[object, ...]]):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _rows(adapter, text, 10_000) == expected

    async def test_paths_are_grouped_by_their_ends_where_they_are_too_many_to_be_held(self, location: str):
        trails = [trail for trail in _trails(1, 3) if {edge[1] for edge in trail} <= {"r", "s"}]
        pairs = _pairs(trails, "A", "B")
        ends = {a for a, _ in pairs}
        assert len(ends) < BOUND < pairs.total()
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _rows(adapter, "MATCH (a:A)-[:r|s*1..3]->(b:B) RETURN a, count(*)", BOUND) == sorted(
                Counter(a for a, _ in pairs.elements()).items()
            )

    async def test_an_edge_of_any_relation_may_lead_to_a_type(self, location: str):
        edges = sum(LABELS[source] == "A" for source, _, _ in EDGES)
        types = sum(label == "A" for label in LABELS.values())
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _rows(adapter, "MATCH (a:A)-->() RETURN count(*)", BOUND) == [(edges + types,)]

    async def test_more_pairs_than_may_be_held_are_refused(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            with pytest.raises(PlanTooLarge):
                await _rows(adapter, "MATCH (a)-[:r|s*1..3]->(b) WHERE a:A OR a:B RETURN a, b", BOUND)


async def test_sizes_are_those_of_the_plan_and_not_of_paths_of_one_length():
    async with opened_over(InProcess(TURTLE), HERE) as adapter:
        text = "MATCH (a:A)-[:r*1..3]->(b:B) RETURN a, b"
        runner = PlanRunner(adapter)
        page = await runner.run((await runner.check(parse_plan(text).plan)).plan, limit=3)
        with pytest.raises(PlanTooLarge) as caught:
            await _rows(adapter, text, 20)
    pairs = _pairs(_OF_R, "A", "B")
    assert [(size.part, size.count.value) for size in page.sizes] == [
        ("(a:`ex:A`)", len({a for a, _ in pairs})),
        ("(b:`ex:B`)", len({b for _, b in pairs})),
        ("(a)-[:`ex:r`*1..3]->(b)", pairs.total()),
    ]
    assert all("\0" not in size.part and size.part != "(a)-[:`ex:r`]->(b)" for size in caught.value.sizes)


class TestOnOxigraph(ShortPaths):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("short-paths", TURTLE)


class TestOnVirtuoso(ShortPaths):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("short-paths", TURTLE)
