"""Finds entities by a code: the exact value of one of their properties, such as an airport code or a foreign key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgnav_mcp.clipping import clipped
from kgnav_mcp.concurrency import Progress, gathered, reporting
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Candidate, Count, Page, Stop, ValueMatch
from kgnav_mcp.port import GraphAdapter

_MAX_BEARERS = 20
"""Maximum number of nodes with the same value that it may identify; `USD` identifies none of its nodes."""
_SHOWN = 60
"""Maximum characters of a value in a note."""
_MIN_CAPITALS = 2
_BEST_OF_DESCRIPTIONS = 0.25
"""The highest score of a candidate whose description, not its name, has words of the hint."""
_DIGIT = re.compile(r"\d")
_TIMED_OUT = "Values of properties were not searched: the store did not answer in time."
_READ_IN_PART = "Values of properties were not searched: the store did not return all of them."


def is_code(text: str) -> bool:
    """Whether a text may be a code: one word with a digit, or in capitals. Ordinary words are values of many things."""
    if not text or any(character.isspace() for character in text):
        return False
    return _DIGIT.search(text) is not None or (len(text) >= _MIN_CAPITALS and text.isupper())


async def entities_with_codes(graph: GraphAdapter, texts: Sequence[str]) -> Mapping[str, Sequence[ValueMatch]]:
    """For each text that is a code, the first entities with it as the value of a property; else it is absent.

    If too many rows have the value to identify an entity, the list has all rows, even several of one entity.
    """
    codes = [text for text in texts if is_code(text)]
    if not codes:
        return {}
    matches = await graph.find_by_values(codes, limit=_MAX_BEARERS + 1)
    return {text: _each_once(rows) for text in codes if (rows := matches.get(text, ()))}


def _each_once(rows: Sequence[ValueMatch]) -> Sequence[ValueMatch]:
    """The first row of each entity; all rows if there are too many to identify an entity."""
    if is_shared(rows):
        return rows
    return list(reversed({one.entity.id: one for one in reversed(rows)}.values()))


async def find_candidates(
    graph: GraphAdapter, hint: str, *, label: str | None, limit: int, progress: Progress | None = None
) -> Page[Candidate]:
    """The entities that a hint may mean: those with exactly this id or name, then those with this code, then others.

    Entities found only by meaning come after those with a similar name.

    Raises:
        UnknownName: the graph has no such label.
    """
    page = await _found_by_words(graph, hint, label=label, limit=limit)
    async with reporting(progress, lambda: graph.indexing_progress):
        similar = await graph.find_by_meaning(hint, label=label, limit=limit)
    return _with_similar(page, similar, limit)


def _with_similar(page: Page[Candidate], similar: Page[Candidate], limit: int) -> Page[Candidate]:
    """The merged candidates of two searches: similar names first, then by meaning, then by words of a description.

    Unless a name is exactly the hint, those found by meaning have up to half of the places.
    """
    note = " ".join(filter(None, (page.note, similar.note)))
    if not similar.items:
        return replace(page, note=note)
    similarities = {one.entity.id: one.similarity for one in similar.items}
    by_words = [replace(one, similarity=similarities.get(one.entity.id)) for one in page.items]
    known = {one.entity.id for one in by_words}
    others = [one for one in similar.items if one.entity.id not in known]
    named = [one for one in by_words if one.score > _BEST_OF_DESCRIPTIONS]
    alike = sorted(
        (one for one in (*by_words, *others) if one.similarity is not None and one not in named),
        key=lambda one: -(one.similarity or 0.0),
    )
    described = [one for one in by_words if one.similarity is None and one not in named]
    is_exact = any(one.score == 1.0 for one in named)
    places = limit if is_exact else max(limit - len(alike), limit - limit // 2)
    items = [*named[:places], *alike, *described][:limit]
    # A candidate beyond the limit of one search may be among those of the other, and is not counted twice.
    overlap_known = page.stop is Stop.COMPLETE and similar.stop is Stop.COMPLETE
    least = max(page.total.value, similar.total.value, len(known) + len(others))
    total = page.total + Count(len(others)) if overlap_known else Count.at_least(least)
    return replace(
        page,
        items=tuple(items),
        positions=tuple(one.entity.id for one in items),
        total=total,
        stop=page.stop if overlap_known and total.value <= len(items) else Stop.LIMIT,
        note=note,
    )


async def _found_by_words(graph: GraphAdapter, hint: str, *, label: str | None, limit: int) -> Page[Candidate]:
    """The entities that the words of a hint may mean, and those that have it as a code.

    Raises:
        UnknownName: the graph has no such label.
    """
    page = await graph.find(hint, label=label, limit=limit)
    text = hint.strip()
    try:
        matches = (await entities_with_codes(graph, [text])).get(text, ())
    except (StoreTimeout, Unsupported) as error:
        note = _TIMED_OUT if isinstance(error, StoreTimeout) else _READ_IN_PART
        return replace(page, note=" ".join(filter(None, (page.note, note))))
    if is_shared(matches):
        return replace(page, note=" ".join(filter(None, (page.note, shared_code_note(text, matches)))))
    exact = [one for one in page.items if one.score == 1.0]
    exact_ids = {one.entity.id for one in exact}
    coded = await gathered(*(_candidate(graph, one, text, label) for one in matches if one.entity.id not in exact_ids))
    candidates = [one for one in coded if one is not None]
    if not candidates:
        return page
    known = {one.entity.id for one in page.items}
    first = [*exact, *candidates]
    first_ids = {one.entity.id for one in first}
    items = [*first, *(one for one in page.items if one.entity.id not in first_ids)]
    return replace(
        page,
        items=tuple(items[:limit]),
        positions=tuple(one.entity.id for one in items[:limit]),
        total=page.total + Count(sum(one.entity.id not in known for one in candidates)),
        stop=Stop.LIMIT if len(items) > limit else page.stop,
        note="",
    )


def is_shared(matches: Sequence[ValueMatch]) -> bool:
    """Whether too many properties have a value for it to identify an entity."""
    return len(matches) > _MAX_BEARERS


def shared_code_note(code: str, matches: Sequence[ValueMatch]) -> str:
    """The sentence about a value that identifies no entity, with the call that lists its nodes."""
    value = clipped(code, _SHOWN)
    relation = matches[0].relation.id
    call = f'get_node_by_property(label="*", property_name="{relation}", property_value="{value}")'
    return f"More than {_MAX_BEARERS} values of properties are {value}, so it identifies no single entity: {call}."


async def _candidate(graph: GraphAdapter, match: ValueMatch, code: str, label: str | None) -> Candidate | None:
    """The entity with a code as a candidate; None if it does not have the label."""
    page = await graph.find(match.entity.id, label=label, limit=1)
    if not page.items or page.items[0].entity.id != match.entity.id:
        return None
    return replace(page.items[0], matched=code, score=1.0, found_by=match.relation.id)
