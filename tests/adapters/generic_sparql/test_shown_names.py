"""`n.name` is the name that answers show, also in conditions, where a property is called `name`.

The rows are the same on each store and on a graph file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.services import Oxigraph, Virtuoso

TURTLE = """
@prefix ex: <http://ex.example/> . @prefix schema: <http://schema.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
ex:a rdfs:label "Ulm"@en ; schema:name "Neu"@en ; ex:near ex:b .
ex:b rdfs:label "Bonn"@en ; ex:near ex:c .
ex:c rdfs:label "" ; skos:prefLabel "Köln"@en ; ex:near ex:a .
"""
"""A node with two names, and one whose first name is blank."""
NAMES = {"ex:a": "Ulm", "ex:b": "Bonn", "ex:c": "Köln"}
CONDITIONS = {
    "n.name IS NOT NULL": ["ex:a", "ex:b", "ex:c"],
    "n.name CONTAINS 'Neu'": [],
    "n.name CONTAINS 'Ulm'": ["ex:a"],
    "n.name ENDS WITH 'onn'": ["ex:b"],
    "n.name CONTAINS 'K'": ["ex:c"],
    "n.name < 'C'": ["ex:b"],
    "n.name =~ 'N.*'": [],
    "toLower(n.name) CONTAINS 'ulm'": ["ex:a"],
    "n.name = 'Ulm'": ["ex:a"],
    "n.name = 'Neu'": ["ex:a"],
    "n.name <> 'Ulm'": ["ex:b", "ex:c"],
    "n.name <> 'Neu'": ["ex:b", "ex:c"],
    "NOT n.name CONTAINS 'n'": ["ex:a"],
}
"""Conditions, with the nodes for which they are true. Another name of a node counts where one is wanted exactly."""


async def _rows(location: str, text: str) -> list[list[object]]:
    async with open_adapter(location, AdapterOptions()) as adapter:
        runner = PlanRunner(adapter)
        checked = await runner.check(parse_plan(text).plan)
        page = await runner.run(checked.plan, limit=100)
    return [[getattr(cell, "id", cell) for cell in row.cells] for row in page.items]


class ShownNames:
    """What holds on each store."""

    @pytest.mark.parametrize(("condition", "expected"), CONDITIONS.items())
    async def test_a_condition_on_the_name_tests_the_name_in_the_row(
        self, location: str, condition: str, expected: list[str]
    ):
        for pattern in ("(n)", "(n)-[:near]->()"):
            rows = await _rows(location, f"MATCH {pattern} WHERE {condition} RETURN n, n.name")
            assert rows == [[node, NAMES[node]] for node in expected], pattern


class TestOnOxigraph(ShownNames):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("shown-names", TURTLE)


class TestOnVirtuoso(ShownNames):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("shown-names", TURTLE)


class TestOnAGraphFile(ShownNames):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, tmp_path_factory: pytest.TempPathFactory) -> str:
        folder: Path = tmp_path_factory.mktemp("shown-names")
        source, loaded = folder / "names.ttl", folder / "names.kg"
        source.write_text(TURTLE, encoding="utf-8")
        load([source], loaded)
        return str(loaded)
