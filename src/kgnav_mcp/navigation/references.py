"""Resolves a user's references to entities, by id or unambiguous name, and finds things by their ids and labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Generic, Protocol, TypeVar, cast
from urllib.parse import unquote

from rapidfuzz import fuzz, process

from kgnav_mcp.clipping import echoed
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import AmbiguousEntity, InvalidArgument, UnknownEntity, UnresolvedEntities
from kgnav_mcp.model import (
    Entity,
    Namesake,
    Stop,
    T,
    ValueMatch,
)
from kgnav_mcp.model.ids import is_obo_id, local_name
from kgnav_mcp.navigation.codes import entities_with_codes, is_shared, shared_code_note
from kgnav_mcp.navigation.pages import refuse_partial
from kgnav_mcp.navigation.relation_lists import words
from kgnav_mcp.port import GraphAdapter

_NUMBERED = re.compile(r"(\S*?)0*(\d{1,12})", re.ASCII)
_OBO_DIGITS = 7
"""Digits of most numbers of the OBO Foundry, as in `GO:0008150`."""

NEAREST = 5
"""Maximum alternatives suggested for an unknown name, as in ARK-V1."""

MAX_ADVISED = 8
"""Unknown names of one call for which the nearest names are looked up."""
_MAX_NAMESAKES = 20
"""Entities with one name that are read, to list them in the error for an ambiguous name."""
_COMPARED_CHARACTERS = 200
"""Characters of a name that are compared: the cost grows with the product of both lengths."""
_IN_BRACKETS = re.compile(r"<[^<>\s]+:[^<>\s]+>")
_ESCAPED = re.compile(r"\\([\\|])")
_TWO_HOPS = re.compile(r"\.[^/:]*:(?!\d)")
"""A prefix after a dot, which only two-hop ids have: a dot in a host name is followed by a slash or a port."""
_OTHER_NAMES = {"is_a": "subclassof", "is a": "subclassof"}
"""What `.obo` and OBO Graphs call a relation that a graph has under the name of RDF, by local name."""

EntityArgument = Entity | Sequence[Entity] | str | Sequence[str]
"""One or many entities, or a user's references to them: ids or names."""

_USE_ID = "Repeat the call with one of these ids."
_USE_NEAREST = "Use one of these ids, or call find_node(hint) with other words."
_NONE_NEAR = "There is no similar name: call find_node(hint) with other words, or describe_graph() for an overview."


async def nearest_entities(graph: GraphAdapter, reference: str, limit: int) -> list[Entity]:
    """Entities with a name like a reference; else those whose ids differ from it in letter case or leading zeros.

    Ids with other numbers are excluded: they mean other entities.
    """
    page = await graph.find(reference, limit=limit)
    if page.items:
        return [candidate.entity for candidate in page.items]
    described = await graph.describe(rewritten_ids(reference))
    return list({entity.id: entity for entity in described.values()}.values())[:limit]


def rewritten_ids(reference: str) -> list[str]:
    """An id that ends with a number, in other letter cases and with other leading zeros; empty for other texts."""
    if (match := _NUMBERED.fullmatch(reference)) is None:
        return []
    before, number = match.groups()
    cases = (before, before.upper(), before.lower())
    forms = product(cases, (number, number.zfill(_OBO_DIGITS)))
    return list(dict.fromkeys(case + digits for case, digits in forms if case + digits != reference))


async def resolve_entity(graph: GraphAdapter, reference: str) -> Entity:
    """The entity with this id, or the only one with this name: spelt exactly, otherwise in any letter case.

    A code that is the value of one of its properties (see `codes`) comes after names spelt exactly.

    Raises:
        UnknownEntity: no entity has the id or name; the error has the nearest names.
        AmbiguousEntity: several share the name; the error has all of them.
        InvalidArgument: the reference is empty.
    """
    (entity,) = await resolve_entities(graph, reference)
    return entity


async def resolve_entities(graph: GraphAdapter, anchors: EntityArgument) -> tuple[Entity, ...]:
    """The entities that one or many references mean, each once, in the given order.

    Raises:
        UnresolvedEntities: several references are unknown or ambiguous; the error has all of these.
        UnknownEntity, AmbiguousEntity, InvalidArgument: as `resolve_entity`.
    """
    if (entities := _entities(anchors)) is not None:
        return entities
    references = _references(anchors)
    return await _resolved(graph, references, await graph.describe(references))


class HasEntities(Protocol):
    """An answer that has the entities of the ids that it was asked for, such as `AnchoredPage`."""

    @property
    def items(self) -> Sequence[object]: ...
    @property
    def anchors(self) -> Mapping[str, Entity]: ...


A = TypeVar("A", bound=HasEntities)


