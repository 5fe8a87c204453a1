"""Patterns of plans on a live Oxigraph: what qualifies edges, and edges of several relations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import EdgePattern, Expression, Function, GivenNodes, Match
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.wikidata.graph import CITY, CLUB, FIRST_FAN, write
from tests.navigation.plans.writing import called, compared, edge, give, matches_of, matching, plan, rows

MEMBER = edge("a", "wdt:P463", "b")
MATCHING = (f"wd:{FIRST_FAN}", f"wd:{CLUB}")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (compared("r.wdt:P366", "=", f"wd:{CITY}"), [MATCHING]),
        (compared("r.wdt:P366", "=", "Stadt"), [MATCHING]),
        (compared("r.wdt:P366", "IN", ["Dorf", f"wd:{CITY}", "Stadt"]), [MATCHING]),
        (compared("r.wdt:P366", "=", "Dorf"), []),
        (compared("r.wdt:P366", "=", 3), []),
    ],
)
async def test_edges_are_found_by_the_id_or_the_label_of_an_entity_that_qualifies_them(
    graph: GraphAdapter, condition: Expression, expected: list[tuple[str, ...]]
):
    page = await PlanRunner(graph, bound=2).run(plan(matching(MEMBER, where=condition), give("a", "b")), limit=9)
    assert rows(page) == expected
    assert ("Nothing matches the condition r." in page.note) is not bool(expected)


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wikibase")
    load([write(folder / "wikibase.nt")], folder / "wikibase.kg")
    return folder / "wikibase.kg"


@pytest.mark.parametrize("name", ["P366", "has use", "Has use"])
@pytest.mark.parametrize("value", [CITY, f"wd:{CITY}", f"http://www.wikidata.org/entity/{CITY}"])
async def test_a_qualifier_is_found_by_its_label_and_its_value_by_an_id_in_any_spelling(
    graph: GraphAdapter, graph_file: Path, name: str, value: str
):
    qualifier = f"r.{name}"
    async with open_adapter(str(graph_file), AdapterOptions()) as file:
        for store in (graph, file):
            for condition, expected in (
                (compared(qualifier, "=", value), [MATCHING]),
                (compared(qualifier, "IN", ["Q1", value]), [MATCHING]),
                (compared(qualifier, "<>", value), []),
            ):
                checked = await PlanRunner(store).check(plan(matching(MEMBER, where=condition), give("a", "b")))
                assert checked.problems == ()
                assert rows(await PlanRunner(store).run(checked.plan, limit=9)) == expected


async def test_a_qualifier_joins_its_edge_with_the_node_that_it_names(graph: GraphAdapter):
    born = edge("c", "wdt:P19", "city", "s")
    joined = compared("r.wdt:P366", "=", called(Function.ID, "city"))
    both = plan(matching(born, MEMBER, where=joined), give("c", "a", "r"))
    (row,) = rows(await PlanRunner(graph, bound=2).run(both, limit=9))
    assert row == ("wd:Q1001", MATCHING[0], (MATCHING[0], "wdt:P463", MATCHING[1]))
    in_turn = plan(matching(born), give("city"), matching(MEMBER, where=joined), give("city", "a"))
    assert rows(await PlanRunner(graph, bound=2).run(in_turn, limit=9)) == [(f"wd:{CITY}", MATCHING[0])]
    other = plan(matching(edge("c", "wdt:P26", "city", "s"), MEMBER, where=joined), give("a"))
    assert rows(await PlanRunner(graph, bound=2).run(other, limit=9)) == []


async def test_a_part_that_nothing_matches_beside_a_qualifier_is_named(graph: GraphAdapter):
    condition = compared("r.wdt:P366", "=", f"wd:{CITY}")
    page = await PlanRunner(graph, bound=2).run(
        plan(matching(MEMBER, edge("b", "wdt:P26", "c", "s"), where=condition), give("a")), limit=9
    )
    assert page.items == ()
    assert "Nothing matches (b)-[s:`wdt:P26`]->(c)." in page.note


async def test_edges_of_several_relations_and_of_any_are_matched_by_the_store(graph: GraphAdapter):
    for relations, times in ((("wdt:P19", "wdt:P551"), 2), ((), 2), (("wdt:P26", "wdt:P19"), 1)):
        led = EdgePattern("r", "a", "b", relations)
        fan = GivenNodes(("a",), (("wd:Q1001",),))
        page = await graph.run(matches_of(Match((), (led,)), ["b"], fan), limit=99)
        assert {city: number for _, city, number in rows(page)}[f"wd:{CITY}"] == times
        with pytest.raises(Unsupported):
            await graph.run(matches_of(Match((), (replace(led, either=True),)), ["b"], fan), limit=99)
