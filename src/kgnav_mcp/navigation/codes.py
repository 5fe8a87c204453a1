"""Entities by a code: the exact value of one of their properties, such as an airport code or a foreign key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Candidate, Count, Page, Stop, ValueMatch
from kgnav_mcp.port import GraphAdapter

_MAX_BEARERS = 20
"""A value that more nodes have, such as `USD`, identifies none of them."""
_MIN_CAPITALS = 2
_DIGIT = re.compile(r"\d")
_TIMED_OUT = "Values of properties were not searched: the store did not answer in time."


def is_code(text: str) -> bool:
    """Whether a text may be a code: one word with a digit, or in capitals. Ordinary words are values of many things."""
    if not text or any(character.isspace() for character in text):
        return False
    return _DIGIT.search(text) is not None or (len(text) >= _MIN_CAPITALS and text.isupper())


async def bearers(graph: GraphAdapter, texts: Sequence[str]) -> Mapping[str, Sequence[ValueMatch]]:
    """For each text that is a code, the entities that it identifies by the value of a property; else it is absent."""
    codes = [text for text in texts if is_code(text)]
    if not codes:
        return {}
    found = await graph.find_by_values(codes, limit=_MAX_BEARERS + 1)
    by_text = {text: {one.entity.id: one for one in reversed(found.get(text, ()))} for text in codes}
    return {
        text: list(reversed(matches.values()))
        for text, matches in by_text.items()
        if matches and len(found[text]) <= _MAX_BEARERS
    }


async def find_candidates(graph: GraphAdapter, hint: str, *, label: str | None, limit: int) -> Page[Candidate]:
    """The entities that a hint may mean: those with exactly this id or name, then those with this code, then others.

    Raises:
        UnknownName: the graph has no such label.
    """
    page = await graph.find(hint, label=label, limit=limit)
    text = hint.strip()
    try:
        matches = (await bearers(graph, [text])).get(text, ())
    except StoreTimeout:
        return replace(page, note=" ".join(filter(None, (page.note, _TIMED_OUT))))
    exact = [one for one in page.items if one.score == 1.0]
    exact_ids = {one.entity.id for one in exact}
    coded = await gathered(*(_candidate(graph, one, text, label) for one in matches if one.entity.id not in exact_ids))
    found = [one for one in coded if one is not None]
    if not found:
        return page
    known = {one.entity.id for one in page.items}
    first = [*exact, *found]
    first_ids = {one.entity.id for one in first}
    items = [*first, *(one for one in page.items if one.entity.id not in first_ids)]
    return replace(
        page,
        items=tuple(items[:limit]),
        positions=tuple(one.entity.id for one in items[:limit]),
        total=page.total + Count(sum(one.entity.id not in known for one in found)),
        stop=Stop.LIMIT if len(items) > limit else page.stop,
        note="",
    )


async def _candidate(graph: GraphAdapter, match: ValueMatch, code: str, label: str | None) -> Candidate | None:
    """The entity with a code as a candidate; None if it does not have the label."""
    page = await graph.find(match.entity.id, label=label, limit=1)
    if not page.items or page.items[0].entity.id != match.entity.id:
        return None
    return replace(page.items[0], matched=code, score=1.0, found_by=match.relation.id)
