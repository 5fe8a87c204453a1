"""Answers that have more rows than may be held are read in pages, on stores that match single patterns.

The expected rows are computed here, in Python, over the triples of the graph.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from random import Random

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import InvalidCursor, InvalidPlan, PlanTooLarge
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Count, Entity, Stop
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.plans.comparing import hold_in_part
from tests.services import Oxigraph, RdfService, Virtuoso

EX = "http://ex.example/"
FILMS, ACTORS, BOUND = 60, 45, 150
"""There are more edges than rows may be held, and fewer films or actors."""
_CHANCE = Random(5)  # noqa: S311 - a graph for tests
STARRED = sorted(
    {(f"film{_CHANCE.randrange(FILMS)}", f"actor{int(ACTORS * _CHANCE.random() ** 2)}") for _ in range(500)}
)
NAMES = {f"actor{n}": f"{_CHANCE.choice(['Ann', 'bea', 'Édith'])} {n % 20}" for n in range(ACTORS)}
"""Some actors share a name."""
YEARS = {f"film{n}": 1990 + n % 7 for n in range(FILMS) if n % 5}
"""Some films have no year."""
EDGE = "MATCH (f)-[:starred]->(a)"
LAST = 10_000
"""A year after that of every film: nulls are the largest values."""

EXPECTED = {
    f"{EDGE} RETURN f, a": [(f"ex:{film}", f"ex:{actor}") for film, actor in STARRED],
    f"{EDGE} RETURN a.name, f.year": sorted(
        ((NAMES[actor], YEARS.get(film)) for film, actor in STARRED), key=lambda row: (row[0], row[1] or LAST)
    ),
    f"{EDGE} RETURN DISTINCT a.name, f": sorted({(NAMES[actor], f"ex:{film}") for film, actor in STARRED}),
    f"{EDGE} RETURN f.year, a ORDER BY f.year DESC": sorted(
        sorted((YEARS.get(film), f"ex:{actor}") for film, actor in STARRED if film in YEARS)
        + sorted((None, f"ex:{actor}") for film, actor in STARRED if film not in YEARS),
        key=lambda row: -(row[0] or LAST),
    ),
    f"{EDGE} RETURN f, a ORDER BY a.name DESC SKIP 7": [
        (f"ex:{film}", f"ex:{actor}")
        for film, actor in sorted(sorted(STARRED), key=lambda edge: NAMES[edge[1]], reverse=True)
    ][7:],
    f"{EDGE} RETURN f, a ORDER BY a.name SKIP 3 LIMIT 11": [
        (f"ex:{film}", f"ex:{actor}") for film, actor in sorted(sorted(STARRED), key=lambda edge: NAMES[edge[1]])
    ][3:14],
}
"""Plans with the rows that they have."""

PERSONS = 260
AGES = {n: (20 + n % 9) / 2 for n in range(PERSONS) if n % 13}
"""Some have none."""
CITIES = {n: ["Ulm", "Åre", "Bern", "aix"][n % 4] for n in range(PERSONS)}
_AGED = sorted((age, f"ex:person{n}") for n, age in AGES.items())
SORTED_BY_VALUES = {
    "MATCH (p:Person) WHERE p.age IS NOT NULL RETURN p.age, p": _AGED,
    "MATCH (p:Person) WHERE p.age IS NOT NULL RETURN p.age, p ORDER BY p.age DESC, p SKIP 2 LIMIT 9": sorted(
        _AGED, key=lambda row: -row[0]
    )[2:11],
    "MATCH (p:Person) RETURN p, p.age ORDER BY p.age LIMIT 5": [(name, age) for age, name in _AGED[:5]],
    "MATCH (p:Person) RETURN p, p.age ORDER BY p.age LIMIT 140": [(name, age) for age, name in _AGED[:140]],
    "MATCH (p:Person) WHERE p.age IS NOT NULL RETURN p.city, p.age, p": sorted(
        (CITIES[n], age, f"ex:person{n}") for n, age in AGES.items()
    ),
}
"""There are more persons than rows may be held."""

TURTLE = "\n".join(
    (
        "@prefix ex: <http://ex.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        *(f"ex:{film} ex:starred ex:{actor} ." for film, actor in STARRED),
        *(f'ex:{actor} rdfs:label "{name}" .' for actor, name in NAMES.items()),
        *(f"ex:{film} ex:year {year} ." for film, year in YEARS.items()),
        *(f'ex:film{n} ex:tag "new" .' for n in range(FILMS)),
        'ex:film59 ex:genre "war", "drama" .',
        *(f"ex:person{n} a ex:Person ." for n in range(PERSONS)),
        *(f"ex:person{n} ex:age {age} ." for n, age in AGES.items()),
        *(f'ex:person{n} ex:city "{city}" .' for n, city in CITIES.items()),
    )
)
MORE = (
    "MATCH (a)<-[:starred]-(f)-[:starred]->(b) RETURN a.name, b.name ORDER BY b.name DESC",
    "MATCH (a)<-[:starred]-(f)-[:starred]->(b) RETURN DISTINCT a.name, b.name SKIP 5",
    "MATCH (f)-[r:starred]->(a) RETURN a, type(r), f",
    f"{EDGE} WITH f, a ORDER BY toUpper(a.name), f LIMIT 9 MATCH (a)<-[:starred]-(g) RETURN f, a, g",
    f"{EDGE} WITH f, a ORDER BY a.name SKIP 2 LIMIT 40 WHERE f.year > 1992 RETURN f, a",
    f"{EDGE} WHERE f.year >= 1991 RETURN f, a ORDER BY f.tag",
    f"{EDGE} RETURN f.tag, a.name",
    f"{EDGE} RETURN 1 AS one, a.name, f ORDER BY one DESC",
)
"""Plans whose rows are those of the same plan where they may be held."""


async def _checked(adapter: GraphAdapter, text: str) -> Plan:
    checked = await PlanRunner(adapter).check(parse_plan(text).plan)
    assert not checked.problems
    return checked.plan


async def _rows(adapter: GraphAdapter, plan: Plan, limit: int) -> list[tuple[object, ...]]:
    """The rows of all pages."""
    rows: list[tuple[object, ...]] = []
    after: str | None = None
    while True:
        page = await evaluate(adapter, plan, limit=limit, after=after, bound=BOUND)
        rows += [tuple(one.id if isinstance(one, Entity) else one for one in row.cells) for row in page.items]
        if page.stop is Stop.COMPLETE:
            assert page.total == Count(len(rows))
            return rows
        assert page.total.value > len(rows)
        after = page.positions[-1]


class LargeAnswers:
    """What holds on each store."""

    @pytest.mark.parametrize(("text", "expected"), EXPECTED.items())
    async def test_all_pages_have_the_rows_of_the_answer_in_its_order(
        self, location: str, text: str, expected: list[tuple[object, ...]]
    ):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _rows(adapter, await _checked(adapter, text), 100) == expected

    @pytest.mark.parametrize("text", MORE)
    async def test_a_plan_answers_as_where_its_rows_may_be_held(self, location: str, text: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await hold_in_part(adapter, await _checked(adapter, text), BOUND, 40, 4)

    @pytest.mark.parametrize(("text", "expected"), SORTED_BY_VALUES.items())
    async def test_more_nodes_than_may_be_held_are_grouped_by_the_value_that_they_are_sorted_by(
        self, location: str, text: str, expected: list[tuple[object, ...]]
    ):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _rows(adapter, await _checked(adapter, text), 100) == expected


class TestOnOxigraph(LargeAnswers):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph, file: Path) -> str:
        return _loaded(oxigraph, file)


class TestOnVirtuoso(LargeAnswers):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso, file: Path) -> str:
        return _loaded(virtuoso, file)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "films.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    return path


def _loaded(store: RdfService, path: Path) -> str:
    graph = f"{EX}large-answers"
    store.load(path, graph)
    return f"sparql+{store.url}?default-graph-uri={graph}#prefix.ex={EX}"


@pytest.fixture
async def here() -> AsyncGenerator[GraphAdapter]:
    """The same graph behind an endpoint inside the test."""
    async with opened_over(InProcess(TURTLE), HERE) as adapter:
        yield adapter


async def test_the_first_page_has_the_number_of_all_rows(here: GraphAdapter):
    page = await evaluate(here, await _checked(here, f"{EDGE} RETURN f, a"), limit=3, bound=BOUND)
    assert (len(page.items), page.total, page.stop) == (3, Count(len(STARRED)), Stop.LIMIT)


async def test_distinct_rows_are_counted_by_the_store_or_as_far_as_they_were_read(here: GraphAdapter):
    plan = await _checked(here, f"{EDGE} RETURN DISTINCT a.name, f")
    page = await evaluate(here, plan, limit=3, bound=BOUND)
    assert (page.total, page.stop) == (Count.at_least(4), Stop.LIMIT)


async def test_each_row_has_its_proof(here: GraphAdapter):
    plan = await _checked(here, f"{EDGE} RETURN f, a")
    page = await evaluate(here, plan, limit=20, bound=BOUND, proof=True)
    assert [row.cells for row in page.items] == [(edge.head, edge.tail) for row in page.items for edge in row.proof]
    assert len(page.items) == 20


async def test_a_cursor_of_another_answer_is_refused(here: GraphAdapter):
    page = await evaluate(here, await _checked(here, f"{EDGE} RETURN f, a"), limit=3, bound=BOUND)
    other = await _checked(here, f"{EDGE} RETURN a, f")
    with pytest.raises(InvalidCursor):
        await evaluate(here, other, limit=3, after=page.positions[-1], bound=BOUND)


async def test_a_list_to_sort_by_is_refused_on_every_page(here: GraphAdapter):
    with pytest.raises(InvalidPlan, match="genre"):
        await evaluate(here, await _checked(here, f"{EDGE} RETURN f, a ORDER BY f.genre DESC"), limit=3, bound=BOUND)


@pytest.mark.parametrize(
    "text",
    [
        f"{EDGE} RETURN f.tag, 1 AS one",  # all rows are equal
        f"{EDGE} WHERE a.name < toString(f.year) OR a.name > 'A' RETURN f, a",  # the store does not take the condition
    ],
)
async def test_rows_that_cannot_be_told_apart_in_part_are_refused(here: GraphAdapter, text: str):
    with pytest.raises(PlanTooLarge):
        await evaluate(here, await _checked(here, text), limit=3, bound=BOUND)
