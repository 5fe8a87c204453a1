"""Relations at entities, and at hubs, of which not all was read in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Direction, Stop
from tests.adapters.sparql_base.clock import Clock
from tests.adapters.sparql_base.inprocess import ALL_ROWS, Told
from tests.contract.faults.people import ANN, BOB, CYD, PEOPLE, Person
from tests.contract.faults.spoilt import SpoiltStore
from tests.rows import triples_at

OUT, IN = Direction.OUTGOING, Direction.INCOMING
FANS = 700
COUNTS = r"\(COUNT\(\*\) AS \?n\) WHERE .*GROUP BY"
"""How many rows of each relation entities have."""


class RelationsInPart(SpoiltStore):
    """Counts and examples."""

    examples: ClassVar[str]
    """The examples of the relations at an entity, or at several."""
    hub_size: ClassVar[Count]
    """What is known of a hub with more rows than the 50 that are wanted."""
    keeps_lower_bounds: ClassVar[bool] = False
    """Whether counts that time cut are kept like others. Otherwise they are counted again at once."""

    def examples_told(self) -> Sequence[Told]:
        """What the store says of the examples at Ann, where a store inside the test does not know the query."""
        return ()

    @pytest.mark.parametrize("limit", [1, 9])
    @pytest.mark.parametrize(("numbers", "direction"), [([ANN], OUT), ([ANN, BOB], OUT), ([CYD], IN)])
    async def test_examples_that_were_not_read_in_time_are_said_to_be_missing(
        self, numbers: list[int], direction: Direction, limit: int
    ):
        ids = self.ids(numbers)
        async with self.opened(PEOPLE, answers=self.examples_told()) as (graph, store):
            whole = await graph.relations(ids, direction, examples=2, limit=limit)
            assert whole.stop is (Stop.LIMIT if limit == 1 and direction is OUT else Stop.COMPLETE)
            assert all(len(facts.examples) == 2 for facts in whole.items if facts.relation.id == self.notation.knows)
            store.cut = {self.examples: ALL_ROWS}
            part = await graph.relations(ids, direction, examples=2, limit=limit)
            assert [facts.count for facts in part.items] == [facts.count for facts in whole.items]
            assert part.stop is Stop.TIME_OUT
            store.cut, store.slow = {}, [self.examples]
            if self.does_without:
                late = await graph.relations(ids, direction, examples=2, limit=limit)
                assert [facts.count for facts in late.items] == [facts.count for facts in whole.items]
                assert (any(facts.examples for facts in late.items), late.stop) == (False, Stop.TIME_OUT)
            else:
                with pytest.raises(StoreTimeout):
                    await graph.relations(ids, direction, examples=2, limit=limit)
            page = await graph.relations(ids, direction, limit=limit)  # without any examples
            assert page.stop is whole.stop

    async def test_counts_that_a_time_out_cut_are_counted_again(self, clock: Clock):
        async with self.opened(PEOPLE) as (graph, store):
            store.cut = {COUNTS: ALL_ROWS}
            part = await graph.relations(self.ids([BOB]), OUT, limit=9)
            assert {facts.count for facts in part.items} == {Count.at_least(1)}
            store.mend()
            for seconds, is_part in ((59, self.keeps_lower_bounds), (61, False)):
                clock.now = seconds
                again = await graph.relations(self.ids([BOB]), OUT, limit=9)
                assert {facts.count for facts in again.items} == {Count.at_least(1) if is_part else Count(1)}

    async def test_counts_are_kept_for_a_minute(self, clock: Clock):
        async with self.opened(PEOPLE) as (graph, store):
            for seconds, is_counted in ((0, True), (59, False), (61, True), (120, False), (122, True)):
                store.queries.clear()
                clock.now = seconds
                await graph.relations(self.ids([ANN]), OUT, limit=9)
                assert any("COUNT" in query for query in store.queries) is is_counted

    async def test_that_an_entity_is_a_hub_is_learnt_by_one_short_query_without_names(self):
        fans = [Person(n, f"Fan {n}", (CYD,)) for n in range(10, 10 + FANS)]
        async with self.opened(fans) as (graph, store):
            store.queries.clear()
            page = await triples_at(graph, self.ids([CYD]), IN, limit=50, all_or_none=True)
        assert (page.items, page.stop, page.total) == ((), Stop.LIMIT, self.hub_size)
        (asked,) = store.queries
        assert asked.endswith("LIMIT 51") or "COUNT" in asked
