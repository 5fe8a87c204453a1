"""Ways through mediators are counted without reading every node's id, and yet only those through mediators."""

from __future__ import annotations

import pytest
from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.freebase import relations as counts_module
from kgnav_mcp.adapters.freebase.relations import CountReader
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.freebase.stubbed import ANN, ns, store_of, told

LED, ELSEWHERE, MIXED, GUEST, HOST = (ns(f"club.{name}") for name in ("led", "elsewhere", "mixed", "guest", "host"))
OTHER = URIRef("http://other.example/1")
NEAR = r"SELECT \?p \(COUNT"
THROUGH, RECOUNT = r"AS \?first", r"AS \?number"


def _way(near: URIRef, far: URIRef, rows: int, first: Term, last: Term) -> dict[str, Term]:
    return {"near": near, "far": far, "n": Literal(rows), "first": first, "last": last}


async def test_two_of_the_nodes_tell_what_a_relation_leads_to_and_where_they_differ_each_is_looked_at():
    endpoint = told(
        (NEAR, [{"p": relation, "n": Literal(9)} for relation in (LED, ELSEWHERE, MIXED)]),
        (
            THROUGH,
            [
                _way(LED, GUEST, 9, ns("g.1"), ns("m.2")),
                _way(LED, HOST, 1, ns("g.1"), ns("g.1")),
                _way(ELSEWHERE, GUEST, 9, OTHER, ns("film.film")),
                _way(ELSEWHERE, HOST, 9, BNode("nodeID://b1"), OTHER),
                _way(MIXED, GUEST, 9, ns("g.1"), OTHER),
                _way(MIXED, HOST, 9, ns("g.1"), ns("g.2")),
            ],
        ),
        (
            RECOUNT,
            [
                {"number": Literal(0), "s": ANN, "far": GUEST, "n": Literal(7)},
                {"number": Literal(0), "s": ANN, "far": HOST, "n": Literal(8)},
            ],
        ),
    )
    counts = await CountReader(store_of(endpoint)).two_hops([ANN], Direction.OUTGOING, None)
    assert counts.rows == {ANN: {(LED, GUEST): 9, (LED, HOST): 1, (MIXED, GUEST): 7, (MIXED, HOST): 8}}
    assert counts.mediators == {(LED, GUEST): (ns("g.1"), ns("m.2")), (LED, HOST): (ns("g.1"),)}
    assert counts.stop is Stop.COMPLETE
    (recount,) = (query for query in endpoint.queries if "AS ?number" in query)
    assert (str(MIXED) in recount, str(LED) in recount, str(ELSEWHERE) in recount) == (True, False, False)


async def test_what_a_sample_of_a_very_large_hub_missed_is_counted_when_it_is_named():
    endpoint = told(
        (NEAR, [{"p": relation, "n": Literal(5_000_000)} for relation in (LED, MIXED)]),
        (f"{THROUGH}.*{MIXED}", [_way(MIXED, HOST, 3, ns("g.3"), ns("g.4"))]),
        (THROUGH, [_way(LED, GUEST, 9, ns("g.1"), ns("g.2"))]),
        (RECOUNT, [{"number": Literal(0)}]),
    )
    counts = CountReader(store_of(endpoint))
    assert (await counts.two_hops([ANN], Direction.OUTGOING, None)).by_path() == {(LED, GUEST): Count(9)}
    asked = len(endpoint.queries)
    assert (await counts.two_hops([ANN], Direction.OUTGOING, None, [LED])).by_path() == {(LED, GUEST): Count(9)}
    assert len(endpoint.queries) == asked
    assert (await counts.two_hops([ANN], Direction.OUTGOING, None, [MIXED])).by_path() == {(MIXED, HOST): Count(3)}


async def test_a_hub_collapses_by_five_queries(graph: GraphAdapter, asked: list[str]):
    seen = await search(graph, "m.club", Direction.INCOMING, limits=Limits(collapse_single=True))
    assert seen.relations is not None
    assert all(facts.examples for facts in seen.relations.items)
    assert len(asked) == 5, "\n".join(asked)


@pytest.mark.parametrize("direction", Direction)
async def test_of_a_very_large_hub_only_relations_that_lead_to_mediators_are_followed_and_counted_as_exactly(
    freebase: str, graph: GraphAdapter, direction: Direction, monkeypatch: pytest.MonkeyPatch
):
    """Both ways of counting, at the one hub: what is very large is a matter of a constant."""
    whole = await graph.relations(["m.club"], direction, hops=2, limit=50)
    assert sum(len(facts.hops) == 2 for facts in whole.items) == (3 if direction is Direction.OUTGOING else 1)
    monkeypatch.setattr(counts_module, "_MAX_ROWS_FOLLOWED", 100)
    async with open_adapter(freebase, AdapterOptions()) as again:
        assert await again.relations(["m.club"], direction, hops=2, limit=50) == whole
