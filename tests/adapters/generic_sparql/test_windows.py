"""Answers with more rows than a store returns at once are read for some nodes of a label, or edges, at a time.

The expected rows are computed here, in Python, over the triples of the graph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from rdflib import Literal

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base.dialects import OXIGRAPH
from kgnav_mcp.adapters.sparql_base.plans import queries, windows
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Entity, Stop
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.services import Virtuoso

EX = "http://ex.example/"
FILMS, CAP = 170, 60
_CHANCE = Random(8)  # noqa: S311 - a graph for tests
STARRED = sorted({(f"film{_CHANCE.randrange(FILMS)}", f"actor{_CHANCE.randrange(40)}") for _ in range(400)})
"""There are more films with actors, and more edges, than the store returns rows."""
NAMES = {f"film{n}": f"Film {n % 90:02}" for n in range(FILMS) if n % 11}
ACTORS = Counter(film for film, _ in STARRED)
TURTLE = "\n".join(
    (
        f"@prefix ex: <{EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        *(f"ex:film{n} a ex:Film ." for n in range(FILMS)),
        *(f"ex:{film} ex:starred ex:{actor} ." for film, actor in STARRED),
        *(f'ex:{film} rdfs:label "{name}" .' for film, name in NAMES.items()),
    )
)
Cells = tuple[object, ...]


def _all_films() -> Iterator[tuple[str, int]]:
    return ((film, ACTORS[film]) for film in sorted(ACTORS))


PLANS: dict[str, list[Cells]] = {
    "MATCH (f:Film)-[:starred]->(a) RETURN f, count(a) AS n": [(f"ex:{film}", n) for film, n in _all_films()],
    "MATCH (f:Film)-[:starred]->(a) RETURN f.name, f, count(a) AS n": [
        (NAMES.get(film), f"ex:{film}", n) for film, n in _all_films()
    ],
    "MATCH (f:Film)-[:starred]->(a) RETURN f, a": [(f"ex:{film}", f"ex:{actor}") for film, actor in STARRED],
    "MATCH (f)-[:starred]->(a) RETURN f.name, a": [(NAMES.get(film), f"ex:{actor}") for film, actor in STARRED],
    "MATCH (f:Film) WHERE NOT (f)-[:starred]->({id: 'ex:actor1'}) RETURN f, f.name": [
        (f"ex:film{n}", NAMES.get(f"film{n}")) for n in range(FILMS) if (f"film{n}", "actor1") not in STARRED
    ],
}
"""Plans with their rows, in any order."""


async def _rows(adapter: GraphAdapter, text: str) -> list[Cells]:
    runner = PlanRunner(adapter)
    checked = await runner.check(parse_plan(text).plan)
    page = await runner.run(checked.plan, limit=1000)
    assert page.stop is Stop.COMPLETE
    return [tuple(one.id if isinstance(one, Entity) else one for one in row.cells) for row in page.items]


def _in_order(rows: list[Cells]) -> list[Cells]:
    return sorted(rows, key=repr)


def _continues_groups(query: str) -> bool:
    """Whether a query is for the groups after those of an answer that was cut."""
    return re.search(r"GROUP BY [^{}]*OFFSET [1-9]", query) is not None


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(windows, "_FIRST", 40)


@pytest.mark.parametrize(("text", "expected"), PLANS.items())
async def test_every_row_is_found_and_no_group_twice(text: str, expected: list[Cells]):
    client = InProcess(TURTLE, row_cap=CAP)
    async with opened_over(client, HERE) as adapter:
        assert _in_order(await _rows(adapter, text)) == _in_order(expected)
    assert not any(map(_continues_groups, client.queries))


@pytest.mark.parametrize(("text", "expected"), PLANS.items())
async def test_windows_are_not_read_in_an_order_in_which_the_store_loses_groups(text: str, expected: list[Cells]):
    order = "# in written order\n"
    client = InProcess(TURTLE, row_cap=CAP, dialect=replace(OXIGRAPH, in_written_order=order), answers=[(order, ())])
    async with opened_over(client, HERE) as adapter:
        assert _in_order(await _rows(adapter, text)) == _in_order(expected)
    assert not any(map(_continues_groups, client.queries))


@pytest.mark.parametrize(
    ("pattern", "omits_ones"),
    [
        ("(f)-[:starred]->(a)", True),
        ("(f:Film)-[:starred]->(a)", False),
        ("(f {id: 'ex:film1'})-[:starred]-(a)", False),
    ],
)
async def test_only_queries_for_all_edges_of_a_relation_leave_out_the_number_one(pattern: str, omits_ones: bool):
    client = InProcess(TURTLE, dialect=replace(OXIGRAPH, omits_ones=True))
    async with opened_over(client, HERE) as adapter:
        rows = await _rows(adapter, f"MATCH {pattern} RETURN f, a")
    named = "id:" in pattern
    expected: list[Cells] = [(f"ex:{film}", f"ex:{actor}") for film, actor in STARRED if film == "film1" or not named]
    assert _in_order(rows) == _in_order(expected)
    assert any("COALESCE()" in query for query in client.queries) is omits_ones


WINDOW = r"\{ SELECT \?n\d+ WHERE \{[^}]*\} OFFSET"
LISTED_TWICE = (re.escape(queries.LISTED.partition("{")[0]), [{"n": Literal(2), "t": Literal(1)}])


LISTED_TOO_FEW = (LISTED_TWICE[0], [{"n": Literal(FILMS // 2), "t": Literal(FILMS // 2)}])


@pytest.mark.parametrize("store", [{"slow": [WINDOW]}, {"answers": [LISTED_TWICE]}, {"answers": [LISTED_TOO_FEW]}])
async def test_groups_are_continued_where_the_nodes_of_a_label_cannot_be_read_in_parts(store: dict[str, Any]):
    text, expected = next(iter(PLANS.items()))
    client = InProcess(TURTLE, row_cap=CAP, **store)
    async with opened_over(client, HERE) as adapter:
        assert _in_order(await _rows(adapter, text)) == _in_order(expected)
    assert any(map(_continues_groups, client.queries))


@pytest.fixture(scope="module")
def location(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    path, graph = tmp_path_factory.mktemp("windows") / "films.ttl", f"{EX}windows"
    path.write_text(TURTLE, encoding="utf-8")
    virtuoso.load(path, graph)
    return f"sparql+{virtuoso.url}?default-graph-uri={graph}#prefix.ex={EX}"


@pytest.mark.parametrize(("text", "expected"), PLANS.items())
async def test_virtuoso_with_a_low_row_cap_answers_in_full(
    virtuoso: Virtuoso, location: str, text: str, expected: list[Cells]
):
    with virtuoso.limits(ResultSetMaxRows=CAP):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert _in_order(await _rows(adapter, text)) == _in_order(expected)
