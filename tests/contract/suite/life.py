"""Hostile ids and texts, repeatable answers, concurrent and cancelled calls, time-outs and closing."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import StoreError, StoreTimeout
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.contract import toy
from tests.contract.suite.base import ALL, AdapterContract
from tests.contract.toy_views import View, as_row, as_rows, tally
from tests.rows import triples_at

_OTHER_PROCESS = """
import asyncio, json, sys
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.model import Direction
from kgnav_mcp.port import AdapterOptions

async def main():
    async with open_adapter(sys.argv[1], AdapterOptions()) as adapter:
        page = await adapter.neighbours(json.loads(sys.argv[2]), Direction.INCOMING, limit=20, after=sys.argv[3])
        print(json.dumps([[link.triple.head.id, link.triple.relation.id] for link in page.items]))

asyncio.run(main())
"""


class HostileContract(AdapterContract):
    async def test_hostile_literals_come_back_unharmed(self, adapter: GraphAdapter, view: View):
        node = view.node(toy.HOSTILE_ID)
        page = await triples_at(adapter, [node], Direction.OUTGOING, limit=ALL)
        assert tally(as_rows(page.items)) == tally(view.around([node], Direction.OUTGOING))

    async def test_hostile_names_find_their_entities_and_nothing_else(self, adapter: GraphAdapter, view: View):
        for number, text in enumerate(toy.HOSTILE_TEXTS):
            local = toy.HOSTILE_ID if number == 0 else f"hostile{number}"
            page = await adapter.find_by_name(text, limit=5)
            assert [(one.entity.id, one.entity.label) for one in page.items] == [(view.node(local), text)]
            assert (await adapter.find(text, limit=5)).items[0].entity.id == view.node(local)

    async def test_hostile_relations_and_edge_properties_come_back_unharmed(self, adapter: GraphAdapter, view: View):
        hunter, relation = view.node(toy.HOSTILE_HUNTER), view.relation(toy.HOSTILE_RELATION)
        facts = await adapter.relations([hunter], Direction.OUTGOING, limit=ALL)
        assert relation in [item.relation.id for item in facts.items]
        page = await triples_at(adapter, [hunter], Direction.OUTGOING, relation_paths=[(relation,)], limit=ALL)
        assert as_rows(page.items) == [row for row in view.rows if row[1] == relation]

    async def test_injections_as_arguments_find_nothing_and_change_nothing(self, adapter: GraphAdapter, view: View):
        before = await adapter.schema(limit=ALL)
        for text in toy.HOSTILE_TEXTS:
            assert await adapter.describe([text]) == {}
            assert (await adapter.relations([text], Direction.OUTGOING, limit=5)).items == ()
            ada = [view.node("ada")]
            assert (await triples_at(adapter, ada, Direction.OUTGOING, relation_paths=[(text,)], limit=5)).items == ()
            found = await adapter.nodes(None, view.relation("note"), text, limit=5)
            assert [entity.id for entity in found.items] == [view.node(toy.HOSTILE_ID)]
        assert await adapter.schema(limit=ALL) == before

    async def test_every_id_printed_is_accepted_again(self, adapter: GraphAdapter, view: View):
        printed: set[str] = set()
        for node in map(view.node, ("ada", toy.HUB, toy.HOSTILE_HUNTER)):
            for direction in Direction:
                page = await triples_at(adapter, [node], direction, limit=ALL)
                ends = [triple.far_end(direction) for triple in page.items]
                printed |= {end.id for end in ends if isinstance(end, Entity)}
                for relation in {triple.relation.id for triple in page.items}:
                    again = await triples_at(adapter, [node], direction, relation_paths=[(relation,)], limit=ALL)
                    assert again.items == tuple(triple for triple in page.items if triple.relation.id == relation)
        found = await adapter.describe(sorted(printed))
        assert {reference: entity.id for reference, entity in found.items()} == {id_: id_ for id_ in printed}


class LifeContract(AdapterContract):
    async def test_the_same_call_gives_the_same_answer_also_after_opening_again(
        self, adapter: GraphAdapter, location: str, options: AdapterOptions, view: View
    ):
        async with open_adapter(location, options) as other:
            assert adapter.revision == other.revision
            first, second, third = [await _everything(one, view) for one in (adapter, adapter, other)]
        assert first == second == third

    async def test_another_process_goes_on_behind_a_position(self, adapter: GraphAdapter, location: str, view: View):
        ids = [view.node(toy.HUB)]
        page = await triples_at(adapter, ids, Direction.INCOMING, limit=30)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _OTHER_PROCESS,
            location,
            json.dumps(ids),
            page.positions[9],
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate()
        assert json.loads(output) == [list(as_row(triple)[:2]) for triple in page.items[10:]]

    async def test_twenty_calls_at_once_answer_as_one_by_one(self, adapter: GraphAdapter, view: View):
        async def read(number: int) -> object:
            node = view.node(f"visitor{number:03}")
            return await triples_at(adapter, [node], Direction.OUTGOING, limit=ALL)

        one_by_one = [await read(number) for number in range(20)]
        assert await asyncio.gather(*(read(number) for number in range(20))) == one_by_one

    async def test_cancelled_calls_leave_the_graph_usable(self, adapter: GraphAdapter, view: View):
        ids = [view.node(node.id) for node in toy.NODES]
        tasks = [asyncio.ensure_future(triples_at(adapter, ids, Direction.OUTGOING, limit=ALL)) for _ in range(20)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended)
        assert (await adapter.describe([view.node("ada")]))[view.node("ada")].label == "Ada Stone"

    async def test_a_call_that_takes_too_long_raises_a_time_out(self, location: str, view: View):
        hasty = open_adapter(location, AdapterOptions(timeout=1e-6))

        async def open_and_ask() -> None:
            await hasty.open()
            await hasty.relations([view.node(toy.HUB)], Direction.INCOMING, limit=ALL)

        with pytest.raises(StoreTimeout) as caught:
            await open_and_ask()
        assert caught.value.next_step
        await hasty.close()

    async def test_closing_twice_is_safe_and_a_closed_graph_says_so(self, location: str, view: View):
        adapter = open_adapter(location, AdapterOptions())
        await adapter.open()
        await adapter.close()
        await adapter.close()
        with pytest.raises(StoreError):
            await adapter.describe([view.node("ada")])


async def _everything(adapter: GraphAdapter, view: View) -> list[object]:
    """One answer of every verb."""
    hub = [view.node(toy.HUB)]
    return [
        await adapter.describe(hub),
        await adapter.find_by_name("Mercury", limit=5),
        await adapter.find("harbour", limit=5),
        await adapter.relations(hub, Direction.INCOMING, examples=2, limit=ALL),
        await triples_at(adapter, hub, Direction.INCOMING, limit=50),
        await adapter.nodes(None, view.relation("flag"), "red", limit=7),
        await adapter.values(view.relation("code"), None, ValueOwner.NODE, limit=7),
        await adapter.schema(limit=7),
    ]
