"""Exported trails in pages: each bounded and valid JSON, together everything that was recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import jsonschema
import pytest

from kgnav_mcp.errors import InvalidArgument, TrailFull
from kgnav_mcp.model import Entity, Literal, Relation, Trail, TrailStep, Triple
from kgnav_mcp.trails import TrailLimits, Trails, trail_json, trail_page_json, trail_schema
from kgnav_mcp.trails.trail_keeper import PAGE_SIZE, MemoryTrailStore

SEEN = Relation("ex:seen", "seen")
HUB = Entity("ex:hub", "梵高" * 20)


def rows(step: int, count: int) -> tuple[Triple, ...]:
    return tuple(Triple(HUB, SEEN, Entity(f"ex:{step}-{row}", f"row {row} of {step}")) for row in range(count))


def trail_of(*steps: TrailStep) -> Trail:
    return Trail("demo", "Which?", (HUB,), 1.5, steps)


def search(number: int, triples: Sequence[Triple]) -> TrailStep:
    entities = tuple(triple.tail for triple in triples if isinstance(triple.tail, Entity))
    return TrailStep(
        "search", {"entity": "ex:hub"}, float(number), "rows", False, ("ex:hub",), entities, tuple(triples)
    )


def pages_of(trail: Trail) -> list[str]:
    first = trail_page_json(trail, 1, "more")
    return [
        first,
        *(trail_page_json(trail, number, "more") for number in range(2, json.loads(first).get("pages", 1) + 1)),
    ]


def test_a_small_trail_is_one_page_which_is_all_of_it() -> None:
    trail = trail_of(search(1, rows(1, 3)))
    assert pages_of(trail) == [trail_json(trail)]
    assert pages_of(trail_of()) == [trail_json(trail_of())]


def test_pages_are_bounded_follow_the_schema_and_hold_everything_once() -> None:
    trail = trail_of(search(1, rows(1, 10)), search(2, rows(2, 4_000)), *(search(n, rows(n, 300)) for n in range(3, 9)))
    pages = pages_of(trail)
    read = [json.loads(page) for page in pages]
    assert len(pages) > 3
    assert max(len(page.encode()) for page in pages) <= PAGE_SIZE
    jsonschema.validate(read[-1], trail_schema())
    whole = json.loads(trail_json(trail))["steps"]
    for part in ("visited", "entities", "triples"):
        assert [one for page in read for step in page["steps"] for one in step.get(part, ())] == [
            one for step in whole for one in step[part]
        ]
    assert list(dict.fromkeys(step["time"] for page in read for step in page["steps"])) == [*range(1, 9)]
    assert [page.get("page", 1) for page in read] == [*range(1, len(pages) + 1)]
    assert [page["note"].endswith(" more") for page in read] == [True] * (len(pages) - 1) + [False]
    assert all(f"of {len(pages)}" in page["note"] for page in read)


def test_an_edge_that_is_larger_than_a_page_is_cut_and_says_so() -> None:
    value = Triple(HUB, SEEN, Literal("x" * 2 * PAGE_SIZE))
    trail = trail_of(search(1, [value]), search(2, rows(2, 1)))
    (page,) = pages_of(trail)
    assert len(page) <= PAGE_SIZE
    cut, after = json.loads(page)["steps"]
    assert cut["triples"][0]["tail"]["text"] == "x" * 500 + "..."
    assert cut["summary"] == "rows (recorded in full; here texts are cut to 500 characters)"
    assert after["summary"] == "rows"


@pytest.mark.parametrize("number", [0, 2, 10**9])
def test_a_page_that_is_not_there_names_those_that_are(number: int) -> None:
    with pytest.raises(InvalidArgument, match="no such page") as caught:
        trail_page_json(trail_of(), number, "")
    assert "1 to 1" in caught.value.next_step


async def test_a_trail_that_repeats_itself_is_bounded_by_what_it_is_when_it_is_read() -> None:
    trails = Trails(MemoryTrailStore(TrailLimits(trail_size=100_000)))
    handle = await trails.start(trail_of())
    step = search(1, [Triple(HUB, SEEN, Literal("x" * 100_000))])
    for number in range(7):
        await trails.add(handle, replace(step, time=float(number)))
    with pytest.raises(TrailFull):
        await trails.add(handle, step)
    assert len(trail_json(await trails.read(handle))) < 8 * 100_000


@pytest.mark.parametrize(
    "arguments",
    [
        {"entity": ["x" * 1_000_000]},
        {"entity": [f"ex:{number}" for number in range(100_000)]},
        {"x" * 1_000_000: "y"},
        {"plan": {"x" * 1_000_000: 1}},
        {"plan": [[[["梵" * 300] * 60] * 60]]},
        {str(number): number for number in range(100_000)},
    ],
    ids=["a long text", "a long list", "a long name", "a long key", "nested lists", "many arguments"],
)
async def test_a_refused_call_adds_at_most_two_kilobytes(arguments: dict[str, object]) -> None:
    store = MemoryTrailStore(TrailLimits())
    trails = Trails(store)
    handle = await trails.start(trail_of())
    before, empty = store.size, len(trail_json(await trails.read(handle)))
    await trails.add(handle, TrailStep("search", arguments, 1.0, "梵" * 100_000, failed=True))
    read = await trails.read(handle)
    assert store.size - before <= 2_000
    assert len(trail_json(read).encode()) - empty <= 3_000  # indented
    assert read.steps[0].tool == "search"


async def test_long_arguments_of_a_call_that_was_answered_are_cut_and_short_ones_kept() -> None:
    trails = Trails(MemoryTrailStore(TrailLimits()))
    handle = await trails.start(trail_of())
    await trails.add(handle, TrailStep("think", {"thought": "x" * 90_000}, 1.0))
    await trails.add(handle, TrailStep("think", {"thought": "x" * 900_000}, 2.0))
    kept, cut = (await trails.read(handle)).steps
    assert kept.arguments == {"thought": "x" * 90_000}
    assert cut.arguments == {"thought": "x" * 10_000 + "..."}


async def test_a_question_that_no_page_could_repeat_starts_no_trail() -> None:
    trails = Trails(MemoryTrailStore(TrailLimits()))
    with pytest.raises(InvalidArgument, match=r"its 1 topics have 300,\d{3} bytes; the limit is 200,000"):
        await trails.start(replace(trail_of(), question="?" * 300_000))
