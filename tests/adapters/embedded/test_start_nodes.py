"""The nodes at which the query of a plan starts: those with a known value, also at both ends of a path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.plans import patterns
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.adapters.embedded.compiled import same
from tests.contract import toy, toy_files


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nodes with a year as a text and a day as a date, in a chain."""
    folder = tmp_path_factory.mktemp("dated")
    nodes = [
        toy.Node(
            f"n{number}",
            ("N",),
            properties=(
                ("year", toy.Value(str(1_900 + number))),
                ("born", toy.Value(f"{1_900 + number}-05-01", "date")),
            ),
        )
        for number in range(40)
    ]
    edges = [toy.Edge(f"n{number}", "TO", f"n{number + 1}") for number in range(39)]
    load(toy_files.write_property_graph(folder, nodes, edges), folder / "dated.kg", LoadOptions())
    return str(folder / "dated.kg")


@pytest.mark.parametrize(("name", "looked_up"), [("year", True), ("born", False)])
async def test_a_text_written_as_a_date_is_looked_up_where_no_value_is_a_date(
    dated: str, steps: list[str], name: str, *, looked_up: bool
):
    async with open_adapter(dated, AdapterOptions()) as adapter:
        text = f"MATCH (n) WHERE n.{name} = '1907' RETURN elementId(n) AS id"
        found = (await PlanRunner(adapter).check(parse_plan(text).plan)).plan
        assert await same(adapter, found)
        assert [row.cells for row in (await PlanRunner(adapter).run(found, limit=9)).items] == [("n7",)]
    assert any("attribute_value" in step for step in steps) is looked_up


@pytest.mark.parametrize("name", ["year", "born"])
async def test_a_path_to_a_node_with_a_known_value_is_searched_from_both_ends(
    dated: str, monkeypatch: pytest.MonkeyPatch, name: str
):
    ends: list[tuple[int | None, int | None]] = []
    search = patterns.find_paths

    def recorded(words: Any, edge: Any, relations: Any, pairs: Sequence[tuple[int | None, int | None]]) -> str:
        ends.extend(pairs)
        return search(words, edge, relations, pairs)

    monkeypatch.setattr(patterns, "find_paths", recorded)
    text = f"MATCH (a {{{name}: '1903'}}), (b {{{name}: '1909'}}), p = shortestPath((a)-[*]-(b)) RETURN length(p) AS n"
    async with open_adapter(dated, AdapterOptions()) as adapter:
        page = await adapter.run((await PlanRunner(adapter).check(parse_plan(text).plan)).plan, limit=9)
    assert [row.cells for row in page.items] == [(6,)]
    assert None not in ends[0]