async def read_at_entities(
    graph: GraphAdapter, anchors: EntityArgument, read: Callable[[Sequence[str]], Awaitable[A]]
) -> tuple[tuple[Entity, ...], A]:
    """The entities that references mean, each once, and the result of `read` for their ids.

    References are tried as ids first: the result of `read` says which of them are ids. Others are looked up as names.

    Raises:
        As `resolve_entities`.
    """
    if (known := _entities(anchors)) is not None:
        return known, await read([entity.id for entity in known])
    references = _references(anchors)
    answer = await read(references)
    entities = await _resolved(graph, references, answer.anchors)
    read_again = any(one.asked_as is not None for one in entities) and (len(entities) > 1 or not answer.items)
    if read_again or any(reference not in answer.anchors for reference in references):
        answer = await read([entity.id for entity in entities])
    return entities, answer


def _entities(argument: EntityArgument) -> tuple[Entity, ...] | None:
    """The given entities; None if references are given."""
    if isinstance(argument, Entity):
        return (argument,)
    entities = [one for one in argument if isinstance(one, Entity)]
    return tuple(entities) if entities else None


def _references(argument: EntityArgument) -> list[str]:
    references = [argument] if isinstance(argument, str) else [str(one) for one in cast("Sequence[str]", argument)]
    if not references or not all(reference.strip() for reference in references):
        raise InvalidArgument("the entity is empty", next_step="Pass an entity id, as printed in an answer.")
    return references


async def _resolved(graph: GraphAdapter, references: Sequence[str], known: Mapping[str, Entity]) -> tuple[Entity, ...]:
    """The entities that the references mean, each once; `known` are those that are ids."""
    unresolved = [reference for reference in dict.fromkeys(references) if reference not in known]
    by_id = await with_other_readings(graph, known)
    entity_by_reference = {**by_id, **(await _resolve_names(graph, unresolved))} if unresolved else by_id
    entities: dict[str, Entity] = {}
    for reference in references:
        entity = entity_by_reference[reference]
        entities.setdefault(entity.id, entity)
    return tuple(entities.values())


async def with_other_readings(graph: GraphAdapter, known: Mapping[str, Entity]) -> Mapping[str, Entity]:
    """Entities by id, each with another one that the id may mean: `PMID:1` is `obo/PMID_1`, but also an IRI itself."""
    others = {f"<{reference}>": reference for reference in known if is_obo_id(reference)}
    described = dict(await graph.describe(list(others))) if others else {}
    named = {reference: described[other] for other, reference in others.items() if other in described}
    return {
        **known,
        **{
            reference: replace(known[reference], namesakes=(other,))
            for reference, other in named.items()
            if other.id != known[reference].id
        },
    }


async def _resolve_names(graph: GraphAdapter, references: Sequence[str]) -> Mapping[str, Entity]:
    """Entities by reference, for references that are not plain ids: ids with marks of printing, or names.

    Raises:
        UnknownEntity, AmbiguousEntity, UnresolvedEntities: as `resolve_entities`.
        StoreTimeout, Unsupported: the store returned a part of the entities with a name, so that one of several might
            look like the only one.
    """
    spellings_of = {reference: spellings(reference)[1:] for reference in references}
    candidates = [spelling for each in spellings_of.values() for spelling in each]
    described = dict(await graph.describe(candidates)) if candidates else {}
    entities = {
        reference: described[spelling]
        for reference, each in spellings_of.items()
        for spelling in reversed(each)
        if spelling in described
    }
    named = {reference: reference.strip() for reference in references if reference not in entities}
    if not named:
        return entities
    pages = await graph.find_by_names(list(named.values()), limit=_MAX_NAMESAKES)
    inexact = [name for name in named.values() if all(one.name != name for one in pages[name].items)]
    codes = await entities_with_codes(graph, inexact)
    looked_up = {
        reference: _entity_coded(name, codes[name])
        if name in codes and not (is_shared(codes[name]) and pages[name].items)
        else _entity_named(name, pages[name].items)
        for reference, name in named.items()
    }
    for reference, name in named.items():
        is_certain = isinstance(looked_up[reference], AmbiguousEntity)
        if not is_certain and pages[name].stop is not Stop.LIMIT:
            message = f"the store did not return every entity with the name {echoed(name)}"
            refuse_partial(pages[name].stop, message, next_step="Use an id; find_node returns candidates.")
    if problems := [one for one in looked_up.values() if not isinstance(one, Entity)]:
        problems = await _with_nearest(graph, problems)
        raise problems[0] if len(problems) == 1 else UnresolvedEntities(problems)
    return entities | {reference: one for reference, one in looked_up.items() if isinstance(one, Entity)}


Unresolved = UnknownEntity | AmbiguousEntity


def _entity_named(name: str, namesakes: Sequence[Namesake]) -> Entity | Unresolved:
    """The entity with this name, or the error for the name."""
    bearers = [one.entity for one in namesakes if one.name == name] or [one.entity for one in namesakes]
    if len(bearers) == 1:
        return replace(bearers[0], namesakes=tuple(one.entity for one in namesakes if one.entity != bearers[0]))
    if bearers:
        return AmbiguousEntity(name, bearers, next_step=_USE_ID)
    return UnknownEntity(name)


