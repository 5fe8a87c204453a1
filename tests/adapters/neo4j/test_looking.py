"""What is asked of one node at the same moment is asked by one statement, which ends when nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from kgnav_mcp.adapters.neo4j.entities import Anchor, Entities
from kgnav_mcp.adapters.neo4j.looking import Looks, Side
from kgnav_mcp.errors import StoreUnavailable
from kgnav_mcp.model import Direction, Entity

OUT, IN = Direction.OUTGOING, Direction.INCOMING
LIKES = Side(("LIKES",), values=False)


class _Nodes:
    """Answers a statement after a moment: of each side as many edges as its name has letters."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ended = 0
        self.fault: Exception | None = None

    async def anchors(self, references: Sequence[str], _: str, parts: Mapping[str, str], **__: object) -> list[Anchor]:
        self.asked.append(parts["seen"])
        try:
            await asyncio.sleep(0.05)
        finally:
            self.ended += 1
        if self.fault is not None:
            raise self.fault
        sides: list[list[object]] = [[len(side), [], []] for side in (OUT, IN) if f"{side}_degree" in parts["seen"]]
        return [Anchor("4:x:1", Entity(references[0]), [["4:x:1"], [], *sides])]


@pytest.fixture
def nodes() -> _Nodes:
    return _Nodes()


@pytest.fixture
def looks(nodes: _Nodes) -> Looks:
    return Looks(cast("Entities", nodes))


async def test_both_directions_are_read_by_one_statement(nodes: _Nodes, looks: Looks):
    seen = await asyncio.gather(looks.at("a", OUT, LIKES, 5), looks.at("a", IN, LIKES, 5))

    assert [look.degree for look in seen if look] == [len("outgoing"), len("incoming")]
    assert len(nodes.asked) == 1


@pytest.mark.parametrize(
    ("reference", "direction", "most"),
    [("b", IN, 5), ("a", OUT, 5), ("a", IN, 6)],
    ids=["another node", "the same direction", "another number of edges"],
)
async def test_what_is_another_question_is_another_statement(
    nodes: _Nodes, looks: Looks, reference: str, direction: Direction, most: int
):
    await asyncio.gather(looks.at("a", OUT, LIKES, 5), looks.at(reference, direction, LIKES, most))

    assert len(nodes.asked) == 2


async def test_what_is_asked_later_is_read_anew(nodes: _Nodes, looks: Looks):
    first = asyncio.create_task(looks.at("a", OUT, LIKES, 5))
    await asyncio.sleep(0.01)
    await asyncio.gather(first, looks.at("a", IN, LIKES, 5))

    assert len(nodes.asked) == 2


async def test_one_who_gives_up_takes_nothing_from_the_other(looks: Looks):
    leaves = asyncio.create_task(looks.at("a", OUT, LIKES, 5))
    stays = asyncio.create_task(looks.at("a", IN, LIKES, 5))
    await asyncio.sleep(0.01)
    leaves.cancel()

    look = await stays
    assert look is not None
    assert look.degree == len("incoming")
    assert leaves.cancelled()


async def test_a_statement_that_nobody_waits_for_is_ended(nodes: _Nodes, looks: Looks):
    both = [asyncio.create_task(looks.at("a", side, LIKES, 5)) for side in Direction]
    await asyncio.sleep(0.01)
    for task in both:
        task.cancel()
    await asyncio.wait(both)
    await asyncio.sleep(0)

    assert nodes.ended == 1
    assert all(task.cancelled() for task in both)


async def test_a_question_given_up_before_it_was_sent_spoils_no_other(looks: Looks):
    leaves = asyncio.create_task(looks.at("a", OUT, LIKES, 5))
    asyncio.get_running_loop().call_soon(leaves.cancel)
    stays = asyncio.create_task(looks.at("a", IN, LIKES, 5))
    await asyncio.wait([leaves])

    look = await stays
    assert look is not None
    assert look.degree == len("incoming")


async def test_an_error_reaches_everyone_who_waits(nodes: _Nodes, looks: Looks):
    nodes.fault = StoreUnavailable("it is gone")
    seen: list[Any] = await asyncio.gather(
        *(looks.at("a", side, LIKES, 5) for side in Direction), return_exceptions=True
    )

    assert seen == [nodes.fault, nodes.fault]
