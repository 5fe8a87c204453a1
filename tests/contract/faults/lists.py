"""Lists of which the store's time or its row cap left a part: neither short ones, nor all that there is."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest
from rdflib import Literal

from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Stop
from kgnav_mcp.port import ValueOwner
from tests.adapters.sparql_base.inprocess import ALL_ROWS
from tests.contract.faults.people import ANN, BOB, PEOPLE, Person, fan_of, namesakes
from tests.contract.faults.spoilt import NODE_COUNT, OF_TYPES, SCAN, WITH_NAMES, SpoiltStore


class ListsInPart(SpoiltStore):
    """Lists of nodes and of values, and what a name means in them."""

    most_followed = 500
    """So many namesakes are followed."""
    there: ClassVar[str]
    """Whether a node without a name is in the graph, or leads on as a mediator does."""
    has_mediators: ClassVar[bool] = True
    no_id: ClassVar[str]
    """What has the form of an id, and may be a name."""

    @pytest.mark.parametrize("counted", [None, 0, 2, 40])
    async def test_a_list_that_was_not_all_counted_is_not_taken_for_a_short_one(self, counted: int | None):
        people = [Person(n, f"Person {n}") for n in range(11)]
        told = [(NODE_COUNT, [] if counted is None else [{"n": Literal(counted)}])]
        async with self.opened(people, answers=told, cut={NODE_COUNT: ALL_ROWS}) as (graph, _):
            for label in (None, self.person):
                first = await graph.nodes(label, None, None, limit=6)
                page = await graph.nodes(label, None, None, limit=3, after=first.positions[-1])
                assert (len(page.items), page.total, page.stop) == (3, Count.at_least(max(counted or 0, 9)), Stop.LIMIT)
            last = await graph.nodes(self.person, None, None, limit=3, after=page.positions[-1])
            total = Count.at_least(max(counted or 0, 11))
            assert (len(last.items), last.total, last.stop) == (2, total, Stop.COMPLETE)
            assert {one.id for one in (*first.items, *page.items, *last.items)} == set(self.ids(range(11)))

    @pytest.mark.parametrize("in_time", [0, ALL_ROWS])
    async def test_values_that_were_not_all_counted_are_not_taken_for_few(self, in_time: int):
        async with self.opened(PEOPLE, cut={self.value_count: in_time}) as (graph, _):
            first = await graph.values(self.notation.age, None, ValueOwner.NODE, limit=2)
            assert (len(first.items), first.stop) == (2, Stop.LIMIT)
            assert first.total == Count.at_least(3 if in_time else 2)
            last = await graph.values(self.notation.age, None, ValueOwner.NODE, limit=2, after=first.positions[-1])
            assert (len(last.items), last.total, last.stop) == (1, Count.at_least(3), Stop.COMPLETE)
            assert {one.value.text for one in (*first.items, *last.items)} == {"30", "40", "50"}

    @pytest.mark.parametrize(("name", "cut"), [("Ann", WITH_NAMES), ("ANN", SCAN)])
    @pytest.mark.parametrize("in_time", [0, ALL_ROWS])
    async def test_a_name_that_was_not_read_in_time_is_no_unambiguous_one(self, name: str, cut: str, in_time: int):
        async with self.opened(PEOPLE, cut={cut: in_time}) as (graph, _):
            for ask in (
                graph.find_by_name(name, limit=5),
                graph.nodes(None, self.notation.knows, name, limit=5),
            ):
                with pytest.raises(StoreTimeout, match="stopped the query"):
                    await ask

    async def test_an_entity_whose_names_were_not_read_in_time_is_not_taken_for_one_without(self):
        (ann,) = self.ids([ANN])
        async with self.opened(PEOPLE, cut={r"VALUES \?s \{": 0}) as (graph, store):
            with pytest.raises(StoreTimeout, match="stopped the query"):
                await graph.describe([ann])
            store.mend()
            assert (await graph.describe([ann]))[ann].label == "Ann"

    async def test_a_node_that_was_not_found_in_time_is_not_said_to_be_missing_and_may_be_a_mediator(self):
        (nameless,) = self.ids([4])
        async with self.opened([*PEOPLE, Person(4, "", (ANN,))], cut={self.there: 0}) as (graph, store):
            with pytest.raises(StoreTimeout, match="stopped the query"):
                await graph.describe([nameless])
            store.mend()
            assert (await graph.describe([nameless]))[nameless].mediator is self.has_mediators

    async def test_candidates_whose_types_were_not_all_read_in_time_are_no_whole_list(self):
        async with self.opened(PEOPLE, cut={OF_TYPES: 0}) as (graph, store):
            await self.nothing_in_time(graph.find("Bob", label=self.person, limit=5))
            store.mend()
            page = await graph.find("Bob", label=self.person, limit=5)
        assert ([one.entity.id for one in page.items], page.stop) == (self.ids([BOB]), Stop.COMPLETE)

    @pytest.mark.parametrize("more", [0, 1])
    async def test_a_list_for_more_namesakes_than_are_followed_is_not_said_to_be_all(self, more: int):
        most, knows = self.most_followed, self.notation.knows
        async with self.opened(namesakes(most + more)) as (graph, _):
            page = await graph.nodes(None, knows, "Ann", limit=most + more + 1)
            total, stop = (Count.at_least(most), Stop.LIMIT) if more else (Count(most), Stop.COMPLETE)
            assert (len(page.items), page.total, page.stop) == (most, total, stop)

    async def test_the_id_of_an_entity_is_no_name_of_others(self):
        async with self.opened(namesakes(3), capped={WITH_NAMES: 2}) as (graph, store):
            here, nowhere = self.ids([3, 9_999])
            for value, is_id in ((here, True), (nowhere, False), (self.no_id, False)):
                store.queries.clear()
                page = await graph.nodes(None, self.notation.knows, value, limit=5)
                assert [entity.id for entity in page.items] == (self.ids([fan_of(3)]) if is_id else [])
                assert any(re.search(WITH_NAMES, query) for query in store.queries) is not is_id
                if is_id:
                    assert (page.total, page.stop) == (Count(1), Stop.COMPLETE)

    async def test_namesakes_that_the_row_cap_left_out_make_the_end_of_a_list_no_end(self):
        async with self.opened(namesakes(3), capped={WITH_NAMES: 2}) as (graph, _):
            first = await graph.nodes(None, self.notation.knows, "Ann", limit=1)
            assert (len(first.items), first.total, first.stop) == (1, Count.at_least(2), Stop.LIMIT)
            last = await graph.nodes(None, self.notation.knows, "Ann", limit=1, after=first.positions[-1])
            assert (len(last.items), last.total, last.stop) == (1, Count.at_least(2), Stop.ROW_CAP)

    async def test_a_value_by_whose_name_the_row_cap_left_nothing_may_have_nodes(self):
        async with self.opened(namesakes(3), capped={WITH_NAMES: 0}) as (graph, store):
            page = await graph.nodes(None, self.notation.knows, "Eve", limit=5)
            assert (page.items, page.total, page.stop) == ((), Count.at_least(0), Stop.ROW_CAP)
            store.mend()
            page = await graph.nodes(None, self.notation.knows, "Eve", limit=5)
            assert (page.items, page.total, page.stop) == ((), Count(0), Stop.COMPLETE)
