"""Hubs: counted where the endpoint can, asked property by property where it cannot, partial where time runs out."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base import names as names_module
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Certainty, Count, Direction, Stop
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.sparql_base.clock import Clock, timed
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.adapters.sparql_base.stub import Exchange
from tests.adapters.wikidata.graph import FANS, HUMAN
from tests.adapters.wikidata.stubbed import BASE, iri, literal, number, opened, query_of, rows, wikibase
from tests.contract.faults.people import ANN, WIKIDATA, Person
from tests.rows import triples_at

_SLOW = "java.util.concurrent.TimeoutException"


async def test_a_hub_of_a_fast_endpoint_is_counted(graph: GraphAdapter):
    page = await graph.relations([HUMAN], Direction.INCOMING, examples=2, limit=50)
    assert [(facts.relation.id, facts.count.value) for facts in page.items] == [("wdt:P31", FANS + 1), ("wdt:P463", 3)]
    assert all(facts.count.certainty is Certainty.EXACT and len(facts.examples) == 2 for facts in page.items)


async def test_a_hub_of_a_slow_endpoint_is_queried_property_by_property(wikibase_location: str):
    async with open_adapter(wikibase_location, AdapterOptions(extra={"counted": 100})) as graph:
        page = await graph.relations([HUMAN], Direction.INCOMING, examples=2, limit=50)
        whole = await triples_at(graph, [HUMAN], Direction.INCOMING, limit=50, all_or_none=True)
    assert [(facts.relation.id, facts.count.value) for facts in page.items] == [("wdt:P31", FANS + 1), ("wdt:P463", 3)]
    assert (whole.items, whole.stop) == ((), Stop.LIMIT)


@pytest.mark.parametrize("counted", [100, 1_000_000])
async def test_every_row_of_a_hub_is_paged_through_once(wikibase_location: str, counted: int):
    seen: list[str] = []
    async with open_adapter(wikibase_location, AdapterOptions(extra={"counted": counted})) as graph:
        after: str | None = None
        for _ in range(20):
            page = await triples_at(graph, [HUMAN], Direction.INCOMING, limit=150, after=after)
            seen += [f"{triple.head.id} {triple.relation.id}" for triple in page.items]
            if page.stop is Stop.COMPLETE:
                break
            after = page.positions[-1]
    assert len(seen) == len(set(seen)) == FANS + 1 + 3


COUNTS, UP_TO_A_BOUND, LEADING = r"COUNT(?!.*AS \?number)", r"COUNT.*AS \?number", "FILTER EXISTS"
STAR = WIKIDATA.node(ANN)


def _hub(*slow: str) -> AbstractAsyncContextManager[GraphAdapter]:
    """A hub with too many rows to count them; these queries take too long, too."""
    fans = [Person(n, f"Fan {n}", (ANN,)) for n in range(10, 1_011)]
    return opened_over(InProcess(WIKIDATA.written(fans), slow=[COUNTS, *slow]), WIKIDATA.location)


async def test_a_hub_that_cannot_be_counted_collapses_by_the_catalogue():
    async with _hub() as graph:
        page = await graph.relations([STAR], Direction.INCOMING, limit=50)
    assert [(facts.relation.id, facts.count) for facts in page.items] == [(WIKIDATA.knows, Count.at_least(1_001))]
    assert page.stop is Stop.COMPLETE


async def test_counts_that_take_too_long_leave_the_relation_with_a_lower_bound():
    async with _hub(UP_TO_A_BOUND) as graph:
        page = await graph.relations([STAR], Direction.INCOMING, limit=50)
    assert [(facts.relation.id, facts.count) for facts in page.items] == [(WIKIDATA.knows, Count.at_least(1))]


async def test_relations_that_were_not_all_asked_for_in_time_are_marked_as_partial():
    properties = {f"P{n}": ("WikibaseItem", f"relation {n}") for n in range(1, 500)} | {
        "P31": ("WikibaseItem", "instance of")
    }
    asked = 0

    async def answer(exchange: Exchange) -> None:
        nonlocal asked
        query = query_of(exchange)
        asked += "FILTER EXISTS" in query
        if "FILTER EXISTS" in query and asked == 1:
            await exchange.answer(rows({"direct": iri(f"{BASE}/prop/direct/P31")}))
        elif "AS ?number" in query:
            await exchange.answer(rows({"n": number(7), "number": number(0)}))
        elif "FILTER EXISTS" not in query and "COUNT" not in query:
            await exchange.answer(rows())
        else:
            await exchange.answer(_SLOW, status="500 X", kind="text/plain")

    async with opened(wikibase(answer, properties)) as (graph, _):
        page = await graph.relations(["Q5"], Direction.INCOMING, limit=50)
    assert [facts.relation.id for facts in page.items] == ["wdt:P31"]
    assert page.stop is Stop.TIME_OUT
    assert page.items[0].count.certainty is Certainty.AT_LEAST


async def test_a_hub_of_which_nothing_is_learnt_in_time_is_a_time_out_and_no_empty_list():
    async with _hub(LEADING) as graph:
        for ask in (
            graph.relations([STAR], Direction.INCOMING, limit=50),
            triples_at(graph, [STAR], Direction.INCOMING, limit=50),
            triples_at(graph, [STAR], Direction.INCOMING, limit=50, all_or_none=True),
        ):
            with pytest.raises(StoreTimeout) as caught:
                await ask
            assert "outgoing" in caught.value.next_step
    async with _hub("OFFSET") as graph:
        with pytest.raises(StoreTimeout):
            await triples_at(graph, [STAR], Direction.INCOMING, relation_paths=[("P26",)], limit=50)


async def test_labels_are_kept_for_an_hour(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(names_module, "TTLCache", timed(clock := Clock()))
    asked = 0

    async def answer(exchange: Exchange) -> None:
        nonlocal asked
        is_label = "rdfs:label" in query_of(exchange)
        asked += is_label
        await exchange.answer(rows(*[{"s": iri(f"{BASE}/entity/Q5"), "o": literal("human", "en")}] * is_label))

    async with opened(wikibase(answer)) as (graph, _):
        for seconds, expected in [(0, 1), (3_599, 1), (3_661, 2)]:
            clock.now = seconds
            assert (await graph.describe(["Q5"]))["Q5"].label == "human"
            assert asked == expected
