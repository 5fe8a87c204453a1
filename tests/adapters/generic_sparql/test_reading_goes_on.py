"""What is read of a graph when it is first needed is read on where the call that needs it has no time left."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field

import pytest

from kgnav_mcp.adapters.sparql_base.results import Answer
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.contract.faults.catalogue import RELATION_COUNTS

TURTLE = "@prefix ex: <http://ex.example/> . ex:a ex:knows ex:b ."


@dataclass
class Halting(InProcess):
    """Counts the relations of its graph only when it may."""

    may: asyncio.Event = field(default_factory=asyncio.Event)
    counting: int = 0

    async def select(self, query: str, **rest: object) -> Answer:
        if re.search(RELATION_COUNTS, query):
            self.counting += 1
            await self.may.wait()
        return await super().select(query, **rest)


async def test_the_next_call_finds_what_was_read_meanwhile():
    endpoint = Halting(TURTLE)
    async with opened_over(endpoint, HERE) as graph:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await graph.schema(None, limit=9)
        endpoint.may.set()
        schema = await graph.schema(None, limit=9)
        assert [facts.relation.id for facts in schema.relations] == ["ex:knows"]
    assert endpoint.counting == 1


async def test_closing_the_graph_ends_the_reading():
    endpoint = Halting(TURTLE)
    async with opened_over(endpoint, HERE) as graph:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await graph.schema(None, limit=9)
        assert len(asyncio.all_tasks()) > 1
    assert asyncio.all_tasks() == {asyncio.current_task()}
