"""Handles, owners, and what comes back of what was recorded."""

from __future__ import annotations

import json

import jsonschema
import pytest

from kgnav_mcp.errors import UnknownTrail
from kgnav_mcp.model import Entity, Literal, Qualifier, Relation, Trail, TrailStep, Triple
from kgnav_mcp.trails import TrailLimits, Trails, trail_json, trail_schema
from kgnav_mcp.trails.trail_keeper import MemoryTrailStore

ADA = Entity("ex:ada", "Ada", ("Person",))
BOOK = Entity("ex:book", "Σημειώσεις | 笔记", ("Book",), 'a "book"')
WROTE = Triple(
    ADA, Relation("ex:wrote", "wrote"), BOOK, (Qualifier(Relation("ex:when", "when"), Literal("1843", "xsd:gYear")),)
)
BORN = Triple(ADA, Relation("ex:born", "born"), Literal("1815-12-10", "xsd:date"))
STEP = TrailStep(
    "search",
    {"entity": ["ex:ada"], "direction": "outgoing", "k": 3},
    2.5,
    "2 rows",
    visited=("ex:ada",),
    entities=(ADA, BOOK),
    triples=(WROTE, BORN),
)
TRAIL = Trail("demo", "Who wrote it?", (ADA,), 1.5)


@pytest.fixture
def trails() -> Trails:
    return Trails(MemoryTrailStore(TrailLimits()))


async def test_what_was_recorded_comes_back(trails: Trails) -> None:
    handle = await trails.start(TRAIL)
    await trails.add(handle, STEP)
    await trails.add(handle, TrailStep("think", {"thought": "x" * 10_000}, 2.75))
    read = await trails.read(handle)
    assert read.steps[0] == STEP
    assert (read.question, read.topics, len(read.steps)) == ("Who wrote it?", (ADA,), 2)


async def test_what_no_text_can_hold_is_recorded_as_a_question_mark(trails: Trails) -> None:
    handle = await trails.start(TRAIL)
    await trails.add(handle, TrailStep("search", {"entity": ["\ud800x"]}, 3.0, "no entity \ud800", failed=True))
    (step,) = (await trails.read(handle)).steps
    assert (step.arguments, step.summary, step.failed) == ({"entity": ["?x"]}, "no entity ?", True)


async def test_handles_are_random_and_their_trails_apart(trails: Trails) -> None:
    handles = {await trails.start(TRAIL) for _ in range(50)}
    assert len(handles) == 50
    assert all(len(handle) >= 22 and handle.isascii() for handle in handles)


@pytest.mark.parametrize("handle", ["trail-unknown", "", "\ud800", "x" * 5_000])
async def test_an_unknown_handle_says_how_to_go_on(trails: Trails, handle: str) -> None:
    with pytest.raises(UnknownTrail, match="24 hours") as caught:
        await trails.read(handle)
    assert "start_trail" in caught.value.next_step
    with pytest.raises(UnknownTrail):
        await trails.add(handle, STEP)


async def test_nobody_but_its_owner_can_use_a_trail(trails: Trails) -> None:
    handle = await trails.start(TRAIL, "alice")
    for owner in (None, "bob", ""):
        with pytest.raises(UnknownTrail):
            await trails.read(handle, owner)
    assert (await trails.read(handle, "alice")).question == TRAIL.question


def test_exported_trails_follow_their_schema() -> None:
    exported = json.loads(trail_json(Trail("demo", "Who?", (ADA,), 1.5, (STEP,))))
    jsonschema.validate(exported, trail_schema())
    assert exported["steps"][0]["triples"][1]["tail"] == {"text": "1815-12-10", "datatype": "xsd:date"}
