"""What a value means, and what a relation leads to, is not said to be all where it is not."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rdflib import URIRef

from kgnav_mcp.adapters.endpoint import lists as lists_module
from kgnav_mcp.adapters.endpoint.catalogue import CatalogueCache
from kgnav_mcp.adapters.endpoint.linking import Linker
from kgnav_mcp.adapters.endpoint.lists import ListReader
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.relations import RelationReader
from kgnav_mcp.adapters.paging.directions import RelationRequest
from kgnav_mcp.adapters.sparql import lists as floor
from kgnav_mcp.model import Count, Direction, Page, RelationFacts, Stop
from tests.adapters.endpoint.inprocess import counts_of, store_of
from tests.adapters.sparql.inprocess import InProcess

BEARERS = "LIMIT 1000$"
FOLLOWED = 50
EXAMPLES = r"AS \?number"
ANN = URIRef("http://ex.example/ann")


def _namesakes(number: int) -> str:
    """A graph with so many nodes that are called Ann, each known by another node."""
    triples = [
        f'ex:ann{n} <http://www.w3.org/2000/01/rdf-schema#label> "Ann" . ex:fan{n} ex:knows ex:ann{n} .'
        for n in range(number)
    ]
    return "\n".join(["PREFIX ex: <http://ex.example/>", "ex:bob ex:knows ex:cyd .", *triples])


async def _lists(client: InProcess) -> ListReader:
    store = await store_of(client)
    names = Names(store)
    return ListReader(store, Linker(store, names), CatalogueCache(store, names))


@pytest.mark.parametrize(
    ("namesakes", "total", "stop"),
    [(FOLLOWED, Count(FOLLOWED), Stop.COMPLETE), (FOLLOWED + 1, Count.at_least(FOLLOWED), Stop.LIMIT)],
)
async def test_a_list_for_more_namesakes_than_are_followed_is_not_said_to_be_all(
    namesakes: int, total: Count, stop: Stop
):
    lists = await _lists(InProcess(_namesakes(namesakes)))
    page = await lists.nodes(None, "knows", "Ann", 100, None)
    assert (len(page.items), page.total, page.stop) == (FOLLOWED, total, stop)
    page = await lists.nodes(None, "knows", "ex:ann7", 100, None)
    assert ([entity.id for entity in page.items], page.total, page.stop) == (["ex:fan7"], Count(1), Stop.COMPLETE)


async def test_namesakes_that_the_row_cap_left_out_make_the_end_of_a_list_no_end():
    lists = await _lists(InProcess(_namesakes(3), capped={BEARERS: 2}))
    first = await lists.nodes(None, "knows", "Ann", 1, None)
    assert (len(first.items), first.total, first.stop) == (1, Count.at_least(2), Stop.LIMIT)
    last = await lists.nodes(None, "knows", "Ann", 1, first.positions[-1])
    assert (len(last.items), last.total, last.stop) == (1, Count.at_least(2), Stop.ROW_CAP)


async def test_a_value_by_whose_name_the_row_cap_left_nothing_may_have_nodes():
    for capped, total, stop in (({BEARERS: 0}, Count.at_least(0), Stop.ROW_CAP), ({}, Count(0), Stop.COMPLETE)):
        page = await (await _lists(InProcess(_namesakes(3), capped=capped))).nodes(None, "knows", "Eve", 5, None)
        assert (page.items, page.total, page.stop) == ((), total, stop)


async def _relations(client: InProcess, *, slow: str = "", cut: str = "", limit: int = 9) -> Page[RelationFacts]:
    """The relations of ann with examples, of an endpoint that runs out of time only once it is open."""
    store, names, counts = await counts_of(client)
    client.slow, client.cut = [slow] if slow else [], {cut: 1} if cut else {}
    asked = RelationRequest((), Direction.OUTGOING, 1, None, 2, limit)
    return await RelationReader(store, names, counts).page([ANN], asked)


ENTITIES = "PREFIX ex: <http://ex.example/> ex:ann ex:knows ex:bob, ex:cyd ; ex:likes ex:bob ."
BLANKS = "PREFIX ex: <http://ex.example/> ex:ann ex:knows ex:bob, [ ex:age 3 ] ; ex:likes ex:bob ."


@pytest.mark.parametrize("limit", [1, 9])
async def test_examples_that_were_not_read_in_time_are_said_to_be_missing(limit: int):
    whole = await _relations(InProcess(ENTITIES), limit=limit)
    assert (len(whole.items[0].examples), whole.stop) == (2, Stop.LIMIT if limit == 1 else Stop.COMPLETE)
    slow = await _relations(InProcess(ENTITIES), slow=EXAMPLES, limit=limit)
    assert ([facts.examples for facts in slow.items], slow.stop) == ([()] * min(limit, 2), Stop.TIME_OUT)
    part = await _relations(InProcess(ENTITIES), cut=EXAMPLES, limit=limit)
    assert ([facts.count for facts in part.items], part.stop) == ([facts.count for facts in whole.items], Stop.TIME_OUT)


async def test_far_ends_beside_blank_nodes_that_were_not_read_in_time_are_said_to_be_missing():
    pairs = r"SELECT \?s \?p \?o WHERE { VALUES \(\?s \?p\)"
    whole = await _relations(client := InProcess(BLANKS))
    assert (len(whole.items[0].examples), whole.stop) == (2, Stop.COMPLETE)
    assert any(re.search(pairs, query) for query in client.queries)
    part = await _relations(InProcess(BLANKS), cut=pairs)
    assert (len(part.items[0].examples), part.stop) == (0, Stop.TIME_OUT)


AGES = """
PREFIX ex: <http://ex.example/>
ex:ann ex:age "30" . ex:bob ex:age "30"@fr . ex:cyd ex:age 40 . ex:dan ex:age 30 .
"""


async def test_where_a_value_is_looked_up_in_usual_forms_only_the_list_says_so(monkeypatch: pytest.MonkeyPatch):
    lists = await _lists(InProcess(AGES))
    page = await lists.nodes(None, "age", "30", 5, None)
    assert (len(page.items), page.total, page.note) == (3, Count(3), "")
    few = replace(lists_module.TEMPLATES, most_compared=3)
    monkeypatch.setattr(lists_module, "TEMPLATES", few)
    lists = await _lists(InProcess(AGES))
    page = await lists.nodes(None, "age", "30", 5, None)
    assert [entity.id for entity in page.items] == ["ex:ann", "ex:dan"]
    assert (page.total, page.stop) == (Count.at_least(2), Stop.COMPLETE)
    assert "texts in other languages than en" in page.note
    page = await lists.nodes(None, "age", "50", 5, None)
    assert (page.items, page.total, bool(page.note)) == ((), Count.at_least(0), True)


async def test_blank_nodes_in_a_long_list_neither_repeat_nor_hide_a_node(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(floor, "MAX_SORTED", 2)
    mixed = " ".join(f"ex:n{n} ex:age {n} . [] ex:age {n} ." for n in range(6))
    lists = await _lists(InProcess(f"PREFIX ex: <http://ex.example/> {mixed}"))
    seen: list[str] = []
    after: str | None = None
    for _ in range(20):
        page = await lists.nodes(None, "age", None, 2, after)
        seen += [entity.id for entity in page.items]
        after = page.positions[-1] if page.positions else after
        if page.stop is Stop.COMPLETE:
            break
    assert sorted(seen) == [f"ex:n{n}" for n in range(6)]
