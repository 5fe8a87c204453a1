"""The entities nearest to a reference that means none: those with similar names, or with similar ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from kgnav_mcp.model import Entity
from kgnav_mcp.port import GraphAdapter

_NUMBERED = re.compile(r"(\S*?)(\d{1,12})(\D*)", re.ASCII)
_MOST_IDS = 400
_OBO_DIGITS = 7
"""Digits of most numbers of the OBO Foundry, as in `GO:0008150`."""


async def nearest_entities(graph: GraphAdapter, reference: str, limit: int) -> list[Entity]:
    """Entities with a name like a reference; where it is an id or a code, else those whose ids differ by one digit."""
    page = await graph.find(reference, limit=limit)
    if page.items:
        return [candidate.entity for candidate in page.items]
    found = await graph.describe(list(dict.fromkeys(islice(similar_ids(reference), _MOST_IDS))))
    return list({entity.id: entity for entity in found.values()}.values())[:limit]


def similar_ids(reference: str) -> Iterator[str]:
    """Ids for which one with a number may be a mistake: letter case, zeros in front, then one digit of the number."""
    match = _NUMBERED.fullmatch(reference)
    if match is None:
        return
    before, number, after = match.groups()
    yield from (reference.upper(), reference.lower())
    for other in (number.lstrip("0"), number.zfill(_OBO_DIGITS), *_edits(number)):
        if other:
            yield f"{before}{other}{after}"


def _edits(number: str) -> Iterator[str]:
    """The numbers with one digit less, two digits swapped, another digit, or one digit more."""
    places = range(len(number))
    yield from (number[:at] + number[at + 1 :] for at in places)
    yield from (number[:at] + number[at + 1] + number[at] + number[at + 2 :] for at in places[:-1])
    for skipped in (1, 0):
        yield from (
            number[:at] + digit + number[at + skipped :]
            for at in range(len(number) + 1 - skipped)
            for digit in "0123456789"
        )
