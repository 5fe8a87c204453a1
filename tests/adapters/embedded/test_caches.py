"""Lists of relations are read once for all their pages and questions, and never taken for one another."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from unittest.mock import patch

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.relations import RelationReader
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.relations import get_relations
from kgnav_mcp.port import AdapterOptions, FarEndKind, GraphAdapter
from tests.contract import toy
from tests.navigation.walking import entity


@pytest.fixture
async def adapter(toy_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(toy_file), AdapterOptions()) as opened:
        yield opened


async def test_an_entity_that_was_described_is_not_looked_up_again(adapter: GraphAdapter) -> None:
    first = await adapter.describe(["ada"])
    with patch("kgnav_mcp.adapters.embedded.entities.described_by_id", side_effect=AssertionError("it is known")):
        assert await adapter.describe(["ada"]) == first
    assert await adapter.describe(["nobody"]) == {}
    assert await adapter.describe(["nobody", "ada"]) == first


async def test_another_question_about_the_same_entity_reads_nothing_anew(adapter: GraphAdapter) -> None:
    hub = await entity(adapter, toy.HUB)
    first = (await get_relations(adapter, hub, question="Which boats are moored there?", limits=Limits())).page
    with patch.object(RelationReader, "page", side_effect=AssertionError("the relations are known")):
        second = (await get_relations(adapter, hub, question="Who visited it?", limits=Limits())).page
    assert first.items[0] != second.items[0]
    assert {facts.relation for facts in first.items} == {facts.relation for facts in second.items}


async def test_lists_of_one_entity_are_told_apart(adapter: GraphAdapter) -> None:
    requests = [
        {"direction": direction, "hops": hops, "examples": examples, "far_end_kind": far_end_kind, "limit": limit}
        for direction in Direction
        for hops in (1, 2)
        for examples in (0, 2)
        for far_end_kind in (None, FarEndKind.ENTITY)
        for limit in (2, 100)
    ]
    pages = [await adapter.relations([toy.HUB], **request) for request in requests]  # pyright: ignore[reportArgumentType]
    for request, page in zip(requests, pages, strict=True):  # a set of entities is always read
        assert await adapter.relations([toy.HUB, toy.HUB], **request) == page  # pyright: ignore[reportArgumentType]
