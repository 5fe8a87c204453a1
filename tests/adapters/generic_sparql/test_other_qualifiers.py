"""Edges with a property that is not some value are found by the store.

The expected edges are found here, in Python, over the statements of the graph.
"""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Entity
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.services import Oxigraph, Virtuoso

EX, RDF, XSD = "http://ex.example/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2001/XMLSchema#"
VALUES: list[list[tuple[str, object]]] = [
    [('"spring"', "spring")],
    [('"spring"@en', "spring")],
    [('"autumn"', "autumn")],
    [('"spring"', "spring"), ('"autumn"', "autumn")],
    [('"Spring"', "Spring"), ('"winter"', "winter")],
    [],
    [("5", 5)],
    [("5.0", 5)],
    [(f'"5"^^<{XSD}double>', 5)],
    [('"5"', "5")],
    [("7", 7), ("5", 5)],
    [("7", 7), ('"spring"', "spring")],
    [("7.5", 7.5)],
    [('"x5"', "x5")],
]
"""The values of `in` of each edge: as a term, and in Python."""
EDGES = 40
OF_EDGE = {n: VALUES[n % len(VALUES)] for n in range(EDGES)}


def _turtle(notation: str) -> str:
    lines = [f"<{EX}p{n}> a <{EX}Person> ." for n in range(EDGES) if n % 5]
    for n, values in OF_EDGE.items():
        edge = f"<{EX}p{n}>", f"<{EX}visits>", f"<{EX}p{(n * 7 + 1) % EDGES}>"
        about = zip(("subject", "predicate", "object"), edge, strict=True)
        stated = " ; ".join(f"<{RDF}{part}> {term}" for part, term in about)
        if notation == "reifies":
            stated = f"<{RDF}reifies> <<( {' '.join(edge)} )>>"
        own = "".join(f" ; <{EX}in> {term}" for term, _ in values)
        lines.append(f'{" ".join(edge)} . [] {stated} ; <{EX}note> "n{n % 2}"{own} .')
    return "\n".join(lines)


def _edges(constant: object, *, note: str | None = None) -> list[str]:
    return [
        f"ex:p{n}"
        for n, values in sorted(OF_EDGE.items(), key=lambda each: f"p{each[0]}")
        if values and all(value != constant for _, value in values) and (note is None or f"n{n % 2}" != note)
    ]


CONDITIONS = {
    "r.in <> 'spring'": _edges("spring"),
    "'autumn' <> r.in": _edges("autumn"),
    "r.in <> 'nothing'": _edges("nothing"),
    "r.in <> 5": _edges(5),
    "r.in <> 7.5": _edges(7.5),
    "r.in <> 'spring' AND r.note <> 'n1'": _edges("spring", note="n1"),
    "r.in <> 'spring' AND r.note = 'n0'": _edges("spring", note="n1"),
    "r.in <> '5'": _edges("5"),
}


class OtherQualifiers:
    """What holds on each store."""

    @pytest.mark.parametrize(("condition", "expected"), CONDITIONS.items())
    async def test_an_edge_has_values_of_which_none_is_the_other(
        self, location: str, condition: str, expected: list[str]
    ):
        assert 0 < len(expected) < EDGES
        async with open_adapter(location, AdapterOptions()) as adapter:
            for pattern, kept in (("(a)", expected), ("(a:Person)", [a for a in expected if int(a[4:]) % 5])):
                text = f"MATCH {pattern}-[r:visits]->(b) WHERE {condition} RETURN a"
                runner = PlanRunner(adapter)
                checked = await runner.check(parse_plan(text).plan)
                assert not checked.problems
                page = await runner.run(checked.plan, limit=100)
                found = [row.cells[0] for row in page.items]
                assert [one.id for one in found if isinstance(one, Entity)] == kept, text


class TestOnOxigraph(OtherQualifiers):
    @pytest.fixture(scope="class", params=["statement", "reifies"])
    @classmethod
    def location(cls, oxigraph: Oxigraph, request: pytest.FixtureRequest):
        return oxigraph.load_text(f"other-{request.param}", _turtle(request.param))


class TestOnVirtuoso(OtherQualifiers):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("other-statement", _turtle("statement"))


async def test_the_store_leaves_out_edges_with_the_value():
    store = InProcess(_turtle("statement"))
    async with opened_over(store, HERE) as adapter:
        text = "MATCH (a:Person)-[r:visits]->(b) WHERE r.note <> 'n1' RETURN a, b"
        runner = PlanRunner(adapter)
        await runner.run((await runner.check(parse_plan(text).plan)).plan, limit=100)
    assert any("NOT EXISTS" in query and '"n1"' in query for query in store.queries)
