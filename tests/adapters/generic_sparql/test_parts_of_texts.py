"""Nodes of any label are found by a part of a name or a text, and by alternatives, without reading all nodes.

The expected rows are computed here, in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable

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
BOUND, OTHERS = 1_000, 1_500
NAMES = {
    "ulm": "Ulm",
    "ulmus": "Ulmus minor",
    "munich": "München",
    "istanbul": "İstanbul",
    "tokyo": "東京",
    "face": "face 😀 e\u0301",
    "quoted": 'said "so" 50%\\n',
    "number": "17",
    "upper": "ULM UPPER",
}
"""Nodes with the name that answers show."""
OTHER_NAMES = '"Neu-Ulm am Ende"@de'
"""A name of Ulm that answers do not show: they prefer English."""
REFS = {
    "ulm": ['"Ulm ref"', '"other"'],
    "munich": ['"17"', "17"],
    "tokyo": ["17.5", '"日本ref"@ja'],
    "nameless": ['"ref of none"'],
    "face": ['"2001-05-06"^^xsd:date', '"2001-05-06T07:08:09Z"^^xsd:dateTime'],
    "number": ["true", '"17x"^^xsd:double'],
}
TEXTS_OF_REFS = {
    "ulm": ["Ulm ref", "other"],
    "munich": ["17"],
    "tokyo": ["日本ref"],
    "nameless": ["ref of none"],
    "face": ["2001-05-06", "2001-05-06T07:08:09Z"],
    "number": ["17x"],
}
"""The values that are texts."""


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


TURTLE = "\n".join(
    (
        f"@prefix ex: <{EX}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
        "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        *(f"ex:{node} rdfs:label {_literal(name)}@en ." for node, name in NAMES.items()),
        *(f"ex:{node} ex:ref {value} ." for node, values in REFS.items() for value in values),
        f"ex:ulm rdfs:label {OTHER_NAMES} ; a ex:City ; ex:near ex:munich .",
        "ex:munich a ex:City ; ex:near ex:nameless . ex:tokyo ex:near ex:ulmus .",
        "[] rdf:subject ex:ulm ; rdf:predicate ex:near ; rdf:object ex:munich ; rdfs:label 'an Ulm' ; ex:km 9 .",
        *(f"ex:other{n} ex:near ex:other{n + 1} ." for n in range(OTHERS)),
    )
)


def _names(test: Callable[[str], object]) -> list[str]:
    return sorted(f"ex:{node}" for node, name in NAMES.items() if test(name))


def _refs(test: Callable[[str], bool]) -> list[str]:
    return sorted(f"ex:{node}" for node, texts in TEXTS_OF_REFS.items() if any(map(test, texts)))


CONDITIONS = {
    **{
        f"n.name CONTAINS {_literal(part)}": _names(lambda name, part=part: part in name)
        for part in ("Ulm", "ulm", "l", "ü", "Ende", "京", "😀", "\u0301", '"', "%", "\\", "17", "", "none such", " m")
    },
    **{
        f"n.ref CONTAINS {_literal(part)}": _refs(lambda text, part=part: part in text)
        for part in ("ref", "17", "05-06", "07:08", "日", "true", "x", "")
    },
    "n.name STARTS WITH 'Ulm'": _names(lambda name: name.startswith("Ulm")),
    "n.name ENDS WITH 'minor'": _names(lambda name: name.endswith("minor")),
    "n.name ENDS WITH 'Ende'": [],
    "n.name =~ 'U.*m'": _names(lambda name: re.fullmatch("U.*m", name)),
    "toLower(n.name) CONTAINS 'ulm'": _names(lambda name: "ulm" in name.lower()),
    "n.name > 'X'": _names(lambda name: name > "X"),
    "n.name IS NOT NULL": _names(lambda _: True),
    "n.name = 'Ulm' OR n.name = 'Ulmus minor'": ["ex:ulm", "ex:ulmus"],
    "n.name = 'Ulm' OR n.name = 'none such'": ["ex:ulm"],
    "n.name = 'Ulm' OR n.name STARTS WITH 'Mün'": ["ex:munich", "ex:ulm"],
    "n.name = 'Ulm' OR n.ref = 'ref of none'": ["ex:nameless", "ex:ulm"],
    "n.ref = 'other' OR n.ref = 17": ["ex:munich", "ex:ulm"],
    "n.ref = 17 OR n.ref = 17.5": ["ex:munich", "ex:tokyo"],
    "(n.name = 'Ulm' AND n.ref = 'none') OR (n.ref = 'other' AND n.name <> 'x')": ["ex:ulm"],
    "n.name CONTAINS 'Ulm' AND NOT n.name = 'Ulm'": ["ex:ulmus"],
}
"""Conditions on a node, with the nodes for which they are true."""
NOT_SELECTIVE = {
    "NOT n.name CONTAINS 'm'": _names(lambda name: "m" not in name),
    "n.name CONTAINS 'Ulm' XOR n.name CONTAINS 'minor'": ["ex:ulm"],
}
"""Conditions that no part of a text makes true."""


async def _found(adapter: GraphAdapter, text: str, bound: int = BOUND) -> list[str]:
    checked = await PlanRunner(adapter).check(parse_plan(text).plan)
    assert not checked.problems
    page = await evaluate(adapter, checked.plan, limit=100, bound=bound)
    return sorted(row.cells[0].id for row in page.items if isinstance(row.cells[0], Entity))


class PartsOfTexts:
    """What holds on each store. The graph has more nodes than may be held."""

    @pytest.mark.parametrize(("condition", "expected"), CONDITIONS.items())
    async def test_nodes_of_any_label_are_found(self, location: str, condition: str, expected: list[str]):
        async with open_adapter(location, AdapterOptions()) as adapter:
            assert await _found(adapter, f"MATCH (n) WHERE {condition} RETURN DISTINCT n") == expected

    async def test_a_part_of_a_name_selects_nodes_of_a_label_and_at_an_edge(self, location: str):
        async with open_adapter(location, AdapterOptions()) as adapter:
            for text, expected in (
                ("MATCH (n:City) WHERE n.name CONTAINS 'ü' RETURN n", ["ex:munich"]),
                ("MATCH (n)-[:near]->(m) WHERE m.name CONTAINS 'ü' RETURN n", ["ex:ulm"]),
                (
                    "MATCH (m)-[:near]->(n) WHERE m.name CONTAINS 'ü' OR m.name = '東京' RETURN n",
                    ["ex:nameless", "ex:ulmus"],
                ),
                ("MATCH (m)-[:near*1..2]->(n) WHERE m.name CONTAINS 'Ulm' RETURN n", ["ex:munich", "ex:nameless"]),
            ):
                assert await _found(adapter, text) == expected, text


class TestOnOxigraph(PartsOfTexts):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("parts-of-texts", TURTLE)


class TestOnVirtuoso(PartsOfTexts):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("parts-of-texts", TURTLE)


@pytest.mark.parametrize(("condition", "expected"), NOT_SELECTIVE.items())
async def test_a_condition_that_selects_no_nodes_reads_all_of_them(condition: str, expected: list[str]):
    async with opened_over(InProcess(TURTLE), HERE) as adapter:
        with pytest.raises(PlanTooLarge):
            await _found(adapter, f"MATCH (n) WHERE {condition} RETURN n")
        assert await _found(adapter, f"MATCH (n) WHERE {condition} RETURN n", bound=2 * OTHERS) == expected


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("n.ref = 'none such'", "n.ref = 'none such'"),
        ("n.ref = 'none such' OR n.ref = 'x y'", "n.ref IN ['none such', 'x y']"),
        ("n.name CONTAINS 'none such' OR n.ref = 'x y'", "n.name CONTAINS 'none such' OR n.ref = 'x y'"),
    ],
)
@pytest.mark.parametrize("node", ["(n)", "(n:City)"])
async def test_an_empty_answer_names_the_condition_that_no_node_meets(node: str, condition: str, named: str):
    async with opened_over(InProcess(TURTLE), HERE) as adapter:
        checked = await PlanRunner(adapter).check(parse_plan(f"MATCH {node} WHERE {condition} RETURN n").plan)
        page = await evaluate(adapter, checked.plan, limit=100, bound=BOUND)
    assert page.items == ()
    assert f"Nothing matches the condition {named}." in page.note
