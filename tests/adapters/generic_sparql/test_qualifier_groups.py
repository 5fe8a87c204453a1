"""Edges are grouped by their properties, and chosen by one whose value is a node, without reading all edges.

The expected rows are found here, in Python, over the statements of the graph.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Cell, Entity
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.services import Oxigraph, Virtuoso

EX, RDF = "http://ex.example/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
VALUES: list[tuple[str, object]] = [
    ("1900", 1900),
    ('"1900"', "1900"),
    (f"<{EX}y1>", "ex:y1"),
    ("", None),
    ("1901", 1901),
    ("1901.0", 1901),
    (f"<{EX}y2>", "ex:y2"),
    ("1900", 1900),
    ("true", True),
]
"""The value of `since` of each edge: as a term, and in Python; a node is its id."""
EDGES = 60
SINCE = {n: VALUES[n % len(VALUES)] for n in range(EDGES)}
RATES = {n: n % 4 for n in range(EDGES) if n % 5}


def _turtle(notation: str, more: str = "") -> str:
    lines = [f'<{EX}y{n}> <{LABEL}> "year {n}" .' for n in (1, 2)]
    for n, (term, _) in SINCE.items():
        edge = f"<{EX}p{n % 20}>", f"<{EX}visits>", f"<{EX}p{(n * 7 + 1 + n // 20) % 20}>"
        about = zip(("subject", "predicate", "object"), edge, strict=True)
        stated = " ; ".join(f"<{RDF}{part}> {each}" for part, each in about)
        if notation == "reifies":
            stated = f"<{RDF}reifies> <<( {' '.join(edge)} )>>"
        own = (f" ; <{EX}since> {term}" if term else "") + (f" ; <{EX}rate> {RATES[n]}" if n in RATES else "")
        lines.append(f'{" ".join(edge)} . [] {stated} ; <{EX}note> "n{n % 3}"{own} .')
    return "\n".join([*lines, more])


def _key(value: object) -> tuple[bool, object]:
    return isinstance(value, bool), value


BY_SINCE = Counter(_key(value) for _, value in SINCE.values())
BY_NOTE = {f"n{note}": [RATES[n] for n in RATES if n % 3 == note] for note in range(3)}
OF_YEAR = sorted(f"ex:p{n % 20}" for n, (_, value) in SINCE.items() if value == "ex:y1")


async def _rows(adapter: GraphAdapter, text: str) -> list[tuple[Cell, ...]]:
    runner = PlanRunner(adapter)
    checked = await runner.check(parse_plan(text).plan)
    assert not checked.problems
    page = await runner.run(checked.plan, limit=100)
    return [tuple(cell.id if isinstance(cell, Entity) else cell for cell in row.cells) for row in page.items]


class QualifierGroups:
    """What holds on each store."""

    async def test_edges_are_counted_by_a_property_whose_values_are_of_any_kind(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            rows = await _rows(adapter, "MATCH (a)-[r:visits]->(b) RETURN r.since AS s, count(*) AS n")
        assert {_key(value): number for value, number in rows} == BY_SINCE
        assert len(rows) == len(BY_SINCE) == 7

    async def test_numbers_are_summed_by_another_property(self, location: str):
        text = "MATCH (a)-[r:visits]->(b) RETURN r.note, count(r.rate), sum(r.rate), max(r.rate), count(*)"
        async with open_adapter(location, AdapterOptions()) as adapter:
            rows = await _rows(adapter, text)
        assert rows == [(note, len(own), sum(own), max(own), 20) for note, own in sorted(BY_NOTE.items())]

    @pytest.mark.parametrize("year", ["year 1", "ex:y1"])
    async def test_groups_meet_a_condition_on_a_property_that_is_a_node(self, location: str, year: str):
        text = f"MATCH (a)-[r:visits]->(b) WHERE NOT r.since = '{year}' RETURN count(*)"
        async with open_adapter(location, AdapterOptions()) as adapter:
            rows = await _rows(adapter, text)
        known = sum(value is not None for _, value in SINCE.values())
        assert rows == [(known - len(OF_YEAR),)]

    @pytest.mark.parametrize("year", ["year 1", "ex:y1"])
    async def test_rows_of_edges_are_chosen_by_a_property_that_is_a_node(self, location: str, year: str):
        text = f"MATCH (a)-[r:visits]->(b) WHERE r.since = '{year}' RETURN a, r.since, r.note"
        async with open_adapter(location, AdapterOptions()) as adapter:
            rows = await _rows(adapter, text)
        assert [(a, since) for a, since, _ in rows] == [(a, "ex:y1") for a in OF_YEAR]


class TestOnOxigraph(QualifierGroups):
    @pytest.fixture(scope="class", params=["statement", "reifies"])
    @classmethod
    def location(cls, oxigraph: Oxigraph, request: pytest.FixtureRequest):
        return oxigraph.load_text(f"groups-{request.param}", _turtle(request.param))


class TestOnVirtuoso(QualifierGroups):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("groups-statement", _turtle("statement"))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("MATCH (a)-[r:visits]->(b) RETURN r.since, count(*)", r"SELECT \?k0 .* GROUP BY \?k0"),
        ("MATCH (a)-[r:visits]->(b) WHERE r.since = 'year 1' RETURN a, r.note", r"SELECT \?n0 \?n1 .* VALUES \?v1 {"),
    ],
    ids=["groups", "rows"],
)
async def test_the_store_groups_and_chooses_edges(text: str, asked: str):
    store = InProcess(_turtle("statement"))
    async with opened_over(store, HERE) as adapter:
        await _rows(adapter, text)
    assert any(re.search(asked, query) for query in store.queries)


async def test_edges_with_several_values_are_grouped_by_each_of_their_lists():
    edge = f"<{EX}p1> <{EX}visits> <{EX}p1>"
    about = zip(("subject", "predicate", "object"), edge.split(), strict=True)
    stated = " ; ".join(f"<{RDF}{part}> {each}" for part, each in about)
    more = f"{edge} . [] {stated} ; <{EX}note> 'n1' ; <{EX}since> 1900, 1950 ."
    async with opened_over(InProcess(_turtle("statement", more)), HERE) as adapter:
        rows = await _rows(adapter, "MATCH (a)-[r:visits]->(b) RETURN r.since AS s, count(*) AS n")
    found = {value if isinstance(value, tuple) else _key(value): number for value, number in rows}
    assert found == {**BY_SINCE, (1900, 1950): 1}
