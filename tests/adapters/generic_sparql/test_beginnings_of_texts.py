"""Conditions and groups by the first characters of texts, beside values that are no texts.

The expected rows are computed here, in Python.
"""

from __future__ import annotations

from random import Random

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Entity, Stop
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.services import Oxigraph, Virtuoso

EX = "http://ex.example/"
LITERALS = {
    '"Ulm"': "Ulm",
    '"Ülm"@de': "Ülm",
    '"Ulmus"^^ex:plant': "Ulmus",
    '"17 trees"': "17 trees",
    '"17"': "17",
    "17": None,
    "17.5": None,
    "1.7e1": None,
    '"17x"^^xsd:double': "17x",
    '"true"': "true",
    "true": None,
    '"1"^^xsd:boolean': None,
    '"true story"@en': "true story",
    '"INF"^^xsd:double': None,
    '"INFO"': "INFO",
    '"+1"^^xsd:integer': None,
    '"+1 dog"': "+1 dog",
    '"2001-05-06"^^xsd:date': "2001-05-06",
    '"\\"quoted\\" 50%"': '"quoted" 50%',
    '"日本"@ja': "日本",
    '"日光"': "日光",
}
"""Literals in Turtle, each with its text; None for numbers and booleans, of which none starts with a text."""
BEGINNINGS = (
    "U",
    "Ü",
    "Ulm",
    "1",
    "17",
    "t",
    "true",
    "I",
    "INF",
    "+",
    "2001-0",
    '"',
    '"quoted" 50',
    "日",
    "日本",
    "",
    "x",
)

BOUND, NOTES = 150, 400
_CHANCE = Random(8)  # noqa: S311 - a graph for tests
_STARTS = ("", "no", "no", "note ", "note ", "note é", "É", "日", "日", "a")
CODES = sorted({_CHANCE.choice(_STARTS) + "".join(_CHANCE.choices("aé日b😀", k=4)) for _ in range(NOTES * 3)})[:NOTES]
CODES[:3] = ["", "a", "no"]
"""Texts of which more begin alike than rows may be held."""
ABOUT = {n: f"ex:topic{n % 3}" for n in range(len(CODES))}
TURTLE = "\n".join(
    (
        f"@prefix ex: <{EX}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
        *(f"ex:thing{n} a ex:Thing ; ex:ref {literal} ." for n, literal in enumerate(LITERALS)),
        'ex:both a ex:Thing ; ex:ref "Ulrich", "Udo" .',
        *(f'ex:note{n} a ex:Note ; ex:code "{code}" ; ex:about {ABOUT[n]} .' for n, code in enumerate(CODES)),
        *(f'ex:mixed{n} a ex:Mixed ; ex:sign "sign{n}" .' for n in range(200)),
        "ex:mixed200 a ex:Mixed ; ex:sign 5 .",
    )
)
_BY_CODE = sorted((code, f"ex:note{n}") for n, code in enumerate(CODES))
BY_BEGINNINGS = {
    "MATCH (n:Note) RETURN n.code, n": _BY_CODE,
    "MATCH (n:Note) RETURN n.code, n ORDER BY n.code DESC": _BY_CODE[::-1],
    "MATCH (n:Note)-[:about]->(t) RETURN n.code, t": sorted((code, ABOUT[n]) for n, code in enumerate(CODES)),
    "MATCH (n:Note)-[:about]->(t) RETURN n ORDER BY n.code SKIP 130 LIMIT 60": [(n,) for _, n in _BY_CODE[130:190]],
}


async def _checked(adapter: GraphAdapter, text: str) -> Plan:
    checked = await PlanRunner(adapter).check(parse_plan(text).plan)
    assert not checked.problems
    return checked.plan


async def _rows(adapter: GraphAdapter, text: str, bound: int = BOUND) -> list[tuple[object, ...]]:
    plan, rows, after = await _checked(adapter, text), list[tuple[object, ...]](), None
    while True:
        page = await evaluate(adapter, plan, limit=100, after=after, bound=bound)
        rows += [tuple(one.id if isinstance(one, Entity) else one for one in row.cells) for row in page.items]
        if page.stop is Stop.COMPLETE:
            return rows
        after = page.positions[-1]


class Beginnings:
    """What holds on each store."""

    @pytest.mark.parametrize("beginning", BEGINNINGS)
    async def test_only_texts_start_with_a_text(self, location: str, beginning: str):
        expected = {
            f"ex:thing{n}"
            for n, text in enumerate(LITERALS.values())
            if text is not None and text.startswith(beginning)
        }
        if "Ulrich".startswith(beginning) or "Udo".startswith(beginning):
            expected.add("ex:both")
        text = beginning.replace('"', '\\"')
        async with open_adapter(location, AdapterOptions()) as adapter:
            found = await _rows(adapter, f'MATCH (t:Thing) WHERE t.ref STARTS WITH "{text}" RETURN t')
        assert found == sorted((one,) for one in expected)

    @pytest.mark.parametrize(("text", "expected"), BY_BEGINNINGS.items())
    async def test_more_values_than_may_be_held_are_grouped_by_their_first_characters(
        self, location: str, text: str, expected: list[tuple[object, ...]]
    ):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _rows(adapter, text) == expected

    async def test_values_of_which_one_is_no_text_are_not_grouped_so(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            with pytest.raises(PlanTooLarge):
                await _rows(adapter, "MATCH (m:Mixed) RETURN m.sign, m")


class TestOnOxigraph(Beginnings):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("texts", TURTLE)


class TestOnVirtuoso(Beginnings):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("texts", TURTLE)


async def test_the_store_is_asked_for_texts_that_start_so():
    store = InProcess(TURTLE)
    async with opened_over(store, HERE) as adapter:
        assert await _rows(adapter, "MATCH (n:Note) WHERE n.code STARTS WITH 'note' RETURN count(*)") == [
            (sum(code.startswith("note") for code in CODES),)
        ]
    assert any("STRSTARTS" in query for query in store.queries)
