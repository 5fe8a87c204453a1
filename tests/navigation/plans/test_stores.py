"""Plans over graph files: classes of RDF, mediators in one and in two hops, dates and numbers by their datatypes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import AggregateFunction, Compare, Comparison, Constant, Function, HasLabel, Property
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract import toy as definition
from tests.contract import toy_views
from tests.contract.toy_files import write_property_graph, write_rdf
from tests.contract.toy_views import Style
from tests.navigation.plans.writing import called, edge, give, is_id, matching, named, node, plan, rows, total

STYLES = {"property graph": (toy_views.PROPERTY_GRAPH, write_property_graph), "rdf": (toy_views.RDF, write_rdf)}


@pytest.fixture(scope="module", params=STYLES)
def kind(request: pytest.FixtureRequest) -> str:
    """What the graph file was made of."""
    return request.param


@pytest.fixture(scope="module")
def style(kind: str) -> Style:
    """How its ids are spelt."""
    return STYLES[kind][0]


@pytest.fixture(scope="module")
def file(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans")
    load(STYLES[kind][1](folder), folder / "toy.kg", LoadOptions(mediators="unnamed"))
    return folder / "toy.kg"


@pytest.fixture
async def stored(file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(file), AdapterOptions()) as opened:
        yield opened


def owned(style: Style, owner: str, name: str) -> Property:
    return Property(owner, name, (style.relation_id(name),))


async def test_labels_are_those_of_a_property_graph_or_classes_of_rdf(stored: GraphAdapter, style: Style):
    older = Compare(owned(style, "p", "age"), Comparison.GREATER, Constant(36))
    page = await evaluate(stored, plan(matching(node("p", style.label_id("Person")), where=older), give("p")), limit=9)
    assert rows(page) == [(style.node_id("ben"),)]
    eaten = matching(edge("s", style.relation_id("eats"), "t"), where=HasLabel("t", (style.label_id("Metal"),)))
    page = await evaluate(stored, plan(eaten, give("t", named("l", called(Function.LABELS, "t")))), limit=9)
    assert rows(page) == [(style.node_id("mercury_metal"), ["Metal"])]


async def test_a_relation_of_two_hops_has_the_roles_of_its_mediator_as_properties(stored: GraphAdapter, style: Style):
    married = edge("p", f"{style.relation_id('marriage')}.{style.relation_id('spouse')}", "q")
    shown = give("q", named("since", owned(style, "r", "from")), named("rite", owned(style, "r", "rite")))
    expected = [(style.node_id("ben"), "1835-07-08", "civil"), (style.node_id("cyd"), "1846-02-14", None)]
    outgoing = plan(matching(married, where=is_id("p", style.node_id("ada"))), shown)
    page = await evaluate(stored, outgoing, limit=9, proof=True)
    assert rows(page) == expected
    assert [row.proof[0].via is not None for row in page.items] == [True, True]
    since = Compare(owned(style, "r", "from"), Comparison.AT_LEAST, Constant("1840"))
    late = matching(married, where=since)
    page = await evaluate(stored, plan(late, give("p", "q")), limit=9)
    assert rows(page) == [tuple(map(style.node_id, pair)) for pair in (("ada", "cyd"), ("cyd", "ada"))]


async def test_a_mediator_is_a_node_where_a_pattern_has_a_single_hop_to_it(stored: GraphAdapter, style: Style):
    to_it = edge("p", style.relation_id("marriage"), "m")
    page = await evaluate(stored, plan(matching(to_it, where=is_id("p", style.node_id("ada"))), give("m")), limit=9)
    assert rows(page) == [(style.node_id("marriage1"),), (style.node_id("marriage2"),)]


async def test_parallel_edges_and_their_properties_are_told_apart(stored: GraphAdapter, style: Style):
    knows = matching(edge("p", style.relation_id("knows"), "q"), where=is_id("p", style.node_id("ada")))
    shown = give("q", named("since", owned(style, "r", "since")))
    page = await evaluate(stored, plan(knows, shown), limit=9)
    assert rows(page) == [(style.node_id("ben"), 1830), (style.node_id("ben"), 1841), (style.node_id("cyd"), None)]


async def test_labels_and_relations_are_counted_without_reading_them(stored: GraphAdapter, style: Style):
    count = give(named("n", total(AggregateFunction.COUNT)))
    for asked, expected in (
        (matching(node("b", style.label_id("Boat"))), definition.BOATS),
        (matching(edge("v", style.relation_id("visited"), "h")), definition.VISITORS),
    ):
        assert rows(await evaluate(stored, plan(asked, count), limit=1, bound=5)) == [(expected,)]


async def test_dates_and_texts_of_several_languages_are_values(stored: GraphAdapter, style: Style):
    born = Compare(owned(style, "p", "born"), Comparison.EQUAL, Constant("1815-12"))
    shown = give(named("born", owned(style, "p", "born")), named("motto", owned(style, "p", "motto")))
    page = await evaluate(stored, plan(matching(node("p", style.label_id("Person")), where=born), shown), limit=9)
    assert rows(page) == [("1815-12-10", ["Le temps guérit", "Time heals"])]
