"""From what a user wrote to what is meant: entities by id or unambiguous name, relations by id or label."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar
from urllib.parse import unquote

from rapidfuzz import fuzz, process

from kgnav_mcp.errors import AmbiguousEntity, InvalidArgument, UnknownEntity, UnknownRelation
from kgnav_mcp.model import Direction, Entity, RelationFacts, T
from kgnav_mcp.navigation.words import words
from kgnav_mcp.port import GraphAdapter

NEAREST = 5
"""Alternatives offered for a name that was not found (ARK-V1 offers as many)."""

_NAMESAKES = 20
_COMPARED = 200
"""Characters of a name that are compared: the cost is the product of both lengths."""
_ESCAPED = re.compile(r"\\([\\|])")
_TWO_HOPS = re.compile(r"\.[^/:]*:(?!\d)")
"""A prefix behind a dot, as only two-hop ids have: behind a host's dot comes a slash, or a port."""


async def resolve_entity(graph: GraphAdapter, reference: str) -> Entity:
    """The entity with this id, or the only one with this name as it is spelt, else letter case aside.

    Raises:
        UnknownEntity: none has it; with the nearest names.
        AmbiguousEntity: several share the name and its spelling; with all of them, none is picked.
        InvalidArgument: the reference is empty.
    """
    _refuse_empty(reference)
    found = await graph.describe([reference])
    return found[reference] if reference in found else await _resolve_name(graph, reference)


class Anchored(Protocol):
    """An answer that says what the ids are that it was asked for, as `AnchoredPage`."""

    @property
    def items(self) -> Sequence[object]: ...
    @property
    def anchors(self) -> Mapping[str, Entity]: ...


A = TypeVar("A", bound=Anchored)


async def read_at_entity(
    graph: GraphAdapter, given: Entity | str, read: Callable[[str], Awaitable[A]]
) -> tuple[Entity, A]:
    """The entity that a reference means, and what `read` gives for its id.

    The reference is tried as an id first: the answer to `read` tells whether it is one. Else it is looked up as a name.

    Raises:
        As `resolve_entity`.
    """
    if isinstance(given, Entity):
        return given, await read(given.id)
    _refuse_empty(given)
    found = await read(given)
    if given in found.anchors:
        anchor = found.anchors[given]
        merged = anchor.asked_as is not None and not found.items
        return anchor, await read(anchor.id) if merged else found
    anchor = await _resolve_name(graph, given)
    return anchor, await read(anchor.id)


def _refuse_empty(reference: str) -> None:
    if not reference.strip():
        raise InvalidArgument("the entity is empty", next_step="Pass an entity id, as printed in an answer.")


async def _resolve_name(graph: GraphAdapter, reference: str) -> Entity:
    """As `resolve_entity`, of a reference that is no id as it is written."""
    if meant := spellings(reference)[1:]:
        found = await graph.describe(meant)
        if entity := next((found[spelling] for spelling in meant if spelling in found), None):
            return entity
    reference = reference.strip()
    namesakes = (await graph.named(reference, limit=_NAMESAKES)).items
    meant_ones = [one.entity for one in namesakes if one.name == reference] or [one.entity for one in namesakes]
    if len(meant_ones) == 1:
        return replace(meant_ones[0], namesakes=tuple(one.entity for one in namesakes if one.entity != meant_ones[0]))
    if meant_ones:
        raise AmbiguousEntity(reference, meant_ones, next_step="Repeat the call with the id of the one you mean.")
    nearest = await graph.find(reference, limit=NEAREST)
    raise UnknownEntity(
        reference,
        [candidate.entity for candidate in nearest.items],
        next_step="Use one of these ids, or call find_node with other words for it.",
    )


def spellings(printed: str) -> list[str]:
    """What a printed id may stand for, likeliest first.

    Itself, itself without blanks around it, or with what the printing did to it undone: a backslash before a pipe in a
    table, percent-encoding of what cannot be seen.
    """
    plain = printed.strip()
    unescaped = _ESCAPED.sub(r"\1", plain)
    return list(dict.fromkeys((printed, plain, unescaped, unquote(plain), unquote(unescaped))))


def matching_relations(names: Sequence[str], facts: Sequence[RelationFacts]) -> tuple[list[RelationFacts], list[str]]:
    """The relations that the names match, and the names that match none.

    A name is an id, or an id or label in any letter case, or an id with another prefix or none (`P31` for `wdt:P31`).
    A name that several relations share matches all of them. Only its whole id matches a two-hop relation: the part
    behind the dot may be another relation's id.
    """
    meant: dict[tuple[str, Direction], RelationFacts] = {}
    unknown: list[str] = []
    for name in names:
        found = _matching(name, facts)
        meant.update(((fact.relation.id, fact.direction), fact) for fact in found)
        if not found:
            unknown.append(name)
    return list(meant.values()), unknown


def _matching(name: str, facts: Sequence[RelationFacts]) -> list[RelationFacts]:
    return called(name, facts, lambda fact: (fact.relation.id, fact.relation.label))


def called(name: str, things: Sequence[T], id_and_label: Callable[[T], tuple[str, str]]) -> list[T]:
    """The things that a name means: those with this id, else this id or label in any letter case, else this bare id."""
    for spelling in spellings(name):
        if exact := [thing for thing in things if id_and_label(thing)[0] == spelling]:
            return exact
    folded = name.strip().casefold()
    if found := [thing for thing in things if folded in map(str.casefold, id_and_label(thing))]:
        return found
    local = "" if _TWO_HOPS.search(folded) else _local(folded)
    return [thing for thing in things if local and local == _local(id_and_label(thing)[0].casefold())]


def _local(reference: str) -> str:
    """The local name of a prefixed id or an IRI: the part behind its last `/`, `#` or `:`."""
    return re.split("[/#:]", reference)[-1]


def unknown_relation(
    name: str,
    entity: Entity,
    direction: Direction | None,
    facts: Sequence[RelationFacts],
    opposite: Sequence[RelationFacts] = (),
) -> UnknownRelation:
    """The error for a name that means none of an entity's relations: the nearest, or where the relation is instead."""
    elsewhere = direction is not None and bool(_matching(name, opposite))
    if direction is not None and elsewhere:
        step = f"It exists in the other direction: repeat the call with direction={direction.opposite}."
    elif facts:
        step = "Use one of the nearest, or repeat the call without a filter to see every relation."
    else:
        step = "This entity has no relation there at all: try the other direction."
    nearest = [] if elsewhere else nearest_names(name, list(dict.fromkeys(fact.relation.id for fact in facts)))
    return UnknownRelation(entity, name, direction, nearest, opposite=elsewhere, next_step=step)


def nearest_names(name: str, known: Sequence[str]) -> list[str]:
    """The known names whose words are most like the given one's, best first; ties in the order they are known."""
    ranked = process.extract(
        name, known, scorer=fuzz.WRatio, processor=lambda text: " ".join(words(text[:_COMPARED])), limit=NEAREST
    )
    return [text for text, _, _ in ranked]
