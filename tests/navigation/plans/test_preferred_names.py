"""A comparison of names says when it leaves out aliases."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter

ONTOLOGY = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
obo:DOID_1 rdfs:label "myocardial infarction" ; skos:altLabel "heart attack" .
obo:DOID_2 rdfs:label "heart disease" .
"""
NOTE = "is the preferred name only; d.name = '...' also finds aliases."


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    (tmp_path / "ontology.ttl").write_text(ONTOLOGY, encoding="utf-8")
    load([tmp_path / "ontology.ttl"], tmp_path / "ontology.kg", LoadOptions())
    async with open_adapter(str(tmp_path / "ontology.kg"), AdapterOptions()) as opened:
        yield opened


@pytest.mark.parametrize(
    ("condition", "rows", "note"),
    [
        ("d.name = 'heart attack'", 1, None),
        ("toLower(d.name) = 'heart attack'", 0, f"toLower(d.name) {NOTE}"),
        ("d.name CONTAINS 'heart'", 1, f"d.name {NOTE}"),
        ("toLower(d.name) STARTS WITH 'heart'", 1, f"toLower(d.name) {NOTE}"),
    ],
)
async def test_a_comparison_of_the_preferred_name_only_says_so(
    graph: GraphAdapter, condition: str, rows: int, note: str | None
):
    runner = PlanRunner(graph)
    checked = await runner.check(parse_plan(f"MATCH (d) WHERE {condition} RETURN d").plan)
    page = await runner.run(checked.plan, limit=9)
    assert len(page.items) == rows
    assert [each for each in checked.notes if "aliases" in each] == ([note] if note else [])
