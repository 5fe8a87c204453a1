"""The Wikidata adapter passes the contract on live stores, with full statements and with truthy values only."""

from __future__ import annotations

from typing import ClassVar

import pytest

from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Scalar
from kgnav_mcp.port import GraphAdapter
from tests.contract import toy, toy_views, toy_wikibase
from tests.contract.suite import GraphAdapterContract, GraphFormContract, StoreContract
from tests.contract.toy_views import View
from tests.navigation.plans.writing import compared, edge, give, matching, plan, rows
from tests.services import Blazegraph, Oxigraph, Virtuoso

GRAPH = "http://toy.example/wikidata"
TRUTHY = "http://toy.example/wikidata-truthy"


@pytest.fixture(scope="module")
def toy_location(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as Wikidata writes it, loaded into its own named graph."""
    oxigraph.load(toy_wikibase.write(tmp_path_factory.mktemp("wikidata")), GRAPH)
    return f"wikidata+{oxigraph.url}?default-graph-uri={GRAPH}"


class QualifierContract:
    """Edges are found by qualifiers of any type."""

    @pytest.mark.parametrize(
        ("qualified", "value", "heads"),
        [
            (("visited", "year"), 1953, [f"visitor{number:03}" for number in range(3, toy.VISITORS, 5)]),
            (("visited", "year"), [1953.0, 1900], [f"visitor{number:03}" for number in range(3, toy.VISITORS, 5)]),
            (("knows", "how"), "work", ["ada"]),
            (("lives_at", "until"), "1850-05", ["ada"]),
            (("lives_at", "until"), "1850-06", []),
            ((toy.HOSTILE_RELATION, "note"), [toy.HOSTILE_TEXTS[4], toy.HOSTILE_TEXTS[5]], [toy.HOSTILE_HUNTER]),
        ],
    )
    async def test_of_a_relation_only_the_edges_are_read_that_have_the_value_of_a_qualifier(
        self,
        adapter: GraphAdapter,
        view: View,
        qualified: tuple[str, str],
        value: Scalar | list[Scalar],
        heads: list[str],
    ):
        relation, qualifier = qualified
        condition = compared(f"r.{view.relation(qualifier)}", "=" if isinstance(value, Scalar) else "IN", value)
        asked = plan(matching(edge("a", view.relation(relation), "b"), where=condition), give("a"))
        page = await PlanRunner(adapter, bound=40).run(asked, limit=99)
        assert sorted(rows(page)) == sorted((view.node(head),) for head in heads)


@pytest.mark.one_in(3, first=1, of="ten_thousand")
@pytest.mark.one_in(3, of="test_what_left_nothing_of_an_answer_is_named")
@pytest.mark.one_in(3, of="test_a_list_that_is_too_long_to_be_read_is_searched_for_the_same_rows")
@pytest.mark.one_in(3, of="test_an_unknown_name_is_refused_unless_it_is_an_alternative_which_matches_nothing")
@pytest.mark.one_in(3, of="test_pages_of_any_size_lose_nothing_and_show_nothing_twice")
class TestWikidataOnOxigraph(QualifierContract, GraphAdapterContract):
    groups_by_values: ClassVar[bool] = False
    schemes: ClassVar[frozenset[str]] = frozenset({"wikidata+http", "wikidata+https"})
    style: ClassVar[toy_views.Style] = toy_views.WIKIDATA

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, toy_location: str) -> str:
        return toy_location


@pytest.fixture(scope="module")
def truthy_location(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph in the form of Wikidata's truthy dumps."""
    oxigraph.load(toy_wikibase.write(tmp_path_factory.mktemp("wikidata"), truthy=True), TRUTHY)
    return f"wikidata+{oxigraph.url}?default-graph-uri={TRUTHY}"


@pytest.mark.one_in(6)
class TestTruthyWikidataOnOxigraph(GraphFormContract):
    groups_by_values: ClassVar[bool] = False
    style: ClassVar[toy_views.Style] = toy_views.TRUTHY

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, truthy_location: str) -> str:
        return truthy_location


@pytest.fixture(scope="module")
def virtuoso_location(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as Wikidata writes it, on Virtuoso."""
    virtuoso.load(toy_wikibase.write(tmp_path_factory.mktemp("wikidata")), GRAPH)
    return f"wikidata+{virtuoso.url}?default-graph-uri={GRAPH}"


@pytest.mark.extended
class TestWikidataOnVirtuoso(QualifierContract, StoreContract):
    groups_by_values: ClassVar[bool] = False
    style: ClassVar[toy_views.Style] = toy_views.WIKIDATA

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso_location: str) -> str:
        return virtuoso_location


@pytest.fixture(scope="module")
def blazegraph_location(blazegraph: Blazegraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The toy graph as Wikidata writes it, on the store that Wikidata's query service runs."""
    blazegraph.load(toy_wikibase.write(tmp_path_factory.mktemp("wikidata")), GRAPH)
    return f"wikidata+{blazegraph.url}?default-graph-uri={GRAPH}"


class TestWikidataOnBlazegraph(QualifierContract, StoreContract):
    groups_by_values: ClassVar[bool] = False
    style: ClassVar[toy_views.Style] = toy_views.WIKIDATA

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, blazegraph_location: str) -> str:
        return blazegraph_location
