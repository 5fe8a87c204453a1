"""The SPARQL adapters over a store inside the test, whose answers are cut query by query."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from kgnav_mcp.model import Count, Stop
from kgnav_mcp.port import GraphAdapter, ValueOwner
from tests.adapters.sparql_base.inprocess import Told
from tests.contract.faults import people
from tests.contract.faults.catalogue import RELATION_COUNTS, CatalogueInPart
from tests.contract.faults.lists import ListsInPart
from tests.contract.faults.people import BOB, CYD, namesakes
from tests.contract.faults.relations import RelationsInPart
from tests.contract.faults.schema import HEADS, TAILS, SchemaInPart
from tests.contract.faults.spoilt import WITH_NAMES

DATATYPES = "DATATYPE"


class TestEndpointInPart(ListsInPart, RelationsInPart, SchemaInPart, CatalogueInPart):
    notation = people.ENDPOINT
    most_followed = 50
    no_id = "ex:nobody"
    there = "FILTER EXISTS"
    type_counts = r"WHERE \{ \?s <[^>]*> \?t FILTER\(isIRI"
    value_count = r"COUNT\(DISTINCT \?v\)"
    examples = r"AS \?number\) \?o"
    hub_size = Count.at_least(51)
    details = (HEADS, TAILS, DATATYPES)
    parts = (
        {"slow": [RELATION_COUNTS]},
        {"slow": [type_counts]},
        {"cut": {RELATION_COUNTS: 1}},
        {"cut": {type_counts: 0}},
    )
    capped_parts = ({"capped": {RELATION_COUNTS: 1}}, {"capped": {type_counts: 0}})
    keeps_lower_bounds, read_again = True, False
    beside = (
        "[] <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> "
        "<<( <http://ex.example/n1> <http://ex.example/knows> <http://ex.example/n2> )>> ; "
        "<http://ex.example/since> 1840 ."
    )
    most_compared = 200_000

    def denied(self, graph: GraphAdapter) -> Sequence[Awaitable[Any]]:
        return (
            *super().denied(graph),
            graph.values("nothing", None, ValueOwner.RELATIONSHIP, limit=5),
            graph.values("since", "nothing", ValueOwner.RELATIONSHIP, limit=5),
        )


class TestFreebaseInPart(ListsInPart, RelationsInPart, SchemaInPart, CatalogueInPart):
    notation = people.FREEBASE
    no_id, there = "dr.dre", "EXISTS"
    type_counts = r"SELECT \?t \(COUNT"
    value_count = r"COUNT\(DISTINCT \?v\)"
    examples = r"AS \?o0|AS \?number"
    hub_size = Count(700)
    does_without = empty_pages = False
    details = (HEADS, TAILS, DATATYPES)
    _listed = r"SELECT DISTINCT \?p"
    parts = ({"cut": {RELATION_COUNTS: 0, _listed: 1}}, {"cut": {RELATION_COUNTS: 0, type_counts: 0}})
    capped_parts = (
        {"capped": {RELATION_COUNTS: 1}},
        {"capped": {type_counts: 1}},
        {"cut": {RELATION_COUNTS: 1}, "capped": {_listed: 1}},
    )
    read_again = True
    most_compared = 1_000_000

    def examples_told(self) -> Sequence[Told]:
        iri, node = self.notation.iri, self.notation.node
        known = {f"o{place}": iri(node(number)) for place, number in enumerate((BOB, CYD))}
        return [(r"AS \?o0", [{"p": iri(self.notation.knows)} | known])]


class TestWikidataInPart(ListsInPart, RelationsInPart, SchemaInPart):
    notation = people.WIKIDATA
    no_id, there, has_mediators = "P9", r"SELECT DISTINCT \?s WHERE \{ VALUES", False
    type_counts = r"\?o \(COUNT"
    value_count = "LIMIT 5001"
    examples = r"AS \?number"
    hub_size = Count.at_least(51)
    details = (HEADS, TAILS, r"DISTINCT \?q")
    datatype = ("quantity",)

    async def test_nodes_by_a_label_that_the_row_cap_cut_are_no_exact_number(self):
        async with self.opened(namesakes(3), capped={WITH_NAMES: 2}) as (graph, _):
            first = await graph.nodes(None, "label", "Ann", limit=1)
            assert (first.items[0].label, first.total, first.stop) == ("Ann", Count.at_least(2), Stop.LIMIT)
            last = await graph.nodes(None, "label", "Ann", limit=1, after="1")
            assert (last.items[0].label, last.total, last.stop) == ("Ann", Count.at_least(2), Stop.ROW_CAP)


class TestTruthyWikidataInPart(TestWikidataInPart):
    notation = people.TRUTHY
    details = (HEADS, TAILS)
