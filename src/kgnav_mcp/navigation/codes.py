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
    return list(reversed({match.entity.id: match for match in reversed(rows)}.values()))


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
    similarities = {candidate.entity.id: candidate.similarity for candidate in similar.items}
    by_words = [replace(candidate, similarity=similarities.get(candidate.entity.id)) for candidate in page.items]
    ids = {candidate.entity.id for candidate in by_words}
    others = [candidate for candidate in similar.items if candidate.entity.id not in ids]
    named = [candidate for candidate in by_words if candidate.score > _BEST_OF_DESCRIPTIONS]
    alike = sorted(
        (
            candidate
            for candidate in (*by_words, *others)
            if candidate.similarity is not None and candidate not in named
        ),
        key=lambda candidate: -(candidate.similarity or 0.0),
    )
    described = [candidate for candidate in by_words if candidate.similarity is None and candidate not in named]
    is_exact = any(candidate.score == 1.0 for candidate in named)
    places = limit if is_exact else max(limit - len(alike), limit - limit // 2)
    items = [*named[:places], *alike, *described][:limit]
    # A candidate beyond the limit of one search may be among those of the other, and is not counted twice.
    overlap_known = page.stop is Stop.COMPLETE and similar.stop is Stop.COMPLETE
    least = max(page.total.value, similar.total.value, len(ids) + len(others))
    total = page.total + Count(len(others)) if overlap_known else Count.at_least(least)
    return replace(
        page,
        items=tuple(items),
        positions=tuple(candidate.entity.id for candidate in items),
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
    exact = [item for item in page.items if item.score == 1.0]
    exact_ids = {item.entity.id for item in exact}
    coded = await gathered(
        *(_candidate(graph, item, text, label) for item in matches if item.entity.id not in exact_ids)
    )
    candidates = [item for item in coded if item is not None]
    if not candidates:
        return page
    ids = {item.entity.id for item in page.items}
    first = [*exact, *candidates]
    first_ids = {item.entity.id for item in first}
    items = [*first, *(item for item in page.items if item.entity.id not in first_ids)]
    return replace(
        page,
        items=tuple(items[:limit]),
        positions=tuple(item.entity.id for item in items[:limit]),
        total=page.total + Count(sum(item.entity.id not in ids for item in candidates)),
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
