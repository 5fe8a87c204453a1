"""Trails as JSON, in pages of at most a megabyte."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from kgnav_mcp.clipping import truncate_values
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.model import Trail, TrailStep

PAGE_SIZE = 1_000_000
"""Most bytes of a page."""
_FRAME = 2_000
"""Bytes of a page besides the trail's first record and the steps: its note and the brackets."""
_TEXT, _ITEMS = 500, 50
"""Characters and items to which texts and lists are cut if one edge of a step alone is larger than a page."""


@dataclass(frozen=True, slots=True)
class TrailPage(Trail):
    """Some of a trail's steps. A step that is larger than a page is given in parts: steps with the same time."""

    page: int = 1
    pages: int = 1
    note: str = ""
    """What the page leaves out, and how to get it; empty if nothing."""


def trail_json(trail: Trail) -> str:
    """A trail as JSON that follows `trail_schema`. Default values (no language, no qualifiers) are left out."""
    return _pages().dump_json(_page(trail, trail.steps), indent=2, exclude_defaults=True).decode()


def trail_page_json(trail: Trail, number: int, how_to_continue: str) -> str:
    """A page of the JSON, from 1, of at most `PAGE_SIZE` bytes. If there is more, its note says `how_to_continue`.

    Raises:
        InvalidArgument: there is no such page.
    """
    start = len(_pages().dump_json(_page(trail, ()), indent=2, exclude_defaults=True))
    pages = list(_split(trail.steps, PAGE_SIZE - start - _FRAME)) or [()]
    if not 0 < number <= len(pages):
        raise InvalidArgument(
            "this trail has no such page", next_step=f"Its pages are 1 to {len(pages):,}, of a megabyte each."
        )
    page = _page(trail, pages[number - 1])
    if len(pages) > 1:
        note = f"Page {number:,} of {len(pages):,}; a call larger than a page is in parts, which have the same time."
        note += f" {how_to_continue}" if number < len(pages) else ""
        page = replace(page, page=number, pages=len(pages), note=note)
    return _pages().dump_json(page, indent=2, exclude_defaults=True).decode()


def trail_schema() -> dict[str, Any]:
    """The JSON Schema of exported trails."""
    return _pages().json_schema(mode="validation")


def _page(trail: Trail, steps: Sequence[TrailStep]) -> TrailPage:
    return TrailPage(trail.graph, trail.question, trail.topics, trail.time, tuple(steps))


def _split(steps: Sequence[TrailStep], most: int) -> Iterator[Sequence[TrailStep]]:
    """The steps in groups of at most so many bytes."""
    group, left = list[TrailStep](), most
    for step in steps:
        for part, size in _parts(step, most):
            if size > left and group:
                yield group
                group, left = [], most
            group.append(part)
            left -= size
    if group:
        yield group


def _parts(step: TrailStep, most: int) -> Iterator[tuple[TrailStep, int]]:
    """The parts of a step with their sizes in bytes: halves of its lists, until each fits."""
    size = _size(step)
    lists = {"visited": step.visited, "entities": step.entities, "triples": step.triples}
    if size <= most:
        yield step, size
    elif max(map(len, lists.values())) > 1:
        for half in (0, 1):
            cut = {
                name: values[len(values) // 2 :] if half else values[: len(values) // 2]
                for name, values in lists.items()
            }
            yield from _parts(replace(step, **cut), most)
    else:
        cut = truncate_values(json.loads(_steps().dump_json(step)), _TEXT, _ITEMS)
        short = _steps().validate_python(cut)
        short = replace(short, summary=f"{short.summary} (recorded in full; here texts are cut to {_TEXT} characters)")
        yield short, _size(short)


def _size(step: TrailStep) -> int:
    """The bytes of a step where it stands in a page: indented by four blanks, with a comma behind it."""
    written = _steps().dump_json(step, indent=2, exclude_defaults=True)
    return len(written) + 4 * (written.count(b"\n") + 1) + 2


@cache
def _pages() -> TypeAdapter[TrailPage]:
    return TypeAdapter(TrailPage)


@cache
def _steps() -> TypeAdapter[TrailStep]:
    return TypeAdapter(TrailStep)
