"""Of many edges with properties only those on the page are read.

The expected rows are computed here, in Python, over the triples of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Count, Entity, Stop
from kgnav_mcp.navigation.plans.evaluate import evaluator
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.services import Oxigraph, Virtuoso

EX = "http://ex.example/"
PERSONS, MANY = 60, 40
_CHANCE = Random(3)  # noqa: S311 - a graph for tests
KNOWS = sorted({(f"p{_CHANCE.randrange(PERSONS)}", f"p{_CHANCE.randrange(PERSONS)}") for _ in range(200)})
SINCE = {edge: 1990 + n % 30 for n, edge in enumerate(KNOWS) if n % 7}
"""Some edges have no year."""
NAMES = {f"p{n}": f"Name {n % 25:02}" for n in range(PERSONS)}
"""Some persons share a name."""
TURTLE = "\n".join(
    (
        f"@prefix ex: <{EX}> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        *(f'ex:{person} a ex:Person ; rdfs:label "{name}" .' for person, name in NAMES.items()),
        *(f"ex:{one} ex:knows ex:{other} ." for one, other in KNOWS),
        *(
            f"[] a rdf:Statement ; rdf:subject ex:{one} ; rdf:predicate ex:knows ; rdf:object ex:{other} ; "
            f"ex:since {year} ."
            for (one, other), year in SINCE.items()
        ),
    )
)
LAST = 3_000
"""A year after all others: nulls are the largest values."""
Row = tuple[object, ...]
EDGES = [(f"ex:{one}", f"ex:{other}", SINCE.get((one, other))) for one, other in KNOWS]


def _named(one: str, other: str) -> tuple[str, str, int]:
    return NAMES[one], NAMES[other], SINCE.get((one, other), LAST)


BY_NAMES: list[Row] = [
    (one, other, None if year == LAST else year) for one, other, year in sorted(_named(*edge) for edge in KNOWS)
]
BY_YEAR: list[Row] = sorted((row for row in EDGES if row[2] is not None), key=lambda row: (row[2], row[0], row[1]))
PLANS: dict[str, Sequence[Row]] = {
    "MATCH (a:Person)-[r:knows]->(b) RETURN a, b, r.since": EDGES,
    "MATCH (a)-[r:knows]->(b) RETURN a, b, r.since ORDER BY a DESC, b": sorted(
        sorted(EDGES, key=lambda row: row[1]), key=lambda row: row[0], reverse=True
    ),
    "MATCH (a:Person)-[r:knows]->(b:Person) RETURN a.name, b.name, r.since": BY_NAMES,
    "MATCH (a:Person)-[r:knows]->(b:Person) RETURN a.name, b.name, r.since ORDER BY a.name SKIP 4 LIMIT 60": BY_NAMES[
        4:64
    ],
    "MATCH (a:Person)-[r:knows]->(b) WHERE r.since >= 2010 RETURN a, b, r.since": [
        row for row in EDGES if row[2] is not None and row[2] >= 2010
    ],
    "MATCH (a)-[r:knows]->(b) RETURN a, b, r.since ORDER BY r.since LIMIT 9": BY_YEAR[:9],
    "MATCH (a)-[r:knows]->(b) RETURN a, b ORDER BY r.since SKIP 5 LIMIT 60": [row[:2] for row in BY_YEAR[5:65]],
}
"""Plans with their rows, in the order of the answer."""


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evaluator, "_MANY_EDGES", MANY)


async def _rows(adapter: GraphAdapter, text: str, limit: int) -> list[Row]:
    """The rows of all pages."""
    runner = PlanRunner(adapter)
    checked = await runner.check(parse_plan(text).plan)
    assert not checked.problems
    rows: list[Row] = []
    after: str | None = None
    while True:
        page = await runner.run(checked.plan, limit=limit, after=after)
        rows += [tuple(one.id if isinstance(one, Entity) else one for one in row.cells) for row in page.items]
        if page.stop is Stop.COMPLETE:
            assert page.total == Count(len(rows))
            return rows
        after = page.positions[-1]


class PagesOfEdges:
    """What holds on each store."""

    @pytest.mark.parametrize(("text", "expected"), PLANS.items())
    async def test_all_pages_have_the_edges_in_order_with_their_properties(
        self, location: str, text: str, expected: Sequence[Row]
    ):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _rows(adapter, text, 50) == expected


class TestOnOxigraph(PagesOfEdges):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("pages-of-edges", TURTLE)


class TestOnVirtuoso(PagesOfEdges):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("pages-of-edges", TURTLE)


@pytest.mark.parametrize("text", [next(iter(PLANS)), "MATCH (a)-[r:knows]->(b) RETURN a, b, r.since ORDER BY r.since"])
async def test_properties_are_read_of_the_edges_around_the_page_only(text: str):
    client = InProcess(TURTLE)
    async with opened_over(client, HERE) as adapter:
        runner = PlanRunner(adapter)
        checked = await runner.check(parse_plan(text).plan)
        client.queries.clear()
        page = await runner.run(checked.plan, limit=5)
    assert page.total == Count(len(KNOWS))
    read = sum(query.count(f"<{EX}knows>") for query in client.queries if "?q ?v" in query)
    assert 0 < read < len(KNOWS) / 3
