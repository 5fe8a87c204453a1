"""Sums, averages and comparisons of what is no number."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions


@pytest.fixture
async def demo() -> AsyncGenerator[PlanRunner]:
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        yield PlanRunner(graph)


@pytest.mark.parametrize(
    ("written", "place", "reason", "possible"),
    [
        ("RETURN avg(a.name)", "avg(a.name)", "its values are texts, but avg needs numbers", "avg(toFloat(a.name))"),
        ("RETURN sum(DISTINCT a)", "sum(DISTINCT a)", "its values are nodes, but sum needs numbers", None),
        ("RETURN sum(r)", "sum(r)", "its values are edges, but sum needs numbers", None),
        ("WHERE 9 < a.name RETURN a", "a.name", "its values are texts, 9 is a number", "toFloat(a.name) > 9"),
        ("WHERE a.name <= 1.5 RETURN a", "a.name", "its values are texts, 1.5 is a number", "toFloat(a.name) <= 1.5"),
    ],
)
async def test_texts_and_nodes_are_not_taken_for_numbers(
    demo: PlanRunner, written: str, place: str, reason: str, possible: str | None
):
    found = await demo.check(parse_cypher(f"MATCH (a:Painter)-[r:born_in]->() {written}"))

    assert [(each.place, each.reason) for each in found.problems] == [(place, reason)]
    assert found.problems[0].alternatives == (() if possible is None else (possible,))
    assert (found.corrected is not None) is (possible is not None)
    if found.corrected is not None:
        assert not (await demo.check(found.corrected)).problems


async def test_a_range_of_texts_is_corrected_as_a_whole(demo: PlanRunner):
    found = await demo.check(parse_cypher("MATCH (a:Painter) WHERE 3 <= a.name < 5 RETURN a"))

    assert {(each.place, each.reason) for each in found.problems} == {
        ("a.name", "its values are texts, 3 is a number"),
        ("a.name", "its values are texts, 5 is a number"),
    }
    assert found.corrected == parse_cypher("MATCH (a:Painter) WHERE 3 <= toFloat(a.name) < 5 RETURN a")


@pytest.mark.parametrize("written", ["avg(c.population)", "sum(toInteger(c.name))", "sum(1)", "min(c.name)"])
async def test_sums_of_numbers_are_no_mistake(demo: PlanRunner, written: str):
    assert not (await demo.check(parse_cypher(f"MATCH (c:City) RETURN {written}"))).problems


@pytest.mark.parametrize(
    ("written", "possible"),
    [("y.name > 1995", "toFloat(y.name) > 1995"), ("y.name = 1995", "'1995'"), ("y.name IN [1995]", "'1995'")],
)
async def test_a_name_that_is_no_property_is_a_text_too(tmp_path: Path, written: str, possible: str):
    source, target = tmp_path / "films.tsv", tmp_path / "films.kg"
    source.write_text("1979\tyear_of\tAlien\n1995\tyear_of\tHeat\n", encoding="utf-8")
    load([source], target)
    async with open_adapter(str(target), AdapterOptions()) as graph:
        runner = PlanRunner(graph)
        found = await runner.check(parse_cypher(f"MATCH (y)-[:year_of]->(m) WHERE {written} RETURN count(m)"))
        assert [each.alternatives for each in found.problems] == [(possible,)]
        right = await runner.check(parse_cypher("MATCH (y)-[:year_of]->(m) WHERE y.name > '1995' RETURN count(m)"))
        assert not right.problems


async def test_durations_are_not_taken_for_numbers(tmp_path: Path):
    source, target = tmp_path / "nodes.csv", tmp_path / "films.kg"
    source.write_text("id:ID,:LABEL,length:duration\na,Film,PT90M\nb,Film,PT60M\n", encoding="utf-8")
    load([source], target)
    async with open_adapter(str(target), AdapterOptions()) as graph:
        plan = parse_cypher("MATCH (f:Film) WHERE f.length = 'PT90M' RETURN elementId(f)")
        page = await PlanRunner(graph).run(plan, limit=9)
    assert [row.cells for row in page.items] == [("a",)]