def _entity_coded(code: str, matches: Sequence[ValueMatch]) -> Entity | Unresolved:
    """The entity that has this value of a property, or the error if several have it, or so many that it is no code."""
    if is_shared(matches):
        return UnknownEntity(code, next_step=shared_code_note(code, matches))
    if len(matches) > 1:
        properties = ", ".join(dict.fromkeys(one.relation.id for one in matches))
        step = f"It is the value of their {properties}. {_USE_ID}"
        return AmbiguousEntity(code, [one.entity for one in matches], next_step=step)
    return replace(matches[0].entity, found_by=(matches[0].relation.id, code))


async def _with_nearest(graph: GraphAdapter, problems: Sequence[Unresolved]) -> list[Unresolved]:
    """The problems, with nearest entities for the first unknown names. Each of these costs a look-up."""
    unknown = [one.reference for one in problems if isinstance(one, UnknownEntity) and not one.next_step]
    unknown = unknown[:MAX_ADVISED]
    entities = await gathered(*(nearest_entities(graph, name, NEAREST) for name in unknown))
    nearest = {
        name: UnknownEntity(name, found, next_step=_USE_NEAREST if found else _NONE_NEAR)
        for name, found in zip(unknown, entities, strict=True)
    }
    return [nearest.get(one.reference, one) if isinstance(one, UnknownEntity) else one for one in problems]


def spellings(printed: str) -> list[str]:
    """The ids that a printed id may stand for, likeliest first.

    The text itself; without surrounding blanks or the angle brackets of an IRI; and with the changes of printing
    undone: a backslash before a pipe in a table, and percent-encoding of characters that a table cannot show. Last with
    brackets, which stores print around an IRI such as `PMID:1` that could be read as a short form.
    """
    plain = printed.strip()
    if _IN_BRACKETS.fullmatch(plain):
        return [printed, *spellings(plain[1:-1])]
    unescaped = _ESCAPED.sub(r"\1", plain)
    ids = dict.fromkeys((printed, plain, unescaped, unquote(plain), unquote(unescaped)))
    return [*ids, *([bracketed] if _IN_BRACKETS.fullmatch(bracketed := f"<{plain}>") else [])]


class NameIndex(Generic[T]):
    """An index of things by their ids and labels."""

    def __init__(self, things: Iterable[T], id_and_label: Callable[[T], tuple[str, str]]) -> None:
        self._things = [(thing, *id_and_label(thing)) for thing in things]

    def find(self, name: str) -> list[T]:
        """The things with this name, in the given order.

        Those with exactly this id; otherwise with this id or label in any letter case; otherwise with this id without
        its prefix; otherwise with the id that another format's name stands for, such as `is_a` for `rdfs:subClassOf`.
        """
        for spelling in spellings(name):
            if exact := self._by_id.get(spelling):
                return exact
        plain = name.strip()
        plain = plain[1:-1] if _IN_BRACKETS.fullmatch(plain) else plain
        if found := self._by_folded.get(plain.casefold()):
            return found
        local = "" if _TWO_HOPS.search(plain.casefold()) else local_name(plain).casefold()
        return self._by_local.get(local) or self._by_local.get(_OTHER_NAMES.get(local, ""), []) if local else []

    @cached_property
    def _by_id(self) -> Mapping[str, list[T]]:
        return _grouped((identity, thing) for thing, identity, _ in self._things)

    @cached_property
    def _by_folded(self) -> Mapping[str, list[T]]:
        forms = ((thing, {identity.casefold(), label.casefold()}) for thing, identity, label in self._things)
        return _grouped((form, thing) for thing, names in forms for form in names)

    @cached_property
    def _by_local(self) -> Mapping[str, list[T]]:
        return _grouped((form, thing) for thing, identity, _ in self._things for form in _local_names(identity))


def _local_names(identity: str) -> list[str]:
    """The local name of an id in lower case. For `NCIT:R108` also the code alone, which unlike a number says enough."""
    names, code = [local_name(identity).casefold()], identity.rpartition(":")[2]
    if is_obo_id(identity) and not code.isdigit():
        names.append(code.casefold())
    return names


def _grouped(pairs: Iterable[tuple[str, T]]) -> Mapping[str, list[T]]:
    groups: dict[str, list[T]] = defaultdict(list)
    for key, thing in pairs:
        groups[key].append(thing)
    return groups


def nearest_names(name: str, known: Sequence[str], limit: int = NEAREST) -> list[str]:
    """The known names whose words are most like those of the given name, best first; ties keep their order."""
    ranked = process.extract(
        name,
        known,
        scorer=fuzz.WRatio,
        processor=lambda text: " ".join(words(text[:_COMPARED_CHARACTERS])),
        limit=limit,
    )
    return [text for text, _, _ in ranked]
